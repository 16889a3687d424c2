import CSandbox
import Glibc
import Synchronization
import System

/// A process of which workers are forked: it has loaded and prepared what they need, and has never seen anything from
/// outside. To fork it takes a fifteenth of the time that it takes to start a program, so that there can be a worker for
/// each task that another must not follow.
package final class ForkServer: Sendable {
  private let child: ChildProcess
  private let socket: MessageSocket
  private let program: String
  private let state = Mutex(State())

  private struct State {
    var forks = 0
    var isSpent = false
  }

  /// What errors call it when a worker does not begin.
  package static let startOperation = "start"

  /// How long a worker may take to begin, in seconds.
  private static let patience = 60.0

  /// How many workers are forked of one server at most. They have the same addresses, so that what is learned of one of them
  /// is true for the others.
  private static let maxForks = 1000

  /// Starts a server: a program that calls `serve`.
  /// - Parameters:
  ///   - program: Its path.
  ///   - arguments: Without its name.
  ///   - thread: When it ends, so do the workers.
  package init(_ program: String, _ arguments: [String], on thread: SpawnThread) throws(SystemError) {
    let started = thread.run { Result { () throws(SystemError) in try Self.spawn(program, arguments) } }
    (child, socket) = try started.get()
    self.program = program
  }

  private static func spawn(_ program: String, _ arguments: [String]) throws(SystemError) -> (
    ChildProcess, MessageSocket
  ) {
    let (own, other) = try MessageSocket.pair(wait: 1000)
    var pid: pid_t = 0
    let keepsErrors: Int32 = Confinement.isSanitized ? 1 : 0
    let failure = withStrings(["darkroom"] + arguments) { arguments in
      withStrings(environment) { environment in
        csandbox_spawn(program, arguments, environment, other.descriptor, keepsErrors, &pid)
      }
    }
    withExtendedLifetime(other) {}
    guard failure == 0 else { throw SystemError("posix_spawn", program, code: failure) }
    return (ChildProcess(processID: pid), own)
  }

  /// Whether it can be used, and should be.
  package var isUsable: Bool { state.withLock { !$0.isSpent && $0.forks < Self.maxForks } }

  /// Starts a worker. May be called by several threads at once.
  /// - Parameter wait: How long the worker's socket waits for a message at most, in milliseconds.
  /// - Throws: `SystemError`; of `startOperation` when the worker or the server has ended.
  package func start(wait: Int) throws(SystemError) -> WorkerProcess {
    let (own, other) = try MessageSocket.pair(wait: wait)
    let isSent = socket.send([0], descriptors: [other.descriptor])
    other.close()
    guard isSent else { throw failure }
    var (process, greeting): (ChildProcess?, [UInt8]?) = (nil, nil)
    let began = Clock.monotonicSeconds
    while Clock.monotonicSeconds - began < Self.patience {
      switch own.receive(limit: 1024) {
      case .message(let bytes):
        // The server and the worker write at the same time.
        if process == nil, let pid = Self.processID(in: bytes) {
          process = child(pid)
        } else {
          greeting = bytes
        }
        if let process, let greeting { return WorkerProcess(child: process, socket: own, greeting: greeting) }
      case .nothing: continue
      case .closed: throw failure
      }
    }
    throw failure
  }

  private var failure: SystemError { SystemError(Self.startOperation, program, code: EAGAIN) }

  private func child(_ pid: pid_t) -> ChildProcess {
    state.withLock { state in
      state.forks += 1
      if pid == child.processID { state.isSpent = true }
      return pid == child.processID ? child : ChildProcess(processID: pid)
    }
  }

  /// A server gets no variables but what the loader and the sanitizers need. All symbols are bound at once: otherwise every
  /// fork would look up what it calls.
  private static var environment: [String] {
    let kept = ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"]
    return ["LD_BIND_NOW=1"] + kept.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
  }

  /// Calls a function with an array of C strings that ends with a null pointer.
  private static func withStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = strings.map { strdup($0) } + [nil]
    defer { for copy in copies { free(copy) } }
    return copies.withUnsafeBufferPointer { buffer in
      // An array that is not empty has an address.
      body(buffer.baseAddress.unsafelyUnwrapped)
    }
  }
}

// MARK: In the server

extension ForkServer {
  /// The first byte of the message with a worker's number; no worker's own begins so.
  private static let marker: UInt8 = 0xff

  private static func message(_ pid: pid_t) -> [UInt8] {
    [marker] + withUnsafeBytes(of: pid.littleEndian) { Array($0) }
  }

  private static func processID(in message: [UInt8]) -> pid_t? {
    guard message.count == 5, message[0] == marker else { return nil }
    return pid_t(message.dropFirst().reversed().reduce(0) { $0 << 8 | UInt32($1) })
  }

  /// Makes this process a server, which must have a single thread.
  /// - Parameter limits: What each worker may use.
  /// - Returns: In each worker, once it is confined: what confines it. It has `MessageSocket.inWorker`. The server itself
  ///   ends with its parent.
  package static func serve(_ limits: ProcessLimits) -> Confinement {
    let (parent, steps) = (getppid(), Confinement.Steps())
    while let (_, descriptors) = MessageSocket.inWorker.receiveWithDescriptors(), descriptors.count == 1 {
      let socket = MessageSocket(descriptor: descriptors[0])
      switch fork() {
      case .neither: break
      case .server(let worker): _ = socket.write(message(worker))
      case .both:
        _ = socket.write(message(getpid()))
        fallthrough
      case .worker:
        guard dup2(socket.descriptor, MessageSocket.inWorker.descriptor) >= 0 else { _exit(0) }
        socket.close()
        guard csandbox_end_with(parent) == 1 else { _exit(0) }
        return steps.finish(limits)
      }
    }
    _exit(0)
  }

  /// What this process is after an attempt to fork.
  private enum Role { case server(worker: pid_t), worker, both, neither }

  /// A sanitizer has threads, and an unusual system no such fork: then the server is a worker itself, and the next needs
  /// another server.
  private static func fork() -> Role {
    guard !Confinement.isSanitized else { return .both }
    let pid = csandbox_fork_sibling()
    if pid >= 0 { return pid == 0 ? .worker : .server(worker: pid) }
    return errno == EAGAIN || errno == ENOMEM ? .neither : .both
  }
}

/// A child process that shares a socket with this one and has nothing else of it.
package struct WorkerProcess: Sendable {
  package let child: ChildProcess
  package let socket: MessageSocket

  /// The first message, which it has sent before it has seen anything from outside.
  package let greeting: [UInt8]
}
