import Glibc

/// A thread that nobody waits for (`pthread_create`, detached).
enum DetachedThread {
  /// Starts a thread that runs one function.
  /// - Parameter stackBytes: The size of its stack.
  /// - Returns: Whether the system could create it.
  static func start(stackBytes: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackBytes)
    let box = Unmanaged.passRetained(Body(run: body))
    var thread = pthread_t()
    guard pthread_create(&thread, &attributes, runDetached, box.toOpaque()) == 0 else {
      box.release()
      return false
    }
    return true
  }

  fileprivate final class Body: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}

private func runDetached(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument else { return nil }
  Unmanaged<DetachedThread.Body>.fromOpaque(argument).takeRetainedValue().run()
  return nil
}
