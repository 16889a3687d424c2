import CSandbox
import Glibc
import Synchronization
import System

/// A process from which workers are forked: it has loaded and prepared what they need, and has never read anything from
/// outside. A fork takes a fifteenth of the time of a program's start, so that a task after which no other may follow can
/// have its own worker.
package final class ForkServer: Sendable {
  private let child: ChildProcess
  private let socket: MessageSocket
  private let program: String
  private let state = Mutex(State())

  private struct State {
    var forks = 0
    var isSpent = false
  }

  /// The operation of errors when a worker does not start.
  package static let startOperation = "start"

  /// The time limit for the start of a worker, in seconds.
  private static let startLimit = 60.0

  /// The most workers of one server. They share their address layout, so that an attacker who learns it from one knows it for
  /// the others.
  private static let maxForks = 1000

  /// Starts a server: a program that calls `serve`.
  /// - Parameters:
  ///   - program: Its path.
  ///   - arguments: Without its name.
  ///   - thread: The workers end with this thread.
  package init(_ program: String, _ arguments: [String], on thread: SpawnThread) throws(SystemError) {
    let started = try thread.run { Result { () throws(SystemError) in try Self.spawn(program, arguments) } }
    (child, socket) = try started.get()
    self.program = program
  }

  private static func spawn(_ program: String, _ arguments: [String]) throws(SystemError) -> (
    ChildProcess, MessageSocket
  ) {
    let (own, other) = try MessageSocket.pair(wait: 1000)
    var pid: pid_t = 0
    let keepsErrors: Int32 = Confinement.isSanitized ? 1 : 0
    let failure = withCStrings(["darkroom"] + arguments) { arguments in
      withCStrings(environment) { environment in
        csandbox_spawn(program, arguments, environment, other.descriptor, keepsErrors, &pid)
      }
    }
    withExtendedLifetime(other) {}
    guard failure == 0 else { throw SystemError("posix_spawn", program, code: failure) }
    return (ChildProcess(processID: pid), own)
  }

  /// Whether it works, and has not reached the limit of forks.
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
    while Clock.monotonicSeconds - began < Self.startLimit {
      switch own.receive(limit: 1024) {
      case .message(let bytes):
        // The server and the worker write at the same time.
        if process == nil, let pid = Self.processID(in: bytes) {
          process = child(pid)
        } else {
          greeting = bytes
        }
        if let process, let greeting { return WorkerProcess(child: process, socket: own, greeting: greeting) }
      case .nothing where process == nil && child.hasEnded: throw failure
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

  /// The variables of a server: only those that the loader and the sanitizers need. All symbols are bound at once, so that forks
  /// need not look them up. Where the kernel leaves that to programs, the C library asks for huge pages: a picture that is
  /// held whole has thousands of pages otherwise, and mapping them takes up to a fifth of its time.
  private static var environment: [String] {
    let kept = ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS"]
    return ["LD_BIND_NOW=1", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"]
      + kept.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
  }
}

// MARK: In the server

extension ForkServer {
  /// The first byte of a message with a worker's number; no message of a worker begins with it.
  private static let marker: UInt8 = 0xff

  private static func message(_ pid: pid_t) -> [UInt8] {
    [marker] + withUnsafeBytes(of: pid.littleEndian) { Array($0) }
  }

  private static func processID(in message: [UInt8]) -> pid_t? {
    guard message.count == 5, message[0] == marker else { return nil }
    return pid_t(message.dropFirst().reversed().reduce(0) { $0 << 8 | UInt32($1) })
  }

  /// Turns this process, which must have a single thread, into a server.
  /// - Parameter limits: The limits of each worker.
  /// - Returns: In each worker, once it is confined, its confinement; its socket is `MessageSocket.inWorker`. The server itself
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

  /// The role of this process after an attempt to fork.
  private enum Role { case server(worker: pid_t), worker, both, neither }

  /// With the threads of a sanitizer, and on a system without such a fork, the server becomes a worker itself, and the next
  /// worker needs another server.
  private static func fork() -> Role {
    guard !Confinement.isSanitized else { return .both }
    let pid = csandbox_fork_sibling()
    if pid >= 0 { return pid == 0 ? .worker : .server(worker: pid) }
    return errno == EAGAIN || errno == ENOMEM ? .neither : .both
  }
}

/// A child process that shares only a socket with this one.
package struct WorkerProcess: Sendable {
  package let child: ChildProcess
  package let socket: MessageSocket

  /// Its first message, sent before it reads anything from outside.
  package let greeting: [UInt8]
}
