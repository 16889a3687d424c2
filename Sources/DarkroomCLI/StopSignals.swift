import Foundation
import Synchronization

/// SIGTERM and SIGINT: the first asks the program to stop, the second stops it at once. They are heard on a thread of their
/// own, which filtrations that occupy all processors do not keep from it.
final class StopSignals: Sendable {
  private static let numbers = [SIGTERM, SIGINT]

  private let received = Mutex<Int32?>(nil)

  /// The first signal that came; nil when none did.
  var first: Int32? { received.withLock { $0 } }

  /// Keeps signals waiting until there is somebody to hear them: one that comes while the program starts is not lost. To be
  /// called before there are other threads, which take it over.
  static func hold() {
    var held = set()
    pthread_sigmask(SIG_BLOCK, &held, nil)
  }

  /// Hears them from now on; `hold` was called before.
  /// - Parameter line: Taken from the terminal before the program ends at once.
  init(line: ProgressLine, stop: @escaping @Sendable () -> Void) {
    Thread.detachNewThread { [self] in
      var held = Self.set()
      while true {
        var number: Int32 = 0
        guard sigwait(&held, &number) == 0 else { continue }
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
