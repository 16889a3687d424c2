import Darkroom
import Dispatch
import Foundation
import Synchronization
import System

/// The signals of `run` and `watch`. The first SIGTERM or SIGINT asks the program to stop, and the second ends it at once; an alarm
/// ends it if it has not stopped in time. SIGHUP reloads the configuration of `watch`; SIGTSTP suspends. A dedicated thread waits
/// for them, so that filtrations on all processors do not delay them. Signals that arrive too early are handled once handlers
/// are set.
final class Signals: Sendable {
  /// What each signal does, on the thread of the signals.
  struct Handlers: Sendable {
    let stop: @Sendable () -> Void

    /// Called before the second signal ends the process.
    let leave: @Sendable () -> Void

    /// The grace period in seconds, also on the thread that sets the handlers.
    let grace: @Sendable () -> Double

    /// nil where SIGHUP is ignored.
    var reload: (@Sendable () -> Void)?
  }

  private struct State {
    var first: Int32?
    var mustReload = false
    var handlers: Handlers?
  }

  private static let ending = [SIGTERM, SIGINT]
  private static let threadName = "the thread that waits for signals"

  /// How long the program may take to stop after the grace period, in seconds: a disk may not answer, or the system give it no
  /// thread.
  private static let closingTime = 30.0

  /// Ctrl-Z, on a terminal: the progress is cleared first.
  private static let stopping = isatty(STDERR_FILENO) == 1 ? [SIGTSTP] : []
  private static let all = ending + [SIGHUP, SIGALRM] + stopping

  private let state = Mutex(State())
  private let stopped = DispatchSemaphore(value: 0)

  /// The first signal to stop; nil when there was none.
  var first: Int32? { state.withLock { $0.first } }

  /// Blocks the signals until a thread waits for them. Call it before other threads are created, which
  /// inherit the mask.
  static func block() {
    var blocked = set(of: all)
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
  }

  /// Runs `body`, which begins nothing that must be ended, so that SIGTERM and SIGINT end the program at once. SIGHUP stays
  /// blocked. Call it after `block`, and before another thread is created.
  static func endingAtOnce<Result>(_ body: () throws -> Result) rethrows -> Result {
    for number in ending { signal(number) { _exit(128 + $0) } }
    var unblocked = set(of: ending + stopping)
    pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
    defer {
      block()
      for number in ending { signal(number, SIG_DFL) }
    }
    return try body()
  }

  /// Handles the signals from now on. Call it after `block`.
  /// - Parameter screen: Cleared before the second signal ends the program, and while the program is suspended.
  /// - Throws: `SystemError` when the system cannot create the thread.
  init(screen: TerminalScreen) throws(SystemError) {
    try NativeThread(Self.threadName) { [self] in
      Self.waitForEach(of: Self.all) { number in
        switch number {
        case SIGHUP: reload()
        case SIGTSTP: screen.suspend(Self.stopProcess)
        case SIGALRM: first.map { endStuck($0, screen) }
        default: stop(number, screen)
        }
      }
    }.detach()
  }

  /// Ends commands that have nothing to finish by the default action of these signals, after ending the screen, which is also
  /// cleared while the program is suspended. Call it before other threads are created.
  /// - Parameter keepsLines: Whether the lines on the screen stay there. Default: no.
  /// - Throws: `SystemError` when the system cannot create the thread that waits for them.
  static func clear(_ screen: TerminalScreen, keepsLines: Bool = false) throws(SystemError) {
    // A signal that the parent ignores, such as SIGHUP with nohup, stays ignored.
    let numbers = (ending + [SIGHUP, SIGTSTP]).filter { !isIgnored($0) }
    var blocked = set(of: numbers)
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
    try NativeThread(threadName) {
      waitForEach(of: numbers) { number in
        if number == SIGTSTP {
          screen.suspend(stopProcess)
        } else {
          screen.end(keepsLines: keepsLines)
          deliver(number)
        }
      }
    }.detach()
  }

  private static func waitForEach(of numbers: [Int32], _ body: (Int32) -> Void) -> Never {
    var blocked = set(of: numbers)
    while true {
      var number: Int32 = 0
      if sigwait(&blocked, &number) == 0 { body(number) }
    }
  }

  private static func stopProcess() { deliver(SIGTSTP) }

  /// Takes the signal's default action; returns if that does not end the process.
  private static func deliver(_ number: Int32) {
    raise(number)
    var one = set(of: [number])
    pthread_sigmask(SIG_UNBLOCK, &one, nil)
    pthread_sigmask(SIG_BLOCK, &one, nil)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    // The handler SIG_IGN is the number 1.
    return sigaction(number, nil, &action) == 0
      && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  /// Handles the signals, including those that have arrived already.
  func handle(by handlers: Handlers) {
    let (isStopped, mustReload) = state.withLock { state in
      state.handlers = handlers
      if state.first != nil { Self.setAlarm(handlers) }
      return (state.first != nil, state.mustReload)
    }
    if mustReload { handlers.reload?() }
    if isStopped { handlers.stop() }
  }

  /// Waits until the program is asked to stop, or the time is over.
  /// - Returns: Whether to go on.
  func wait(seconds: Double) -> Bool {
    guard stopped.wait(timeout: .now() + seconds) == .success else { return true }
    // Passed on to other waiters.
    stopped.signal()
    return false
  }

  private func reload() {
    let reload = state.withLock { state in
      if state.handlers == nil { state.mustReload = true }
      return state.handlers?.reload
    }
    reload?()
  }

  private func stop(_ number: Int32, _ screen: TerminalScreen) {
    let (handlers, isSecond) = state.withLock { state in
      defer { state.first = state.first ?? number }
      // The program may not get as far as setting handlers.
      if state.first == nil { Self.setAlarm(state.handlers) }
      return (state.handlers, state.first != nil)
    }
    if isSecond {
      Self.endSoon()
      handlers?.leave()
      screen.end()
      _exit(128 + number)
    }
    stopped.signal()
    handlers?.stop()
  }

  /// Ends a program that does not stop, without the use of a disk, which may not answer, by the signal that was to stop it.
  private func endStuck(_ number: Int32, _ screen: TerminalScreen) {
    Self.endSoon()
    Darkroom.killPrograms()
    screen.end()
    Self.deliver(number)
    // The kernel ignores the signal for the first process of a container, and a shell may have had it ignored.
    _exit(128 + number)
  }

  private static func setAlarm(_ handlers: Handlers?) {
    alarm(UInt32(min((handlers?.grace() ?? 0) + closingTime, 1e9).rounded(.up)))
  }

  /// Ends the program in two seconds, if it has not ended by itself: what it does last may use a disk that does not answer. From
  /// then on SIGALRM is not waited for; its default action also ends a thread that such a disk holds.
  private static func endSoon() {
    var one = set(of: [SIGALRM])
    if getpid() == 1 { signal(SIGALRM) { _exit(128 + $0) } }
    pthread_sigmask(SIG_UNBLOCK, &one, nil)
    alarm(2)
  }

  private static func set(of numbers: [Int32]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
    return set
  }
}
