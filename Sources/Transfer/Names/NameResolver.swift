import Glibc
import Synchronization
import System

/// Looks host names up on dedicated threads, since the system's resolver blocks.
///
/// libcurl's resolver starts a thread and a lookup for each transfer, and does not distinguish a name that does not exist from
/// a resolver that fails.
final class NameResolver: Sendable {
  /// Looks a name up; may block.
  typealias LookUp = @Sendable (_ name: String) -> NameLookup

  private struct State {
    var names: [String] = []
    var threads = 0
    var isClosed = false
  }

  /// The most threads that look names up; further names wait.
  private static let maxThreads = 256

  /// Enough for `getaddrinfo` and the modules of `/etc/nsswitch.conf`.
  private static let stackBytes = 256 << 10

  private let state = Mutex(State())
  private let lookUp: LookUp
  private let completion: @Sendable (String, NameLookup) -> Void

  /// - Parameter completion: Called on a thread of the resolver.
  init(_ lookUp: @escaping LookUp, completion: @escaping @Sendable (String, NameLookup) -> Void) {
    (self.lookUp, self.completion) = (lookUp, completion)
  }

  /// Looks a name up as soon as a thread is free.
  func start(_ name: String) {
    let needsThread = state.withLock { state in
      guard !state.isClosed else { return false }
      state.names.append(name)
      guard state.threads < Self.maxThreads else { return false }
      state.threads += 1
      return true
    }
    guard needsThread else { return }
    do throws(SystemError) {
      try NativeThread("a thread that looks names up", stackBytes: Self.stackBytes) { [self] in
        while let name = nextName() { completion(name, lookUp(name)) }
      }.detach()
    } catch {
      // An existing thread takes the name, if there is any.
      let isAlone = state.withLock { state in
        state.threads -= 1
        return state.threads == 0
      }
      if isAlone { fail() }
    }
  }

  /// Drops a name whose lookup has not begun.
  /// - Returns: Whether it is dropped; otherwise its lookup is under way, or has ended.
  func withdraw(_ name: String) -> Bool {
    state.withLock { state in
      guard let index = state.names.firstIndex(of: name) else { return false }
      state.names.remove(at: index)
      return true
    }
  }

  /// Drops the names that are not being looked up. Does not wait for the others: a resolver may hang.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.names = []
    }
  }

  /// The next name; `nil` without any: the thread ends.
  private func nextName() -> String? {
    state.withLock { state in
      guard !state.names.isEmpty else {
        state.threads -= 1
        return nil
      }
      return state.names.removeFirst()
    }
  }

  private func fail() {
    let names = state.withLock { state in
      defer { state.names = [] }
      return state.names
    }
    for name in names { completion(name, .exhausted(EAGAIN)) }
  }
}
