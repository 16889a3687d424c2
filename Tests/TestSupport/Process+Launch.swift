import Foundation

extension Process {
  private static let turn = NSLock()

  /// Makes and runs a process, the only one at this moment. A child inherits what another thread opens for its own while
  /// `run` is at work; the end of that one is then not noticed as long as the child lives, and who waits for it hangs.
  /// - Parameter configure: Called before it runs, with pipes to be made here for the same reason.
  package static func launch<Pipes>(
    _ executable: String, _ arguments: [String], configure: (Process) throws -> Pipes
  ) throws -> (process: Process, pipes: Pipes) {
    try turn.withLock {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: executable)
      process.arguments = arguments
      let pipes = try configure(process)
      try process.run()
      return (process, pipes)
    }
  }
}
