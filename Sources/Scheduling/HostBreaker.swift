/// Whether a host may be asked, judged by how requests to it ended. Times are milliseconds of any clock.
///
/// A failure closes a host that has answered before; its entries wait, and one at a time tries whether it answers again. When
/// that takes too long the host is given up: its entries fail without being tried, except for a trial now and then. A host that
/// has never answered is not closed: its entries fail by their own tries, and it is given up after a few in a row.
package struct HostBreaker: Equatable, Sendable {
  /// How a request failed at its host; the raw values are those of reports and of the status.
  package enum Failure: String, Sendable {
    /// There was no connection: unknown name, refused, no route, TLS cut off.
    case refused
    /// The resolver failed: no name server answers.
    case unresolved
    /// This machine has no network.
    case noNetwork = "no-network"
    /// There was no connection to the proxy.
    case noProxy = "no-proxy"
    /// There was no connection within the time limit.
    case unanswered
    /// The request was sent, and no answer began within the time limit.
    case silent
    /// The request was sent, and the answer broke off, or a gateway answered for a server that is away.
    case broken

    /// Whether the host was not reached, so that nothing is known about its answers.
    package var isUnreachable: Bool { self != .silent && self != .broken }

    /// Whether this machine or its proxy may have failed, and not the host.
    package var isOfMachine: Bool { self == .unresolved || self == .noNetwork || self == .noProxy }

    /// Whether nothing arrived within the time limit.
    var isSilence: Bool { self == .unanswered || self == .silent }
  }

  /// A host whose entries wait.
  package struct Closed: Equatable, Sendable {
    /// When it was closed.
    package let since: Int

    package fileprivate(set) var failure: Failure

    /// How long it has been closed while other hosts answered, or after bad answers.
    fileprivate var elapsed = 0

    /// How long, until now, no other host has answered, so that the network may be down.
    package fileprivate(set) var unanswered = 0

    /// The number of trials so far, and when the next one may begin.
    fileprivate var trials = 0
    fileprivate var due: Int

    /// Whether a trial has ended without an answer.
    fileprivate var wasTried = false
    fileprivate var isTrialUnderWay = false
  }

  package enum State: Equatable, Sendable {
    case open
    case closed(Closed)
    /// Its entries fail without being tried, except for one from `due` on.
    case givenUp(due: Int, isTrialUnderWay: Bool)
  }

  /// The time limits of the next request, for its connection and for the beginning of its answer.
  package enum Budget: Equatable, Sendable {
    /// The usual ones.
    case usual
    /// The usual ones; for the answer, the limit of a connection.
    case first
    /// The same, but so many milliseconds for the connection.
    case short(Int)
  }

  package private(set) var state = State.open

  /// Whether it has answered a request, to the answer's end.
  package private(set) var hasAnswered = false

  package private(set) var hasDelivered = false

  /// How often it was closed.
  package private(set) var closings = 0

  /// Whether an answer has begun, and no request has met silence since.
  package private(set) var responds = false

  /// Whether the last request found the addresses of the host and the proxy: later ones may work without name servers.
  package private(set) var isReached = false

  private var lastAnswer = Int.min

  /// When the last answered request began.
  private var lastServed = Int.min

  /// The silences and other failures without a connection in a row of a host that has never answered, of tries that began one
  /// after another, and the end of the last one.
  package private(set) var silences = 0
  private var refusals = 0
  private var lastFailure = Int.min

  /// The failures since the last answer of entries that fail by themselves.
  private var ownFailures = 0

  /// The times between the beginnings of two trials, in milliseconds; the last one repeats.
  static let intervals = [1000, 2000, 4000, 8000, 15_000]

  /// How long a host is closed before it is given up.
  static let longest = 60_000

  /// The number of silences or refusals in a row after which a host that has never answered is given up.
  static let silenceLimit = 3

  /// The time limit of a connection after a silence of a host that has never answered.
  static let shortBudget = 2000
  static let refusalLimit = 8

  /// The number of failures without an answer between them that close the host, although all entries concerned fail by themselves:
  /// more than there are downloads at once.
  static let ownFailureLimit = 8

  package init() {}

  package var isClosed: Bool { if case .closed = state { true } else { false } }
  package var isGivenUp: Bool { if case .givenUp = state { true } else { false } }

  /// The state of a closed host. Default: nil, it is not closed.
  package var closed: Closed? { if case .closed(let closed) = state { closed } else { nil } }

  /// When the next trial may begin; nil while one is under way, and for an open host.
  package var trialDue: Int? {
    switch state {
    case .closed(let closed): closed.isTrialUnderWay ? nil : closed.due
    case .givenUp(let due, let isUnderWay): isUnderWay ? nil : due
    case .open: nil
    }
  }

  /// Whether it has answered a request that began at this time or later.
  package func hasServed(since time: Int) -> Bool { hasAnswered && lastServed >= time }

  /// The time limits of the next request.
  package var budget: Budget {
    if hasAnswered || responds { return .usual }
    return silences > 0 ? .short(Self.shortBudget) : .first
  }

  // MARK: Requests

  /// Records that one of its pictures was delivered.
  package mutating func delivered() { hasDelivered = true }

  /// Records that an answer has begun: the host is there, however the answer ends.
  package mutating func answerBegan() { (responds, silences, refusals) = (true, 0, 0) }

  /// Records the end of an answer that is not a failure of the host.
  /// - Parameter began: When its request began.
  /// - Returns: Whether that opens the host.
  @discardableResult
  package mutating func answered(began: Int, now: Int) -> Bool {
    let wasOpen = state == .open
    answerBegan()
    (state, hasAnswered, isReached, lastAnswer, lastServed) = (.open, true, true, now, max(lastServed, began))
    ownFailures = 0
    return !wasOpen
  }

  /// Records that a request failed.
  /// - Parameters:
  ///   - began: When it began.
  ///   - isTrial: Whether `trialBegan` was called for it.
  ///   - isOwn: Whether its entry fails by itself: then a bad answer does not close the host, unless nothing else is answered.
  ///     Default: no.
  /// - Returns: Whether that closes the host.
  @discardableResult
  package mutating func failed(
    _ failure: Failure, began: Int, isTrial: Bool, isOwn: Bool = false, now: Int
  ) -> Bool {
    if failure.isSilence { responds = false }
    isReached = !failure.isOfMachine
    if isTrial { trialEnded() }
    switch state {
    case .closed(var closed):
      closed.failure = failure
      if isTrial { closed.wasTried = true }
      state = .closed(closed)
    case .open where hasAnswered:
      // The host has answered another request since this one began: the failure concerns this request only. Answers that were
      // under way still arrive from a host that accepts no connection any more.
      // A request that began in the millisecond of the last answer began after it: what has ended makes room for what begins.
      guard failure.isUnreachable ? lastServed < began : lastAnswer <= began else { return false }
      if isOwn, !failure.isUnreachable {
        ownFailures += 1
        guard ownFailures >= Self.ownFailureLimit else { return false }
      }
      ownFailures = 0
      state = .closed(Closed(since: now, failure: failure, due: now + Self.intervals[0]))
      closings += 1
      return true
    case .open: countFailure(failure, began: began, now: now)
    case .givenUp: break
    }
    return false
  }

  /// Counts a failure of a host that has never answered. Requests that fail with one connection count once, and failures that
  /// this machine may have caused do not count.
  private mutating func countFailure(_ failure: Failure, began: Int, now: Int) {
    guard failure != .broken, !failure.isOfMachine, began >= lastFailure else { return }
    lastFailure = now
    if failure.isSilence { (silences, refusals) = (silences + 1, 0) } else { (silences, refusals) = (0, refusals + 1) }
    if silences >= Self.silenceLimit || refusals >= Self.refusalLimit { giveUp(now: now) }
  }

  // MARK: Trials

  package mutating func trialBegan(now: Int) {
    switch state {
    case .closed(var closed):
      closed.trials += 1
      closed.due = now + Self.intervals[min(closed.trials, Self.intervals.count - 1)]
      closed.isTrialUnderWay = true
      state = .closed(closed)
    case .givenUp: state = .givenUp(due: now + (Self.intervals.last ?? 0), isTrialUnderWay: true)
    case .open: break
    }
  }

  /// Records that a trial has ended without a result, for example because it was cancelled.
  package mutating func trialEnded() {
    switch state {
    case .closed(var closed):
      closed.isTrialUnderWay = false
      state = .closed(closed)
    case .givenUp(let due, _): state = .givenUp(due: due, isTrialUnderWay: false)
    case .open: break
    }
  }

  /// Makes the next trial due, because another host has opened.
  package mutating func makeTrialDue(now: Int) {
    guard case .closed(var closed) = state else { return }
    closed.due = min(closed.due, now)
    state = .closed(closed)
  }

  // MARK: Time

  /// Counts time for a closed host.
  /// - Parameters:
  ///   - milliseconds: The time since the last call.
  ///   - othersAnswer: Whether the latest news of any other host is an answer. If not, the network may be down, and only
  ///     hosts that were reached and failed count.
  /// - Returns: Whether the host is given up: not before a trial.
  @discardableResult
  package mutating func pass(_ milliseconds: Int, othersAnswer: Bool, now: Int) -> Bool {
    guard case .closed(var closed) = state else { return false }
    let milliseconds = max(0, min(milliseconds, now - closed.since))
    if othersAnswer || !closed.failure.isUnreachable {
      closed.elapsed += milliseconds
      closed.unanswered = 0
    } else {
      closed.unanswered += milliseconds
    }
    state = .closed(closed)
    guard closed.elapsed >= Self.longest, closed.wasTried else { return false }
    giveUp(now: now)
    return true
  }

  /// Closes a host again that was closed or given up. One that has never answered becomes unknown.
  mutating func holdAgain(now: Int) {
    guard isGivenUp || isClosed else { return }
    let failure = self.closed?.failure ?? .refused
    let closed = State.closed(Closed(since: now, failure: failure, due: now))
    self = hasAnswered ? Self(closed, like: self) : Self()
  }

  private init(_ state: State, like host: Self) {
    (hasAnswered, hasDelivered, lastAnswer, lastServed) = (true, host.hasDelivered, host.lastAnswer, host.lastServed)
    self.state = state
  }

  /// Gives the host up: its entries fail without being tried.
  package mutating func giveUp(now: Int) {
    let isUnderWay = closed?.isTrialUnderWay ?? false
    state = .givenUp(due: now + (Self.intervals.last ?? 0), isTrialUnderWay: isUnderWay)
  }
}
