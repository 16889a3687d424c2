import Dispatch
import Ledger
import Model
import Scheduling
import Synchronization
import System

/// Processes the notices of one kind, one after another, on a thread of its own, so that a receiver or a program that hangs
/// stops nothing else.
final class NoticeQueue: Sendable {
  /// A message of the thread.
  enum Message: Sendable {
    case event(Event)
    /// The number of notices that are left has changed, or nothing can be done now.
    case changed
    /// The ledger is damaged. The thread has ended.
    case broken(any Error)
  }

  private struct State {
    var sender: (any NoticeSender)?
    var isStopped = false
    var hasThread = false

    /// How often the thread was asked to look into the ledger, and which of these requests it has served.
    var requests = 0
    var served = 0

    /// When the next notice is due, as `Clock.monotonicSeconds`, once all requests are served; nil without one.
    var due: Double?
    var count = 0
  }

  private let kind: LedgerNotice.Kind
  private let ledger: Ledger
  private let send: @Sendable (Message) -> Void
  private let state = Mutex(State())
  private let wakeUps: Mailbox<Void>
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameter send: Called on the queue's thread.
  /// - Throws: `SystemError` when there is no descriptor left.
  init(_ kind: LedgerNotice.Kind, ledger: Ledger, send: @escaping @Sendable (Message) -> Void) throws(SystemError) {
    (self.kind, self.ledger, self.send) = (kind, ledger, send)
    wakeUps = try Mailbox()
  }

  /// The number of notices that are left, those that are due later included.
  var count: Int { state.withLock { $0.count } }

  /// Processes notices by a sender from now on, and begins with those that are left.
  /// - Parameter sender: nil to process none; they stay.
  func configure(_ sender: (any NoticeSender)?) {
    state.withLock { $0.sender = sender }
    wake()
  }

  /// Looks for notices that have become due, and starts the thread if there is a sender and the thread is not running.
  func wake() {
    do throws(SystemError) {
      try state.withLock { state throws(SystemError) in
        state.requests += 1
        guard state.sender != nil, !state.hasThread, !state.isStopped else { return }
        try NativeThread("the thread for --\(kind.rawValue)") { [self] in run() }.detach()
        state.hasThread = true
      }
    } catch {
      send(.event(.warning("\(error): it is started when the next job ends")))
    }
    wakeUps.post(())
  }

  /// Whether a notice is being processed, or becomes due by a time, as `Clock.monotonicSeconds`.
  func hasWork(by time: Double) -> Bool {
    state.withLock { state in
      guard state.sender != nil, state.hasThread, !state.isStopped else { return false }
      return state.served < state.requests || state.due.map { $0 <= time } ?? false
    }
  }

  /// Breaks off what is being processed, and waits for the end of the thread. What is left stays in the ledger.
  func shutDown() {
    let hasThread = state.withLock { state in
      state.isStopped = true
      return state.hasThread
    }
    wakeUps.post(())
    if hasThread { _ = ended.wait(timeout: .now() + 5) }
  }

  // MARK: The thread

  private func run() {
    defer { ended.signal() }
    var (work, errors) = (Work(), 0)
    while !state.withLock({ $0.isStopped }) {
      var pause: Double?
      do {
        pause = try step(&work)
        errors = 0
      } catch let error where error.isDamageOfLedger {
        rest(work, until: nil)
        return send(.broken(error))
      } catch {
        // The end of the program does not wait for it.
        rest(work, until: nil)
        errors += 1
        pause = LocalBackoff.seconds(attempts: errors)
      }
      if pause != 0 { wakeUps.wait(seconds: pause) }
      _ = wakeUps.collect()
    }
  }

  /// What the thread has to remember.
  private struct Work {
    /// What has become of the last notice, until it is recorded: nothing is processed twice because a disk is full.
    var unrecorded: LedgerChange?

    /// The number of the last request.
    var request = 0
  }

  /// Processes the next notice if it is due.
  /// - Returns: The time until the next step, in seconds; nil: until the thread is woken.
  private func step(_ work: inout Work) throws -> Double? {
    let sender: (any NoticeSender)?
    (sender, work.request) = state.withLock { ($0.sender, $0.requests) }
    if let change = work.unrecorded {
      try ledger.commit([change])
      work.unrecorded = nil
    }
    try countAll()
    guard let sender, let notice = try ledger.nextNotice(kind) else {
      rest(work, until: nil)
      return nil
    }
    let wait = NoticeVerdict.wait(for: notice, now: Clock.wallMilliseconds)
    guard wait == 0 else {
      rest(work, until: Clock.monotonicSeconds + wait)
      return wait
    }
    // Until it is processed, no request counts as served.
    let outcome = sender.send(notice, wait: wait(by:)) { send(.event($0)) }
    work.unrecorded = change(after: NoticeVerdict(notice, outcome, now: Clock.wallMilliseconds), notice)
    return 0
  }

  private func wait(by watch: (Int32) -> Bool) -> Bool {
    wakeUps.wait(by: watch)
    if !wakeUps.collect().isEmpty { try? countAll() }
    return !state.withLock { $0.isStopped }
  }

  private func countAll() throws {
    let count = try ledger.noticeCount(kind)
    let isNew = state.withLock { state in
      defer { state.count = count }
      return state.count != count
    }
    if isNew { send(.changed) }
  }

  /// Reports what becomes of a notice.
  /// - Returns: The change that records it; nil when nothing changes.
  private func change(after verdict: NoticeVerdict, _ notice: LedgerNotice) -> LedgerChange? {
    func report(_ result: NotificationResult) {
      if kind == .notify { send(.event(.notification(job: notice.job, result))) }
    }
    switch verdict {
    case .leave: return nil
    case .remove: report(.delivered)
    case .giveUp(let why): report(.givenUp(why: why))
    case .retry(let next, let why, let seconds):
      report(.failed(why: why, attempts: next.attempts, seconds: seconds))
      return .announce(next)
    }
    return .forget(.notice(run: notice.runID, kind))
  }

  /// Records that all requests are served.
  private func rest(_ work: Work, until due: Double?) {
    state.withLock { ($0.served, $0.due) = (work.request, due) }
    send(.changed)
  }
}
