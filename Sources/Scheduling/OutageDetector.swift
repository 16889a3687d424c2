/// Tells an outage of the network from failures of single hosts. Times are milliseconds of any clock.
///
/// When several downloads in a row fail without an answer of any host in between, three hosts that answered before are
/// probed, of different domains if possible. One that answers shows that the failures are their hosts' own, and the usual
/// retries decide. When none does, there is an outage, and all hosts that are known are probed until one answers: hosts of
/// one provider may fail together. Without a host that has ever answered nothing is an outage: a list may be dead.
///
/// Failures carry the number of the suspicion to which they belong, so that they need not count once that has become an
/// outage.
package struct OutageDetector: Sendable {
  /// What is to be probed.
  package struct Probe: Equatable, Sendable {
    /// The number under which the result is to be recorded.
    package let round: Int
    /// The hosts, those that are to be probed first at the beginning.
    package let hosts: [Int]
    /// Whether a host has to answer a request: all failures were silences, and a connection would show too little.
    package let needsAnswer: Bool
    /// Whether names have to be resolved anew: the resolver is among what failed.
    package var needsLookup = false
  }

  private enum Phase: Equatable {
    case normal
    /// Probes are under way: their number, and until when they are awaited.
    case checking(outstanding: Int, until: Int)
    /// Since the first failure. The next probe is due, and how long the one after it is put off.
    case outage(since: Int, due: Int, interval: Int)
    /// An outage lasted too long for how little is known: nothing is one until a host answers.
    case suppressed
  }

  /// A host that has answered.
  private struct Known {
    let host: Int
    let domain: Int
  }

  /// Failures in a row after which hosts are probed. It doubles each time that a host answers the probe.
  static let threshold = 4
  private static let highestThreshold = 64

  /// Hosts that are probed before there is an outage, and domains that must be known for one that lasts.
  static let probed = 3

  /// Hosts that are kept, and probed in an outage.
  static let kept = 16

  /// How long a first probe may take.
  package static let checkTime = 4000

  /// The longest time between two probes.
  static let longestInterval = 10_000

  /// The longest outage when hosts of fewer than three domains are known: perhaps only these are down.
  static let longestOutage = 600_000

  /// How long after an answer to a probe a failure is taken to be its host's own.
  static let probeValidity = 1000

  private var phase = Phase.normal

  /// The number of the present suspicion.
  package private(set) var suspicion = 0

  /// The suspicions that became outages: the last so many.
  private var outages: [Int] = []

  /// The hosts that answered last, the latest at the end.
  private var answered: [Known] = []

  private var failures = 0
  private var firstFailure = 0
  private var areSilences = true
  private var hasResolverFailed = false
  private var threshold = OutageDetector.threshold
  private var probeValidUntil = Int.min
  private var round = 0

  package init() {}

  // MARK: Downloads

  /// Records that a host has answered.
  /// - Parameters:
  ///   - domain: What hosts have in common that may fail together. Default: the host has a domain of its own.
  ///   - began: When the download began. Default: after all failures.
  package mutating func hostAnswered(_ host: Int, domain: Int? = nil, began: Int = .max) {
    if answered.last?.host != host { keep(Known(host: host, domain: domain ?? host)) }
    switch phase {
    // What arrived before the outage may be reported during it; the next probe tells.
    case .outage: break
    case .normal where failures == 0 && threshold == Self.threshold: break
    // The same before it is known: this download may have got its answer before the first one failed.
    case .normal where failures > 0 && began <= firstFailure: break
    case .checking where began <= firstFailure: break
    case .normal, .checking, .suppressed:
      (phase, threshold) = (.normal, Self.threshold)
      clear()
    }
  }

  /// Records that a download failed without an answer, or in the middle of one.
  /// - Parameters:
  ///   - isSilence: Whether nothing came until the time was over.
  ///   - isOfResolver: Whether the host's name could not be resolved. Default: false.
  package mutating func downloadFailed(isSilence: Bool, isOfResolver: Bool = false, now: Int) {
    guard !answered.isEmpty, phase != .suppressed else { return }
    if failures == 0 { (firstFailure, areSilences, hasResolverFailed) = (now, true, false) }
    failures += 1
    areSilences = areSilences && isSilence
    hasResolverFailed = hasResolverFailed || isOfResolver
  }

  /// Whether it must be known whether there is an outage before an entry is given up.
  package func isUndecided(_ suspicion: Int, now: Int) -> Bool {
    switch phase {
    case .normal: suspicion == self.suspicion && failures > 0 && now >= probeValidUntil
    case .checking: true
    case .outage, .suppressed: false
    }
  }

  /// Whether a suspicion has become an outage.
  package func isOutage(_ suspicion: Int) -> Bool { outages.contains(suspicion) }

  // MARK: Probes

  /// Whether no more downloads are to start: probes are under way.
  package var isChecking: Bool { if case .checking = phase { true } else { false } }

  /// Since when there has been an outage; nil while there is none.
  package var outageSince: Int? { if case .outage(let since, _, _) = phase { since } else { nil } }

  /// When `nextProbe` is to be called; nil when that depends on downloads only.
  package var due: Int? {
    switch phase {
    case .checking(_, let until): until
    case .outage(_, let due, _): due
    case .normal, .suppressed: nil
    }
  }

  /// The probe that is due; nil when none is.
  /// - Parameter isWanted: Whether an entry is to be given up.
  package mutating func nextProbe(isWanted: Bool, now: Int) -> Probe? {
    switch phase {
    case .normal where failures >= threshold || isWanted && failures > 0:
      let probe = probe(checkedHosts)
      phase = .checking(outstanding: probe.hosts.count, until: now + Self.checkTime)
      return probe
    case .checking(_, let until) where now >= until: declare(now)
    case .outage(let since, let due, let interval) where now >= due:
      if now - since >= Self.longestOutage, Set(answered.map(\.domain)).count < Self.probed {
        phase = .suppressed
        clear()
        return nil
      }
      phase = .outage(since: since, due: now + interval, interval: min(2 * interval, Self.longestInterval))
      return probe(hosts.reversed())
    case .normal, .checking, .outage, .suppressed: break
    }
    return nil
  }

  /// Records how many hosts of a probe are being probed; others cannot be. Without any the failures say nothing of the
  /// network.
  package mutating func probeBegan(round: Int, count: Int) {
    guard case .checking(_, let until) = phase, round == self.round else { return }
    if count > 0 {
      phase = .checking(outstanding: count, until: until)
    } else {
      phase = .normal
      clear()
    }
  }

  /// Records what has become of the probe of one host, after `probeBegan`.
  package mutating func probed(_ host: Int, round: Int, hasAnswered: Bool, now: Int) {
    // It is probed first the next time.
    if hasAnswered, let known = answered.first(where: { $0.host == host }) { keep(known) }
    switch phase {
    case .checking(let outstanding, let until) where round == self.round || hasAnswered:
      if hasAnswered {
        phase = .normal
        threshold = min(2 * threshold, Self.highestThreshold)
        probeValidUntil = now + Self.probeValidity
        clear()
      } else if outstanding > 1 {
        phase = .checking(outstanding: outstanding - 1, until: until)
      } else {
        declare(now)
      }
    case .outage where hasAnswered:
      (phase, threshold) = (.normal, Self.threshold)
      clear()
    case .normal, .checking, .outage, .suppressed: break
    }
  }

  private mutating func probe(_ hosts: [Int]) -> Probe {
    round += 1
    return Probe(round: round, hosts: hosts, needsAnswer: areSilences, needsLookup: hasResolverFailed)
  }

  private mutating func declare(_ now: Int) {
    phase = .outage(since: firstFailure, due: now + 1000, interval: 2000)
    outages = outages.suffix(31) + [suspicion]
  }

  private mutating func clear() {
    failures = 0
    suspicion += 1
  }

  // MARK: Hosts

  /// The hosts that may be probed, the one that answered last at the end.
  package var hosts: [Int] { answered.map(\.host) }

  /// The hosts to be probed before there is an outage: the latest of each domain first.
  private var checkedHosts: [Int] {
    var domains: Set<Int> = []
    var (first, others): ([Int], [Int]) = ([], [])
    for known in answered.reversed() {
      if domains.insert(known.domain).inserted { first.append(known.host) } else { others.append(known.host) }
    }
    return Array((first + others).prefix(Self.probed))
  }

  /// Keeps a host as the latest. Too many are one less of a domain that has several, or else the oldest.
  private mutating func keep(_ known: Known) {
    answered.removeAll { $0.host == known.host }
    answered.append(known)
    guard answered.count > Self.kept else { return }
    let surplus = answered.indices.first { index in
      answered[(index + 1)...].contains { $0.domain == answered[index].domain }
    }
    answered.remove(at: surplus ?? 0)
  }
}
