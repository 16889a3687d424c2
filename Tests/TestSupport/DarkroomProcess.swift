import Foundation
import Testing

/// The program itself, as built beside the tests.
package final class DarkroomProcess: @unchecked Sendable {  // used by one test, on one thread at a time
  /// What a finished run said.
  package struct Finished: Sendable {
    package let status: Int32
    package let output: String
    package let error: String

    package init(status: Int32, output: String, error: String) {
      (self.status, self.output, self.error) = (status, output, error)
    }

    /// Expects that the run ended so.
    @discardableResult
    package func expect(status expected: Int32, sourceLocation: SourceLocation = #_sourceLocation) -> Finished {
      if status != expected {
        Issue.record("ended with \(status) instead of \(expected): \(error)", sourceLocation: sourceLocation)
      }
      return self
    }
  }

  private let process: SpawnedProcess
  private let errors = Pipe()
  private let outputPath: String
  private var said = ""

  /// Starts the program.
  /// - Parameters:
  ///   - folder: Where it runs; the default folders `inbox` and `outbox` are found or made there.
  ///   - environment: Added to the test run's, of which `DARKROOM_…` and proxies are left out.
  package convenience init(
    _ arguments: [String], in folder: TemporaryFolder? = nil, environment: [String: String] = [:]
  ) throws {
    try self.init(Self.path, arguments, folder, environment)
  }

  /// Starts lines of bash, in which `darkroom` is the program.
  package convenience init(script: String, in folder: TemporaryFolder, environment: [String: String] = [:]) throws {
    try self.init("/bin/bash", ["-euc", script], folder, environment)
  }

  private init(
    _ executable: String, _ arguments: [String], _ folder: TemporaryFolder?, _ environment: [String: String]
  ) throws {
    outputPath = TemporaryFolder.parent + "/darkroom-output-\(UUID().uuidString)"
    try Data().write(to: URL(fileURLWithPath: outputPath))
    let output = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
    process = try SpawnedProcess(
      executable, arguments, environment: Self.variables(environment), in: folder?.path, output: .file(output),
      errors: .pipe(errors))
  }

  /// The environment of the program.
  /// - Parameter given: Added to the test run's, of which `DARKROOM_…` and proxies are left out.
  package static func variables(_ given: [String: String]) -> [String: String] {
    var variables = ProcessInfo.processInfo.environment.filter {
      !$0.key.hasPrefix("DARKROOM_") && !$0.key.lowercased().hasSuffix("_proxy")
    }
    // What other programs leave of the machine's memory is none of a test's business.
    variables["DARKROOM_TEST_KERNEL_ROOT"] = "/dev/null"
    variables["PATH"] = products.path + ":" + (variables["PATH"] ?? "/usr/bin:/bin")
    return variables.merging(given) { _, given in given }
  }

  deinit {
    process.send(SIGKILL)
    process.wait()
    try? FileManager.default.removeItem(atPath: outputPath)
  }

  /// Runs the program to its end.
  package static func run(
    _ arguments: [String], in folder: TemporaryFolder? = nil, environment: [String: String] = [:]
  ) throws -> Finished {
    try DarkroomProcess(arguments, in: folder, environment: environment).finish()
  }

  /// Runs lines of bash, up to the first that fails, in which `darkroom` is the program.
  package static func run(
    script: String, in folder: TemporaryFolder, environment: [String: String] = [:]
  ) throws -> Finished {
    try DarkroomProcess(script: script, in: folder, environment: environment).finish()
  }

  package var processID: Int32 { process.id }

  package func send(_ signal: Int32) { process.send(signal) }

  /// Tells the program to stop, as a service manager does, and expects that it ends well.
  @discardableResult
  package func stop(sourceLocation: SourceLocation = #_sourceLocation) throws -> Finished {
    send(SIGTERM)
    return try finish().expect(status: 0, sourceLocation: sourceLocation)
  }

  /// Kills the program, and returns when it is gone.
  package func kill() throws {
    send(SIGKILL)
    _ = try finish()
  }

  /// Waits until a line of the log holds a text, and returns the line; nil when the program ends without it.
  /// - Throws: When it says nothing for five minutes.
  package func waitForLine(containing text: String) throws -> String? {
    let lines = LineReader(errors)
    while let line = try lines.next() {
      said += line + "\n"
      if line.contains(text) { return line }
    }
    return nil
  }

  /// Waits for the end.
  package func finish() throws -> Finished {
    said += String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    return Finished(
      status: process.wait(), output: try String(contentsOfFile: outputPath, encoding: .utf8), error: said)
  }

  /// The path of the program, for tests that start it in their own way.
  package static var path: String { products.appendingPathComponent("darkroom").path }

  /// The program lies beside the test bundle, whatever the build's configuration and place.
  private static let products: URL = {
    let bundle = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: bundle ?? "").deletingLastPathComponent()
  }()
}
