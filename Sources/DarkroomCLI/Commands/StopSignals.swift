import Foundation
import Synchronization

/// SIGTERM and SIGINT: the first asks the program to stop, the second ends it at once. A dedicated thread waits for them, so
/// that filtrations on all processors do not delay them.
final class StopSignals: Sendable {
  private static let numbers = [SIGTERM, SIGINT]

  private let received = Mutex<Int32?>(nil)

  /// The first signal received; nil when there was none.
  var first: Int32? { received.withLock { $0 } }

  /// Blocks the signals until `init` handles them, so that one that arrives while the program starts is not lost. To be
  /// called before other threads are created, which inherit the mask.
  static func block() {
    var blocked = set()
    pthread_sigmask(SIG_BLOCK, &blocked, nil)
  }

  /// Handles the signals from now on; `block` was called before.
  /// - Parameter line: Cleared before the second signal ends the program.
  init(line: ProgressLine, stop: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [self] in
      var blocked = Self.set()
      while true {
        var number: Int32 = 0
        guard sigwait(&blocked, &number) == 0 else { continue }
        let isSecond = received.withLock { first in
          defer { first = first ?? number }
          return first != nil
        }
        if isSecond {
          line.end()
          _exit(128 + number)
        }
        stop()
      }
    }
  }

  private static func set() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for number in numbers { sigaddset(&set, number) }
    return set
  }
}
