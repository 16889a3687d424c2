import Ledger
import Model
import System

/// What is done when runs have ended: requests to a receiver, and runs of a program. Used on the thread of `Darkroom`.
final class Notices {
  /// How long `run` waits at its end for the receiver, in seconds. Programs have their own limit.
  static let waitAtEnd = 30.0

  /// After how long the wait at the end of the program is reported, in seconds.
  static let quietTime = 2.0

  private let notifications: NoticeQueue
  private let programs: NoticeQueue
  private var kinds: Set<LedgerNotice.Kind> = []

  /// Whether this process has tried or added something. Otherwise each run of cron would report what an earlier one has left.
  var isActive = false

  /// - Parameter send: Called on other threads.
  /// - Throws: `SystemError` when there is no descriptor left.
  init(ledger: Ledger, send: @escaping @Sendable (NoticeQueue.Message) -> Void) throws(SystemError) {
    notifications = try NoticeQueue(.notify, ledger: ledger, send: send)
    programs = try NoticeQueue(.exec, ledger: ledger, send: send)
  }

  /// What is left to do; nil when nothing is.
  var pending: Status.Notices? {
    let exec = kinds.contains(.exec) ? programs.count : 0
    let notify = kinds.contains(.notify) ? notifications.count : 0
    guard exec + notify > 0 else { return nil }
    return Status.Notices(exec: exec > 0 ? exec : nil, notify: notify > 0 ? notify : nil)
  }

  /// Uses a receiver and a program from now on; what earlier processes have left begins at once.
  func configure(_ configuration: Configuration) {
    kinds = configuration.notices
    notifications.configure(
      configuration.notify.map { NotificationSender(webhook: $0, configuration: configuration.transfer) })
    programs.configure(configuration.exec.map { ProgramSender(program: $0, limit: configuration.execLimit) })
  }

  /// A run has ended.
  func wake() {
    isActive = true
    if kinds.contains(.notify) { notifications.wake() }
    if kinds.contains(.exec) { programs.wake() }
  }

  /// Whether the end of the program waits for something.
  /// - Parameters:
  ///   - deadline: When the grace period is over: then nothing is waited for, and until then for no retry. nil when the program
  ///     was not asked to stop.
  ///   - began: When the wait began.
  func isAwaited(since began: Double, deadline: Double?, now: Double) -> Bool {
    let limit = began + Self.waitAtEnd
    guard let deadline else { return programs.hasWork(by: now) || now < limit && notifications.hasWork(by: limit) }
    return now < deadline && (programs.hasWork(by: now) || now < limit && notifications.hasWork(by: now))
  }

  /// What the end of the program waits for.
  var awaited: String {
    let pending = pending
    let texts = [
      pending?.exec.map { "the program of --exec, for " + $0.of("job", "jobs") },
      pending?.notify.map { "the receiver of --notify, for " + $0.of("notification", "notifications") },
    ].compactMap { $0 }
    return "waiting for " + texts.joined(separator: ", and for ")
  }

  /// What is left for the next start; nil when nothing is, or nothing new.
  var left: String? {
    guard isActive, let pending else { return nil }
    let texts = [
      pending.notify.map { $0.of("notification was not delivered", "notifications were not delivered") },
      pending.exec.map { "the program of --exec was not run for " + $0.of("job", "jobs") },
    ].compactMap { $0 }
    let options = [pending.notify.map { _ in "--notify" }, pending.exec.map { _ in "--exec" }].compactMap { $0 }
    return texts.joined(separator: ", and ") + ": left for the next start with " + options.joined(separator: " and ")
  }

  /// Breaks off what is being processed; it stays for the next start.
  func shutDown() {
    notifications.shutDown()
    programs.shutDown()
  }
}
