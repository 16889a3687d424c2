import Foundation

/// A server that runs for one test, killed when the value is released.
final class ChildProcess: Sendable {
  private let process: SpawnedProcess

  /// What it prints, if asked for.
  let output = Pipe()

  /// Starts it. Its standard error is the test run's.
  init(_ executable: String, _ arguments: [String]) throws {
    process = try SpawnedProcess(executable, arguments, output: .pipe(output))
  }

  /// Waits for its end, or its next output, so many milliseconds at most. Returns whether it came.
  func ends(within milliseconds: Int32) -> Bool {
    var end = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    return poll(&end, 1, milliseconds) > 0
  }

  /// Waits for its next line of output and returns it without the line break; what there is when it ends before.
  /// - Throws: `LineReader.Silence` when none comes within five minutes.
  func nextLine() throws -> String { try LineReader(output).next() ?? "" }

  /// The first of the paths that is an executable file.
  static func executable(_ paths: [String]) throws -> String {
    guard let found = paths.first(where: FileManager.default.isExecutableFile) else {
      throw NotFound(paths: paths)
    }
    return found
  }

  /// A program that the tests need is not installed.
  struct NotFound: Error {
    let paths: [String]
  }
}
