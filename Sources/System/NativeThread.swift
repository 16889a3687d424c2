import Glibc

/// A thread that runs one function (`pthread_create`). It must be joined or detached once.
package final class NativeThread: Sendable {
  private let thread: pthread_t

  /// Starts the thread.
  /// - Parameters:
  ///   - name: What errors call it.
  ///   - stackBytes: The size of its stack. Default: nil, the system's.
  /// - Throws: `SystemError` when the system cannot create one, e.g. `EAGAIN`.
  package init(_ name: String, stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
    let box = Unmanaged.passRetained(Body(run: body))
    var thread = pthread_t()
    let code = pthread_create(&thread, &attributes, runBody, box.toOpaque())
    guard code == 0 else {
      box.release()
      throw SystemError("pthread_create", name, code: code)
    }
    self.thread = thread
  }

  package func detach() { pthread_detach(thread) }

  /// Waits until the function has returned (`pthread_join`); on the thread itself it detaches the thread instead.
  package func join() {
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
