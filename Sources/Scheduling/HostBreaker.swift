/// Whether a host may be asked, as follows from how requests to it ended. Times are milliseconds of any clock.
///
/// A failure closes a host that has answered, and its entries wait: one at a time tries whether it answers again. When that
/// takes too long the host is given up, and its entries fail without being tried, but for a trial now and then. A host that
/// has never answered is not closed: its entries fail by their own tries, and it is given up after a few in a row.
package struct HostBreaker: Equatable, Sendable {
  /// How a request failed at its host; the raw values are those of reports and of the status.
  package enum Failure: String, Sendable {
    /// No connection came about: the name is not known, it was refused, there is no route, TLS was cut off.
    case refused
    /// The resolver failed: no name server answers.
    case unresolved
    /// This machine has no network.
    case noNetwork = "no-network"
    /// No connection with the proxy came about.
    case noProxy = "no-proxy"
    /// No connection came about before the time was over.
    case unanswered
    /// The request was sent, and no answer began before the time was over.
    case silent
    /// The request was sent, and the answer broke off, or was one of a gateway whose server is away.
    case broken

    /// Whether the host was not reached, and nothing of its answers is known.
    package var isUnreachable: Bool { self != .silent && self != .broken }

    /// Whether this machine, or its proxy, may be to blame, and not the host.
    package var isOfMachine: Bool { self == .unresolved || self == .noNetwork || self == .noProxy }

    /// Whether nothing came until the time was over.
    var isSilence: Bool { self == .unanswered || self == .silent }
  }

  /// A host whose entries wait.
  package struct Closed: Equatable, Sendable {
    /// When it was closed.
    package let since: Int

    package fileprivate(set) var failure: Failure

    /// For how long it has been closed while other hosts answered, or after bad answers.
    fileprivate var elapsed = 0

    /// For how long, until now, no other host has answered, so that the network may be down.
    package fileprivate(set) var unanswered = 0

    /// How many trials have begun, and when the next one may begin.
    fileprivate var trials = 0
    fileprivate var due: Int

    /// Whether a trial has ended without an answer.
    fileprivate var wasTried = false
    fileprivate var isTrialUnderWay = false
  }

  package enum State: Equatable, Sendable {
    case open
    case closed(Closed)
    /// Its entries fail without being tried, but for one from `due` on.
    case givenUp(due: Int, isTrialUnderWay: Bool)
  }

  /// How long the next request may take until there is a connection, and then until its answer begins.
  package enum Budget: Equatable, Sendable {
    /// As long as any.
    case usual
    /// As long as any; for the answer, as long as for a connection.
    case first
    /// So many milliseconds each.
    case short(Int)
  }

  package private(set) var state = State.open

  /// Whether it has answered a request, to the answer's end.
  package private(set) var hasAnswered = false

  package private(set) var hasDelivered = false

  /// How often it was closed.
  package private(set) var closings = 0

  /// Whether an answer has begun, and no request was met with silence since.
  package private(set) var responds = false

  /// Whether the last request found the host's address, and the proxy: what follows may do without name servers.
  package private(set) var isReached = false

  private var lastAnswer = Int.min

  /// When the last of the requests began that were answered: answers that were under way when the host went away still come.
  private var lastServed = Int.min

  /// Silences and other failures without a connection in a row of a host that has never answered, of tries that began one
  /// after the other, and when the last one ended.
  package private(set) var silences = 0
  private var refusals = 0
  private var lastFailure = Int.min

  /// The times between the beginnings of two trials, in milliseconds; the last one goes on.
  static let intervals = [1000, 2000, 4000, 8000, 15_000]

  /// How long a host is closed before it is given up.
  static let longest = 60_000

  /// A host that has never answered is given up after so many silences or refusals in a row.
  static let silenceLimit = 3

  /// How long a try may take after a silence of a host that has never answered.
  static let shortBudget = 2000
  static let refusalLimit = 8

  package init() {}

  package var isClosed: Bool { if case .closed = state { true } else { false } }
  package var isGivenUp: Bool { if case .givenUp = state { true } else { false } }

  /// What is known about a closed host. Default: nil, it is not closed.
  package var closed: Closed? { if case .closed(let closed) = state { closed } else { nil } }

  /// When the next trial may begin; nil while one is under way, and for an open host.
  package var trialDue: Int? {
    switch state {
    case .closed(let closed): closed.isTrialUnderWay ? nil : closed.due
    case .givenUp(let due, let isUnderWay): isUnderWay ? nil : due
    case .open: nil
    }
  }

  /// Whether it has answered a request that began at that time or later.
  package func hasServed(since time: Int) -> Bool { hasAnswered && lastServed >= time }

  /// How long the next request may take.
  package var budget: Budget {
    if hasAnswered || responds { return .usual }
    return silences > 0 ? .short(Self.shortBudget) : .first
  }

  // MARK: Requests

  /// Records that a picture of it was delivered.
  package mutating func delivered() { hasDelivered = true }

  /// Records that an answer has begun: the host is there, whatever becomes of the answer.
  package mutating func answerBegan() { (responds, silences, refusals) = (true, 0, 0) }

  /// Records the end of an answer that is no failure of the host.
  /// - Parameter began: When its request began.
  /// - Returns: Whether that opens it.
  @discardableResult
  package mutating func answered(began: Int, now: Int) -> Bool {
    let wasOpen = state == .open
    answerBegan()
    (state, hasAnswered, isReached, lastAnswer, lastServed) = (.open, true, true, now, max(lastServed, began))
    return !wasOpen
  }

  /// Records that a request failed.
  /// - Parameters:
  ///   - began: When it began.
  ///   - isTrial: Whether `trialBegan` was called for it.
  /// - Returns: Whether that closes the host.
  @discardableResult
  package mutating func failed(_ failure: Failure, began: Int, isTrial: Bool, now: Int) -> Bool {
    if failure.isSilence { responds = false }
    isReached = !failure.isOfMachine
    if isTrial { trialEnded() }
    switch state {
    case .closed(var closed):
      closed.failure = failure
      state = .closed(closed)
    case .open where hasAnswered:
      // It answered another request since this one began: the failure is this request's own.
      guard lastAnswer < began else { return false }
      state = .closed(Closed(since: now, failure: failure, due: now + Self.intervals[0]))
      closings += 1
      return true
    case .open: countFailure(failure, began: began, now: now)
    case .givenUp: break
    }
    return false
  }

  /// Of a host that has never answered. What is lost with one connection counts once, and what this machine may be to blame
  /// for does not.
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

  /// Records that a trial has ended without saying anything of the host, as one that was cancelled.
  package mutating func trialEnded() {
    switch state {
    case .closed(var closed):
      (closed.isTrialUnderWay, closed.wasTried) = (false, true)
      state = .closed(closed)
    case .givenUp(let due, _): state = .givenUp(due: due, isTrialUnderWay: false)
    case .open: break
    }
  }

  /// Makes the next trial due: another host has opened.
  package mutating func makeTrialDue(now: Int) {
    guard case .closed(var closed) = state else { return }
    closed.due = min(closed.due, now)
    state = .closed(closed)
  }

  // MARK: Time

  /// Counts time for which a closed host has been so.
  /// - Parameters:
  ///   - milliseconds: The time since this was called last.
  ///   - othersAnswer: Whether the latest news of any other host is an answer. If not, the network may be down, and only
  ///     what was reached and failed counts.
  /// - Returns: Whether the host is given up: not before it was tried.
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

  /// Closes a host anew that was closed or given up. One that has never answered is as unknown as any.
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
