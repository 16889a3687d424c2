import CCurl
import System

/// Orders of other threads to the engine's thread.
enum TransferOrder: Sendable {
  case start(QueuedTransfer)
  case cancel(TransferID)
  case leaveSlot(TransferID)
  /// A piece of a file was read, or could not be, which a form of the transfer sends.
  case fileRead(TransferID)
  /// A name was looked up.
  case resolved(String, NameLookup)
}

/// The loop of the engine's thread: passes transfers to libcurl once their hosts have free slots and are resolved, and
/// completes them.
///
/// A transfer waits for a slot of its host, then for the addresses of its host; then libcurl gets it. While it exceeds its
/// rates, it is paused.
final class TransferLoop {
  private let configuration: TransferConfiguration
  private let mailbox: Mailbox<TransferOrder>
  private var multi: MultiHandle
  private let resolver: NameResolver
  private var gate: HostGate<WaitingTransfer>
  private let rates: RateLimiter<UnsafeMutableRawPointer>
  private var names = NameRequests<HTTPTransfer>()

  /// The hosts whose waiting transfers have been told that they wait only for slow ones.
  private var fullOfSlow: Set<String> = []

  /// The transfers whose forms can continue, until libcurl takes their bytes.
  private var readable: Set<TransferID> = []

  private var running: [UnsafeMutableRawPointer: HTTPTransfer] = [:]

  /// At or before the time at which the first of these exceeds a time limit that libcurl does not know, as
  /// `Clock.monotonicSeconds`.
  private var timeCheck = Double.infinity

  /// Since when there have been no transfers, as `Clock.monotonicSeconds`; nil while there are some, or no connections.
  private var idleSince: Double?

  /// Whether one of the transfers since libcurl last had none may be over HTTP/2.
  private var mayHaveStreams = false

  /// How long to wait for libcurl at most while transfers may be over HTTP/2, in seconds. When it has read the end of a stream on
  /// behalf of another one, libcurl 7.88 sometimes notices only when it next looks: its next timer may be that for connecting.
  private static let longestWaitForStreams = 0.05

  /// - Parameter lookUp: Looks host names up.
  init(
    configuration: TransferConfiguration, mailbox: Mailbox<TransferOrder>, multi: MultiHandle,
    lookUp: @escaping NameResolver.LookUp
  ) {
    self.configuration = configuration
    self.mailbox = mailbox
    self.multi = multi
    gate = HostGate(limit: configuration.perHost)
    rates = RateLimiter(total: configuration.maxRate, now: Clock.monotonicSeconds)
    resolver = NameResolver(lookUp) { mailbox.post(.resolved($0, $1)) }
  }

  /// A transfer that waits for a slot of a host.
  private enum WaitingTransfer {
    /// A new transfer.
    case new(QueuedTransfer)
    /// A transfer that another host has redirected here.
    case redirected(HTTPTransfer)

    var queued: QueuedTransfer {
      switch self {
      case .new(let queued): queued
      case .redirected(let transfer): transfer.queued
      }
    }

    func completeCancelled() {
      switch self {
      case .new(let queued): queued.completeCancelled()
      case .redirected(let transfer): transfer.queued.completion(.failure(transfer.cancelled()))
      }
    }
  }

  /// Runs until the mailbox is closed; then cancels all transfers.
  func run() {
    while true {
      let isClosed = mailbox.isClosed
      var cancelled: Set<TransferID> = []
      for order in mailbox.collect() {
        switch order {
        case .start(let transfer): admit(transfer)
        case .cancel(let id): cancelled.insert(id)
        case .leaveSlot(let id): leaveSlot(id)
        case .fileRead(let id): readable.insert(id)
        case .resolved(let name, let lookup): resolved(name, lookup)
        }
      }
      if isClosed { break }
      if !cancelled.isEmpty { cancel(cancelled) }
      multi.perform()
      while let (easy, code) = multi.nextFinished() {
        guard let transfer = running[easy] else { continue }
        handle(transfer, transfer.step(after: code))
      }
      resumePaused()
      resumeForms()
      mayHaveStreams = mayHaveStreams && !running.isEmpty
      let seconds = min(checkTimes(), closeIdle(), mayHaveStreams ? Self.longestWaitForStreams : .infinity)
      mailbox.wait { multi.poll(alongside: $0, seconds: seconds) }
    }
    resolver.close()
    for waiting in gate.removeWaiting(where: { _ in true }) { waiting.completeCancelled() }
    cancelStarted { _ in true }
  }

  /// Closes all connections when there have been no transfers for a while: libcurl looks at connections only for transfers, and
  /// those that servers have closed would keep their descriptors until then.
  /// - Returns: In how many seconds that is due.
  private func closeIdle() -> Double {
    guard gate.isEmpty, running.isEmpty, multi.openConnections.count > 0 else {
      idleSince = nil
      return .infinity
    }
    let now = Clock.monotonicSeconds
    let since = idleSince ?? now
    idleSince = since
    guard now - since >= configuration.idleLimit else { return since + configuration.idleLimit - now }
    multi = MultiHandle(tlsSessions: multi.tlsSessions)
    return .infinity
  }

  private func admit(_ queued: QueuedTransfer) {
    let host = queued.request.location.host ?? ""
    guard gate.acquire(host, .new(queued)) else { return noteWaiting(host) }
    if !start(queued) { release(host) }
  }

  /// Starts a transfer that has a slot. Returns whether it still needs the slot; otherwise it has completed.
  private func start(_ queued: QueuedTransfer) -> Bool {
    // A handle is used for one transfer only: libcurl 7.88 refuses CURLOPT_BUFFERSIZE on some used and reset handles.
    let transfer: HTTPTransfer
    do throws(TransferError) {
      transfer = try HTTPTransfer(
        queued, easy: EasyHandle(), configuration: configuration, openConnections: multi.openConnections,
        tlsSessions: multi.tlsSessions)
    } catch {
      queued.completion(.failure(error))
      return false
    }
    return submit(transfer)
  }

  /// Passes a request to libcurl, once its name is resolved. Returns whether it still needs its slot; otherwise the transfer has
  /// completed.
  private func submit(_ transfer: HTTPTransfer) -> Bool {
    let now = Clock.monotonicSeconds
    if let settings = transfer.hostSettings { rates.limit(transfer.slotHost, to: settings.maxRate, now: now) }
    guard let (name, _) = transfer.name else { return add(transfer) }
    transfer.waitingSince = now
    let deadline = now + transfer.time.connectTimeout / .seconds(1)
    switch names.request(name, transfer, now: now, deadline: deadline) {
    case .known(let lookup): return add(transfer, lookup, now: nil)
    case .lookUp: resolver.start(name)
    case .wait: break
    }
    return true
  }

  private func resolved(_ name: String, _ lookup: NameLookup) {
    let now = Clock.monotonicSeconds
    for transfer in names.finish(name, lookup, now: now) where !add(transfer, lookup, now: now) { release(transfer) }
  }

  /// Passes a request to libcurl whose name has been looked up.
  /// - Parameter now: `nil` when the request did not wait for the lookup.
  private func add(_ transfer: HTTPTransfer, _ lookup: NameLookup, now: Double?) -> Bool {
    do throws(TransferError) {
      try transfer.adopt(lookup, now: now)
    } catch {
      transfer.queued.completion(.failure(error))
      return false
    }
    return add(transfer)
  }

  private func add(_ transfer: HTTPTransfer) -> Bool {
    let isHTTP2 = gate.isHTTP2(transfer.slotHost)
    transfer.couldShare = isHTTP2 == true && !transfer.needsNewConnection
    // Not for an unknown host: tries at a silent one would wait for each other.
    let isHTTPS = transfer.location.scheme == .https
    let mayBeStream = isHTTPS && isHTTP2 != false
    if mayBeStream { mayHaveStreams = true }
    transfer.easy.set(CURLOPT_PIPEWAIT, isHTTPS && isHTTP2 == true ? 1 : 0)
    running[transfer.easy.raw] = transfer
    if let rate = rates.rate(transfer.slotHost) {
      rates.begin(transfer.slotHost)
      // With many transfers the share of each may be below the limit for slowness.
      if rate / 2560 < configuration.lowSpeed { transfer.queued.request.progress?.setLimited() }
      // A stream may wait behind a paused one of its connection, which libcurl's check takes for slowness.
      transfer.limit(
        by: rates, isShared: mayBeStream, isMeasured: !mayBeStream || rate >= 1 << 20, now: Clock.monotonicSeconds)
    }
    if multi.add(transfer.easy) {
      let now = Clock.monotonicSeconds
      transfer.queued.request.progress?.requestBegan(now: Int(now * 1000))
      timeCheck = min(timeCheck, transfer.checkTimes(now: now) ?? now)
      return true
    }
    remove(transfer)
    transfer.queued.completion(.failure(TransferError(.network, "libcurl does not take a handle")))
    return false
  }

  /// Removes a request from libcurl.
  private func remove(_ transfer: HTTPTransfer) {
    multi.remove(transfer.easy)
    running[transfer.easy.raw] = nil
    transfer.queued.request.progress?.requestEnded(now: Clock.monotonicMilliseconds)
    guard transfer.time.hold != nil else { return }
    rates.end(transfer.easy.raw, of: transfer.slotHost, now: Clock.monotonicSeconds)
    transfer.endHold()
  }

  /// Continues the paused transfers that the rates allow.
  private func resumePaused() {
    guard rates.due < .infinity else { return }
    let now = Clock.monotonicSeconds
    while let easy = rates.next(now: now) {
      guard let transfer = running[easy] else { continue }
      transfer.pauseEnds(now: now)
      let code = transfer.easy.resume()
      // libcurl returns the failure only here; the transfer itself would go on.
      if code != CURLE_OK { handle(transfer, transfer.step(after: code)) }
    }
  }

  /// Continues the transfers that waited for a file of their form.
  ///
  /// libcurl remembers that a form has paused, but may pause the transfer only when it asks the form for bytes again. An earlier
  /// resumption has no effect, so that it is repeated until libcurl takes the bytes.
  private func resumeForms() {
    guard !readable.isEmpty else { return }
    let transfers = running.values.filter { readable.contains($0.queued.id) && $0.form?.canContinue == true }
    readable = Set(transfers.map(\.queued.id))
    for transfer in transfers {
      let code = transfer.easy.resume(receiving: transfer.time.hold?.isPaused != true)
      if code != CURLE_OK { handle(transfer, transfer.step(after: code)) }
    }
  }

  private func handle(_ transfer: HTTPTransfer, _ step: HTTPTransfer.Step) {
    if transfer.wasUnreachable, let name = transfer.name?.name { names.shortenLifetime(of: name) }
    if let answer = transfer.lastAnswer {
      gate.count(
        transfer.slotHost, isHTTP2: answer.isHTTP2, isReused: answer.isReused, couldShare: transfer.couldShare)
    }
    switch step {
    case .ended(let result): finish(transfer, result)
    case .nextRequest: submitNext(transfer)
    }
  }

  /// Submits a transfer's next request once its host has a free slot.
  private func submitNext(_ transfer: HTTPTransfer) {
    remove(transfer)
    let host = transfer.location.host ?? ""
    if host != transfer.slotHost {
      release(transfer)
      transfer.slotHost = host
      guard gate.acquire(host, .redirected(transfer)) else { return noteWaiting(host) }
      if transfer.isSlow { gate.slowBegan(host) }
    }
    if !submit(transfer) { release(transfer) }
  }

  /// Releases the slot of a transfer, and starts transfers that wait for one.
  private func release(_ transfer: HTTPTransfer) {
    if transfer.isSlow { gate.slowEnded(transfer.slotHost) }
    release(transfer.slotHost)
  }

  private func leaveSlot(_ id: TransferID) {
    if case .redirected(let transfer)? = gate.firstWaiting(where: { $0.queued.id == id }) {
      // It leaves its next slot at once.
      return transfer.isSlow = true
    }
    let transfer =
      running.values.first { $0.queued.id == id } ?? names.firstWaiting { $0.queued.id == id }
    guard let transfer, !transfer.isSlow else { return }
    transfer.isSlow = true
    gate.slowBegan(transfer.slotHost)
    startWaiting(transfer.slotHost)
    noteWaiting(transfer.slotHost)
  }

  /// Tells the transfers that wait for a slot of a host if they wait only for slow ones: then they take no slot themselves.
  private func noteWaiting(_ host: String) {
    guard gate.isFullOfSlow(host) else { return }
    fullOfSlow.insert(host)
    for waiting in gate.waiting(host) { waiting.queued.request.progress?.setBehindSlow(true) }
  }

  /// Tells the transfers that wait for a slot of a host that they no longer wait only for slow ones.
  private func noteNotSlow(_ host: String) {
    guard !fullOfSlow.isEmpty, fullOfSlow.contains(host), !gate.isFullOfSlow(host) else { return }
    fullOfSlow.remove(host)
    for waiting in gate.waiting(host) { waiting.queued.request.progress?.setBehindSlow(false) }
  }

  /// Releases a slot of a host, and starts the transfers that wait for one.
  private func release(_ host: String) {
    gate.release(host)
    startWaiting(host)
  }

  private func startWaiting(_ host: String) {
    while let next = gate.next(host) {
      if !fullOfSlow.isEmpty { next.queued.request.progress?.setBehindSlow(false) }
      let isStarted =
        switch next {
        case .new(let queued): start(queued)
        case .redirected(let transfer): resume(transfer)
        }
      if !isStarted { gate.release(host) }
    }
    noteNotSlow(host)
  }

  /// Submits the request of a redirected transfer that has a slot now. Returns whether it still needs the slot.
  private func resume(_ transfer: HTTPTransfer) -> Bool {
    if transfer.isSlow { gate.slowBegan(transfer.slotHost) }
    let isStarted = submit(transfer)
    if !isStarted, transfer.isSlow { gate.slowEnded(transfer.slotHost) }
    return isStarted
  }

  /// Performs the actions that are due. Returns the time until the next one, in seconds.
  private func checkTimes() -> Double {
    var due = rates.due
    if var check = names.nextCheck {
      let now = Clock.monotonicSeconds
      if check <= now {
        let overdue = names.removeOverdue(now: now)
        names.forgetAbandoned(resolver.withdraw)
        for transfer in overdue {
          transfer.queued.completion(.failure(transfer.resolvingTimeout))
          release(transfer)
        }
        check = names.nextCheck ?? .infinity
      }
      due = min(due, check)
    }
    if timeCheck <= Clock.monotonicSeconds { expireTransfers() }
    return max(0, min(due, timeCheck) - Clock.monotonicSeconds)
  }

  /// Ends the transfers that exceed a time limit that libcurl does not know.
  private func expireTransfers() {
    let now = Clock.monotonicSeconds
    timeCheck = .infinity
    for transfer in running.values {
      if let check = transfer.checkTimes(now: now) {
        timeCheck = min(timeCheck, check)
      } else {
        handle(transfer, transfer.expire())
      }
    }
  }

  private func cancel(_ ids: Set<TransferID>) {
    for waiting in gate.removeWaiting(where: { ids.contains($0.queued.id) }) { waiting.completeCancelled() }
    cancelStarted { ids.contains($0.queued.id) }
  }

  private func cancelStarted(where matches: (HTTPTransfer) -> Bool) {
    let stopped = names.removeWaiting(where: matches)
    names.forgetAbandoned(resolver.withdraw)
    for transfer in stopped {
      release(transfer)
      transfer.queued.completion(.failure(transfer.cancelled()))
    }
    for transfer in running.values.filter(matches) { finish(transfer, .failure(transfer.cancelled())) }
  }

  private func finish(_ transfer: HTTPTransfer, _ result: Result<TransferOutcome, TransferError>) {
    remove(transfer)
    release(transfer)
    transfer.queued.completion(result)
  }
}
