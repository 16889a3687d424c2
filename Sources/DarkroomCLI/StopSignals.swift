import Dispatch
import Glibc
import Synchronization

/// SIGTERM and SIGINT: the first asks the program to stop, the second stops it at once. They are heard on threads of a
/// priority of their own, which filtrations that occupy all processors leave free.
final class StopSignals: @unchecked Sendable {  // the sources never change after the initialiser
  private let received = Mutex<Int32?>(nil)
  private var sources: [any DispatchSourceSignal] = []

  /// The first signal that came; nil when none did.
  var first: Int32? { received.withLock { $0 } }

  /// - Parameter line: Taken from the terminal before the program ends at once.
  init(line: ProgressLine, stop: @escaping @Sendable () -> Void) {
    for number in [SIGTERM, SIGINT] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInteractive))
      source.setEventHandler { [self] in
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
      source.resume()
      sources.append(source)
    }
  }
}
