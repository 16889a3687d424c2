import CSpawn
import Foundation
import Synchronization

/// A child process by `posix_spawn`: in a group of its own, with the signals as a shell leaves them, and without a descriptor
/// but its three streams.
///
/// Foundation's `Process` reads beyond an entry of `/proc/self/fd` (swift-corelibs-foundation 5472), which crashes some of
/// the runs of a process with over 1360 descriptors, and looks for the end of a child 20 times a second.
package final class SpawnedProcess: Sendable {
  /// What a standard stream of the child is.
  package enum Stream {
    /// `/dev/null`.
    case null

    /// That of this process.
    case inherited

    case file(FileHandle)

    /// The child gets the other end than this process, which does not keep that end.
    case pipe(Pipe)
  }

  /// Held while a child is started.
  private static let starting = Mutex(())

  /// Those that have not been waited for.
  private static let running = Mutex<Set<pid_t>>([])

  package let id: pid_t
  private let words: [String]
  private let startedBy = TestTimes.current
  private let status = Mutex<Int32?>(nil)

  /// Starts a program.
  /// - Parameters:
  ///   - environment: All of its variables; those of this process by default.
  ///   - folder: Where it runs; where this process does by default.
  /// - Throws: `POSIXError`.
  package init(
    _ executable: String, _ arguments: [String] = [], environment: [String: String]? = nil, in folder: String? = nil,
    input: Stream = .null, output: Stream = .inherited, errors: Stream = .inherited
  ) throws {
    words = [executable] + arguments.prefix(3)
    var actions = posix_spawn_file_actions_t()
    try Self.check(posix_spawn_file_actions_init(&actions))
    defer { posix_spawn_file_actions_destroy(&actions) }
    var attributes = posix_spawnattr_t()
    try Self.check(posix_spawnattr_init(&attributes))
    defer { posix_spawnattr_destroy(&attributes) }

    for (number, stream) in [input, output, errors].enumerated() {
      switch stream {
      case .null: try Self.check(posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0))
      case .inherited: break
      case .file(let file):
        try Self.check(posix_spawn_file_actions_adddup2(&actions, file.fileDescriptor, Int32(number)))
      case .pipe(let pipe):
        let end = number == 0 ? pipe.fileHandleForReading : pipe.fileHandleForWriting
        try Self.check(posix_spawn_file_actions_adddup2(&actions, end.fileDescriptor, Int32(number)))
      }
    }
    try Self.check(posix_spawn_file_actions_addclosefrom_np(&actions, 3))
    if let folder { try Self.check(posix_spawn_file_actions_addchdir_np(&actions, folder)) }

    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    try Self.check(posix_spawnattr_setflags(&attributes, Int16(flags)))
    try Self.check(posix_spawnattr_setsigmask(&attributes, &none))
    try Self.check(posix_spawnattr_setsigdefault(&attributes, &all))

    let variables = environment ?? ProcessInfo.processInfo.environment
    var child: pid_t = 0
    try Self.withStrings([executable] + arguments) { arguments in
      try Self.withStrings(variables.map { "\($0)=\($1)" }) { variables in
        // Returns when the child has begun its program.
        let failed = Self.whileNoneStarts {
          posix_spawn(&child, executable, &actions, &attributes, arguments, variables)
        }
        try Self.check(failed)
      }
    }
    id = child
    _ = Self.running.withLock { $0.insert(child) }
    if case .pipe(let pipe) = input { try pipe.fileHandleForReading.close() }
    for case .pipe(let pipe) in [output, errors] { try pipe.fileHandleForWriting.close() }
  }

  /// Does something while no child is started. Until its program begins a child has what this process has open, and a file
  /// that is closed meanwhile is closed only then: it still looks as if somebody wrote it.
  package static func whileNoneStarts<Result>(_ body: () throws -> Result) rethrows -> Result {
    try starting.withLock { _ in try body() }
  }

  /// Runs a program to its end.
  /// - Returns: As `wait`.
  package static func run(
    _ executable: String, _ arguments: [String], in folder: String? = nil, errors: Stream = .inherited
  ) throws -> Int32 {
    try SpawnedProcess(executable, arguments, in: folder, errors: errors).wait()
  }

  /// Waits for its end.
  /// - Returns: Its exit code, or the signal that ended it.
  @discardableResult
  package func wait() -> Int32 {
    status.withLock { status in
      if let status { return status }
      var ended: Int32 = 0
      var used = rusage()
      while wait4(id, &ended, 0, &used) < 0, errno == EINTR {}
      let seconds = [used.ru_utime, used.ru_stime].map { Double($0.tv_sec) + Double($0.tv_usec) / 1e6 }.reduce(0, +)
      TestTimes.record(processor: seconds, words, of: startedBy)
      let signal = ended & 0x7f
      let code = signal == 0 ? (ended >> 8) & 0xff : signal
      status = code
      _ = Self.running.withLock { $0.remove(id) }
      return code
    }
  }

  /// Kills all that have not been waited for, and what they have started in their groups.
  static func killAll() {
    running.withLock { for id in $0 { kill(-id, SIGKILL) } }
  }

  /// Sends it a signal, unless its end has been waited for.
  package func send(_ signal: Int32) {
    status.withLock { status in
      if status == nil { kill(id, signal) }
    }
  }

  deinit {
    send(SIGKILL)
    wait()
  }

  private static func check(_ code: Int32) throws {
    if code != 0 { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
  }

  /// Makes an array of C strings that ends with a null pointer.
  private static func withStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
  ) rethrows -> Result {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return try body(copies + [nil])
  }
}
