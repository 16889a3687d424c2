import Foundation

/// The program itself, as built beside the tests.
package final class DarkroomProcess: @unchecked Sendable {  // used by one test, on one thread at a time
  /// What a finished run said.
  package struct Finished: Sendable {
    package let status: Int32
    package let output: String
    package let error: String
  }

  private let process = Process()
  private let errors = Pipe()
  private let output: FileHandle
  private let outputPath: String
  private var said = ""

  /// Starts the program.
  /// - Parameter environment: Variables besides the test's own.
  package init(_ arguments: [String], environment: [String: String] = [:], folder: String? = nil) throws {
    outputPath = FileManager.default.temporaryDirectory.path + "/darkroom-output-\(UUID().uuidString)"
    try Data().write(to: URL(fileURLWithPath: outputPath))
    output = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
    process.executableURL = Self.executable
    process.arguments = arguments
    var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("DARKROOM_") }
    variables.merge(environment) { $1 }
    process.environment = variables
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    try? FileManager.default.removeItem(atPath: outputPath)
  }

  /// Runs the program to its end.
  package static func run(
    _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
  ) throws -> Finished {
    try DarkroomProcess(arguments, environment: environment, folder: folder).finish()
  }

  package var processID: Int32 { process.processIdentifier }

  package func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits until a line of the log holds a text, and returns the line; nil when the program ends without it.
  package func waitForLine(containing text: String) throws -> String? {
    var line = Data()
    while let byte = try errors.fileHandleForReading.read(upToCount: 1)?.first {
      guard byte == UInt8(ascii: "\n") else {
        line.append(byte)
        continue
      }
      let complete = String(decoding: line, as: UTF8.self)
      said += complete + "\n"
      if complete.contains(text) { return complete }
      line.removeAll()
    }
    return nil
  }

  /// Waits for the end.
  package func finish() throws -> Finished {
    said += String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return Finished(
      status: process.terminationStatus, output: try String(contentsOfFile: outputPath, encoding: .utf8), error: said)
  }

  /// The product lies in the folder of the test bundle.
  private static let executable: URL = {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("darkroom")
  }()
}
