import Dispatch
import Glibc

/// SIGHUP: the configuration is to be read again.
final class ReloadSignal {
  private let source: any DispatchSourceSignal

  init(_ reload: @escaping @Sendable () -> Void) {
    signal(SIGHUP, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global(qos: .userInteractive))
    source.setEventHandler(handler: reload)
    source.resume()
  }

  deinit { source.cancel() }
}
