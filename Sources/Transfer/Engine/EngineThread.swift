import Glibc
import System

/// A thread that runs one function and can be waited for.
final class EngineThread: Sendable {
  private let thread: pthread_t

  /// Starts the thread (`pthread_create`). Ends the program when the system cannot create one.
  init(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Body(run: body))
    let code = pthread_create(&thread, nil, runBody, box.toOpaque())
    // At the start of the process, which can do nothing without it.
    guard code == 0 else { fatalError("cannot start a thread: \(systemMessage(code))") }
    self.thread = thread
  }

  /// Waits until the function has returned (`pthread_join`); on the thread itself it detaches the thread instead. Must be
  /// called once.
  func join() {
    if pthread_equal(thread, pthread_self()) != 0 {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }

  fileprivate final class Body: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}

private func runBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  Unmanaged<EngineThread.Body>.fromOpaque(argument).takeRetainedValue().run()
  return nil
}
