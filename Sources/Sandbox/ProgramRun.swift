import CSandbox
import Glibc
import Synchronization
import System

/// One run of a program, not confined, without arguments and input, in a process group of its own.
package struct ProgramRun: Sendable {
  /// Its path.
  package let program: String

  /// All of its variables.
  package let environment: [String: String]

  /// How long it may take, in seconds; then its process group is killed.
  package let limit: Double

  private struct Running {
    /// None has been waited for, so their numbers cannot belong to other processes.
    var processes: Set<pid_t> = []
    var isOver = false
  }

  /// The programs that run now.
  private static let running = Mutex(Running())

  /// Kills the programs that run, with their process groups, and those that are started later: this process ends at once. None of
  /// them has ended by itself then, but was stopped.
  package static func killAll() {
    running.withLock { running in
      running.isOver = true
      for process in running.processes { Glibc.kill(-process, SIGKILL) }
    }
  }

  package enum Ending: Sendable, Equatable {
    case ended(ChildProcess.Ending)
    /// It was killed, since its time was over.
    case timedOut
    /// It was killed, since the caller has ended the wait.
    case stopped
  }

  package init(_ program: String, environment: [String: String], limit: Double) {
    (self.program, self.environment, self.limit) = (program, environment, limit)
  }

  /// Runs the program to its end. What it has started in the background lives on, without an output.
  /// - Parameters:
  ///   - print: Called with the lines that it prints, on standard output and standard error.
  ///   - wait: Calls its argument, which waits for a moment with `Mailbox.wait(by:)`; returns whether to go on.
  /// - Throws: `SystemError` when it cannot be started.
  package func run(
    print: (String) -> Void, wait: (_ watch: (_ descriptor: Int32) -> Bool) -> Bool
  ) throws(SystemError) -> Ending {
    guard !Self.running.withLock({ $0.isOver }) else {
      // None is started again while this process ends, which may take a moment.
      poll(nil, 0, 20)
      return .stopped
    }
    let (child, output) = try start()
    defer { close(output) }
    Self.running.withLock { _ = $0.processes.insert(child.processID) }
    let deadline = Clock.monotonicSeconds + limit
    var lines = OutputLines()
    defer { lines.end(print) }
    var isOpen = true
    while true {
      // Before its output is read for the last time.
      let hasEnded = csandbox_has_ended(child.processID) == 1
      if isOpen { isOpen = Self.read(output, into: &lines, print) }
      if Self.running.withLock({ $0.isOver }) { return kill(child, .stopped) }
      if hasEnded {
        Self.running.withLock { _ = $0.processes.remove(child.processID) }
        return .ended(child.wait())
      }
      if Clock.monotonicSeconds >= deadline { return kill(child, .timedOut) }
      let mayContinue = wait { descriptor in
        var watched = [descriptor, isOpen ? output : -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&watched, nfds_t(watched.count), 20)
        return watched[0].revents != 0
      }
      guard mayContinue else { return kill(child, .stopped) }
    }
  }

  private func start() throws(SystemError) -> (ChildProcess, output: Int32) {
    var (process, output): (pid_t, Int32) = (0, -1)
    let failure = withCStrings(environment.map { "\($0)=\($1)" }) { variables in
      csandbox_spawn_program(program, variables, &output, &process)
    }
    guard failure == 0 else { throw SystemError("posix_spawn", program, code: failure) }
    return (ChildProcess(processID: process), output)
  }

  /// Kills the process group. The process has not been waited for, so its number cannot belong to another group.
  private func kill(_ child: ChildProcess, _ ending: Ending) -> Ending {
    Glibc.kill(-child.processID, SIGKILL)
    Self.running.withLock { _ = $0.processes.remove(child.processID) }
    child.end()
    return ending
  }

  /// Reads what has been printed, up to a limit.
  /// - Returns: Whether more may follow.
  private static func read(_ output: Int32, into lines: inout OutputLines, _ print: (String) -> Void) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var watched = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
    for _ in 0..<16 {
      guard poll(&watched, 1, 0) > 0 else { return true }
      let count = uninterrupted { Glibc.read(output, &buffer, buffer.count) }
      guard count > 0 else { return false }
      lines.add(buffer[..<count], print)
    }
    return true
  }
}

/// Divides the output of a program into lines, of which the first ones and the last count.
struct OutputLines {
  /// The most lines before the last.
  static let maxLines = 100

  /// The most bytes of a line; the rest is cut off.
  static let maxBytes = 1000

  private var line: [UInt8] = []
  private var isCut = false
  private var count = 0

  /// The last line that is not empty, of those after the first ones.
  private var last: (bytes: [UInt8], isCut: Bool)?

  mutating func add(_ bytes: ArraySlice<UInt8>, _ print: (String) -> Void) {
    for byte in bytes {
      if byte == UInt8(ascii: "\n") {
        endLine(print)
      } else if line.count < Self.maxBytes {
        line.append(byte)
      } else {
        isCut = true
      }
    }
  }

  private mutating func endLine(_ print: (String) -> Void) {
    count += 1
    if count <= Self.maxLines { print(text(line, isCut)) } else if !line.isEmpty { last = (line, isCut) }
    (line, isCut) = ([], false)
  }

  private func text(_ line: [UInt8], _ isCut: Bool) -> String {
    String(decoding: line, as: UTF8.self) + (isCut ? "…" : "")
  }

  /// Ends the last line. When lines were left out, prints how many, and the last of them that is not empty, which often says why a
  /// program failed.
  mutating func end(_ print: (String) -> Void) {
    if !line.isEmpty { endLine(print) }
    let left = count - Self.maxLines - (last == nil ? 0 : 1)
    if left > 0 { print("… and \(left.of("more line", "more lines"))") }
    if let last { print(text(last.bytes, last.isCut)) }
  }
}
