import CSandbox
import Glibc
import Synchronization
import System

/// A child of this process, killed and waited for when released.
package final class ChildProcess: Sendable {
  package let processID: pid_t
  private let ending = Mutex<Ending?>(nil)

  /// How a process ended.
  package enum Ending: Sendable, Equatable, CustomStringConvertible {
    case exited(Int32)
    case signalled(Int32)
    /// It was killed after a second, or something else has waited for it.
    case unknown

    /// Whether it ran out of memory.
    package var isOutOfMemory: Bool { self == .exited(Int32(CSANDBOX_OUT_OF_MEMORY)) }

    /// Whether it was killed: by the kernel, because the machine or the control group has no memory left (`KernelKills`), by
    /// a person, or by another program.
    package var isKilled: Bool { self == .signalled(SIGKILL) }

    package var description: String {
      switch self {
      case .exited(let status): "exited with \(status)"
      case .signalled(let signal): "was ended by signal \(signal) (\(String(cString: strsignal(signal))))"
      case .unknown: "has ended"
      }
    }
  }

  /// - Parameter processID: A child that nothing else waits for.
  init(processID: pid_t) { self.processID = processID }

  deinit { end() }

  /// Calls a function with its number, unless it has been waited for: from then on the number may belong to another process.
  /// - Returns: nil when it has been waited for.
  private func withNumber<Result>(_ body: (pid_t) -> Result) -> Result? {
    ending.withLock { $0 == nil ? body(processID) : nil }
  }

  /// Kills it, if still running, and waits for its end.
  package func end() {
    _ = withNumber { kill($0, SIGKILL) }
    _ = wait()
  }

  /// Whether it has ended, also when nothing has waited for it yet.
  var hasEnded: Bool { withNumber { csandbox_has_ended($0) == 1 } ?? true }

  /// How a process ended that has closed its socket. If it only closed the socket and lives on, it is killed after a
  /// second.
  package func endingByItself() -> Ending {
    let deadline = Clock.monotonicSeconds + 1
    while Clock.monotonicSeconds < deadline {
      if hasEnded { return wait() }
      usleep(1000)
    }
    end()
    return .unknown
  }

  /// Waits for the end of a process that was killed or has closed its socket.
  package func wait() -> Ending {
    if let ending = ending.withLock({ $0 }) { return ending }
    csandbox_await_end(processID)
    return ending.withLock { known in
      if let known { return known }
      let status = csandbox_wait(processID)
      let ending = status < 0 ? Ending.unknown : status >= 256 ? .signalled(status - 256) : .exited(status)
      known = ending
      return ending
    }
  }

  /// The processor time that it has used, in seconds; 0 when it has been waited for.
  package var processorTime: Double {
    withNumber { number in
      var clock: clockid_t = 0
      var time = timespec()
      guard clock_getcpuclockid(number, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    } ?? 0
  }

  /// Whether it waits for a disk or a file server, and cannot even be killed (state D of `proc_pid_stat(5)`).
  package var waitsForDisk: Bool {
    guard let text = withNumber({ ControlGroup.contents("/proc/\($0)/stat") }) ?? nil,
      let name = text.lastIndex(of: ")")
    else { return false }
    return text[name...].dropFirst(2).first == "D"
  }

  /// Makes the kernel end it after so many seconds of processor time.
  package func limitProcessorTime(to seconds: Int) {
    _ = withNumber { csandbox_set_limit($0, Int32(RLIMIT_CPU.rawValue), UInt64(seconds)) }
  }

  /// Its limit of memory, in bytes; 0 when it has been waited for.
  package var memoryLimit: UInt64 { withNumber { csandbox_limit($0, Int32(RLIMIT_DATA.rawValue)) } ?? 0 }

  package func limitMemory(to bytes: UInt64) {
    _ = withNumber { csandbox_set_limit($0, Int32(RLIMIT_DATA.rawValue), bytes) }
  }
}
