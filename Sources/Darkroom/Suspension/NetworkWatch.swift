import Dispatch
import Scheduling
import System
import Transfer

/// Watches how downloads end, and probes hosts when the network seems to be down. It belongs to the thread of `Darkroom`.
final class NetworkWatch {
  /// What has become of the probe of one host.
  struct ProbeResult: Sendable {
    let host: Int
    let round: Int
    let hasAnswered: Bool
  }

  private(set) var detector = OutageDetector()

  /// What is known of a host that has answered.
  private struct Known {
    /// A URL of it. It may hold secrets.
    let url: String
    let domain: Int
  }

  /// The hosts that may be probed, and others, up to a limit.
  private var hosts: [Int: Known] = [:]
  private static let limit = 64

  /// The hosts whose probes are under way. A resolver without a network may take its time.
  private var underWay: Set<Int> = []
  private var configuration: TransferConfiguration
  private var engine: TransferEngine
  private let send: @Sendable (ProbeResult) -> Void

  /// - Parameters:
  ///   - engine: What is known of names there need not be asked for again.
  ///   - send: Called on any thread with the result of each probe.
  init(
    configuration: TransferConfiguration, engine: TransferEngine, send: @escaping @Sendable (ProbeResult) -> Void
  ) {
    self.configuration = configuration
    self.engine = engine
    self.send = send
  }

  func configure(_ configuration: TransferConfiguration, engine: TransferEngine) {
    self.configuration = configuration
    self.engine = engine
  }

  /// Why the queues are paused; nil when the network is not known to be down.
  var reason: String? {
    detector.outageSince == nil ? nil : "no host answers that answered before"
  }

  /// Whether downloads may start.
  var mayStart: Bool { detector.outageSince == nil && !detector.isChecking }

  private var wasDown = false

  /// Whether an outage has ended since this was last asked.
  func hasReturned() -> Bool {
    let isDown = detector.outageSince != nil
    defer { wasDown = isDown }
    return wasDown && !isDown
  }

  // MARK: Downloads

  /// Takes in how the download of an entry ended.
  /// - Parameters:
  ///   - host: The host's name.
  ///   - url: The URL that was asked.
  ///   - began: When it began, in milliseconds of the monotonic clock.
  /// - Returns: The suspicion to which a failure belongs.
  func downloadEnded(_ live: PhotoRecord.Live, host: String, url: String, began: Int) -> Int? {
    if let failure = live.failure, failure.mayComeOfOutage {
      let suspicion = detector.suspicion
      if live.usage.isOwn {
        detector.downloadFailed(
          isSilence: live.usage.contact == .silent, isOfResolver: failure.isOfResolver(live.usage.contact),
          now: Clock.monotonicMilliseconds)
      }
      return suspicion
    }
    if case .answered = live.usage.contact {
      let key = host.hashValue
      detector.hostAnswered(key, domain: (hosts[key] ?? remember(host, key, url)).domain, began: began)
    }
    return nil
  }

  private func remember(_ host: String, _ key: Int, _ url: String) -> Known {
    if hosts.count >= Self.limit {
      let probed = Set(detector.hosts)
      hosts = hosts.filter { probed.contains($0.key) }
    }
    let known = Known(url: url, domain: Self.domain(of: host).hashValue)
    hosts[key] = known
    return known
  }

  /// The domain that a host's owner has, as its name suggests: the last two labels, or three where the last two look like a
  /// country's, e.g. `co.uk`. An address is its own.
  static func domain(of host: String) -> String {
    let labels = host.split(separator: ".")
    guard labels.count > 2, IPAddress(host) == nil else { return host }
    let isCountry = labels[labels.count - 1].count == 2 && labels[labels.count - 2].count <= 3
    return labels.suffix(isCountry ? 3 : 2).joined(separator: ".")
  }

  /// Whether it must be known whether there is an outage before an entry that failed is given up.
  func isUndecided(_ suspicion: Int?) -> Bool {
    suspicion.map { detector.isUndecided($0, now: Clock.monotonicMilliseconds) } ?? false
  }

  /// Whether downloads that fail now may do so because the network is down.
  var isSuspect: Bool { detector.outageSince != nil || isUndecided(detector.suspicion) }

  // MARK: Probes

  /// Begins the probes that are due.
  /// - Parameter isWanted: Whether an entry is to be given up.
  func probe(isWanted: Bool) {
    guard let probe = detector.nextProbe(isWanted: isWanted, now: Clock.monotonicMilliseconds) else { return }
    var begun = 0
    for host in probe.hosts where !underWay.contains(host) {
      guard let url = hosts[host]?.url,
        let target = NetworkProbe(url: url, needsAnswer: probe.needsAnswer, configuration: configuration)
      else { continue }
      begun += 1
      underWay.insert(host)
      target.findAddresses(with: engine, isAfresh: probe.needsLookup) { [send] addresses in
        DispatchQueue(label: "Network probe").async {
          send(ProbeResult(host: host, round: probe.round, hasAnswered: target.run(addresses)))
        }
      }
    }
    detector.probeBegan(round: probe.round, count: begun)
  }

  /// Takes in what has become of a probe.
  func handle(_ result: ProbeResult) {
    underWay.remove(result.host)
    detector.probed(
      result.host, round: result.round, hasAnswered: result.hasAnswered, now: Clock.monotonicMilliseconds)
  }
}

extension EntryFailure {
  /// Whether a failure says that the host could not be reached, or not any more.
  fileprivate var mayComeOfOutage: Bool {
    guard case .download(let code) = self.code else { return false }
    switch code {
    case .dns, .connect, .timeout, .network, .truncated: return true
    default: return false
    }
  }

  /// Whether the resolver failed, or was waited for too long.
  fileprivate func isOfResolver(_ contact: Reachability.Contact) -> Bool {
    switch code {
    case .download(.dns): true
    case .download(.timeout): contact == .unknown
    default: false
    }
  }
}
