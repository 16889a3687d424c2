import Foundation
import TestSupport
import Testing

@testable import DarkroomCLI

/// A command of the program, run within the test's process: as `DarkroomProcess.run`, without the time that a process takes to
/// start. Not for what belongs to the process (signals, standard input), and of `run` and `watch` only for their mistakes.
enum DarkroomCommand {
  /// Runs a command to its end.
  /// - Parameters: As those of `DarkroomProcess.run`, and:
  ///   - output: What it has as standard output, of which nothing is returned then; not together with a folder.
  /// - Throws: `StandardOutput.Failure` when nobody reads its output.
  static func run(
    _ words: [String], in folder: TemporaryFolder? = nil, environment: [String: String] = [:], output: Int32? = nil
  ) throws -> DarkroomProcess.Finished {
    guard folder == nil || OwnThread.mayHaveFolder else {
      return try DarkroomProcess.run(words, in: folder, environment: environment)
    }
    let (printed, said) = (try MemoryFile(), try MemoryFile())
    let variables = DarkroomProcess.variables(environment)
    let status = try OwnThread.run(in: folder?.path) {
      func run() throws -> Int32 {
        try Program.run(
          words, environment: variables, output: output ?? printed.descriptor, errors: said.descriptor
        ).rawValue
      }
      return changesFolders.contains(words.first ?? "") ? try SpawnedProcess.whileNoneStarts(run) : try run()
    }
    return .init(status: status, output: try printed.text(), error: try said.text())
  }

  /// The commands that write what an instance reads, which finds out whether somebody has it open.
  private static let changesFolders: Set = ["add", "retry", "pause", "resume", "cancel"]
}

extension DarkroomFolders {
  /// Runs a command that asks for something in the folders, or changes it, within the test's process.
  func ask(_ command: String, _ more: [String] = []) throws -> DarkroomProcess.Finished {
    try DarkroomCommand.run([command] + named + more)
  }

  /// What `status --json` prints, which follows its schema.
  @discardableResult
  func statusText(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let status = try ask("status", ["--json"]).expect(status: 0, sourceLocation: sourceLocation).output
    let violations = try JSONSchema.violations(of: Data(status.utf8), name: "status.schema.json")
    #expect(violations == "", sourceLocation: sourceLocation)
    return status
  }

  /// The same, read.
  func status(sourceLocation: SourceLocation = #_sourceLocation) throws -> [String: Any] {
    let text = try statusText(sourceLocation: sourceLocation)
    return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
  }

  /// The report of a job, which follows its schema.
  func validReport(_ job: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Report {
    let violations = try ReportSchema.violations(of: contents(job + "/report.json"))
    #expect(violations == "", sourceLocation: sourceLocation)
    return try report(job)
  }

  /// The lines of a file of JSON.
  func objects(_ path: String) throws -> [[String: Any]] {
    try contents(path).split(separator: UInt8(ascii: "\n")).compactMap {
      try JSONSerialization.jsonObject(with: $0) as? [String: Any]
    }
  }

  /// The reports in a job's `history`, those of earlier runs first, each of which follows its schema.
  func history(_ job: String) throws -> [Report] {
    guard exists(job + "/history") else { return [] }
    let runs = try FileManager.default.contentsOfDirectory(atPath: outbox + "/\(job)/history")
    return try runs.sorted().map { try validReport("\(job)/history/\($0)") }
  }

  /// Expects that `script/check-outbox` finds nothing wrong, and returns what it says.
  @discardableResult
  func checkOutbox(_ options: [String] = [], sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    // In the worker that has Pillow loaded. Whatever it says is shown when it finds something wrong.
    let script = """
      import runpy, sys, traceback
      sys.stderr = sys.stdout
      try:
          runpy.run_path("\(packageRoot)/script/check-outbox", run_name="__main__")
      except SystemExit as end:
          print("ended with", end.code)
      except Exception:
          traceback.print_exc()
      """
    let printed = String(decoding: try TestPython.run(script, [outbox] + options), as: UTF8.self)
    #expect(printed.hasSuffix("ended with 0\n"), "\(printed)", sourceLocation: sourceLocation)
    return printed
  }
}
