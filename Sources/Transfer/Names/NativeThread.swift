import Glibc

/// A thread that runs one function (`pthread_create`). It must be joined or detached once.
final class NativeThread: Sendable {
  private let thread: pthread_t

  /// Starts the thread.
  /// - Parameter stackBytes: The size of its stack. Default: nil, the system's.
  /// - Returns: nil, with `errno`, when the system cannot create one.
  init?(stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
    let box = Unmanaged.passRetained(Body(run: body))
    var thread = pthread_t()
    let code = pthread_create(&thread, &attributes, runBody, box.toOpaque())
    guard code == 0 else {
      box.release()
      errno = code
      return nil
    }
    self.thread = thread
  }

  func detach() { pthread_detach(thread) }

  /// Waits until the function has returned (`pthread_join`); on the thread itself it detaches the thread instead.
  func join() {
    if pthread_equal(thread, pthread_self()) != 0 { detach() } else { pthread_join(thread, nil) }
  }

  fileprivate final class Body: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}

private func runBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  Unmanaged<NativeThread.Body>.fromOpaque(argument).takeRetainedValue().run()
  return nil
}
