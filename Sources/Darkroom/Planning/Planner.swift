import Foundation
import Manifests

/// Reads a manifest into an index: everything is checked before anything is done.
struct Planner {
  /// More problems than this are not reported.
  static let problemLimit = ManifestProblem.reportLimit

  let format: any ManifestFormat
  let file: ManifestFile
  let defaults: EntryDefaults

  /// Fills the index.
  /// - Parameter checkSpace: Called from time to time; what it throws ends the planning.
  /// - Returns: What makes the whole manifest rejected, and what is doubtful.
  /// - Throws: `SystemError`, `SQLiteError`; `CancellationError` soon after `isCancelled` returns true.
  func plan(
    into index: JobIndex, isCancelled: () -> Bool = { false }, checkSpace: () throws -> Void = {}
  ) throws -> ManifestFindings {
    var reader = EntryReader(defaults: defaults)
    var findings = ManifestFindings()
    var clashes = NameClashes()
    var position = 0
    do {
      try index.fill {
        try format.read(file, .entries) { item in
          if isCancelled() { throw CancellationError() }
          if position & 4095 == 4095 { try checkSpace() }
          switch item {
          case .defaults(let value, let place): reader.readDefaults(value, at: place)
          case .entry(let value, let key, let place):
            let entry = reader.read(value, key: key, position: position, at: place)
            if let entry { try index.insert(entry) }
            // Also of an entry with a problem, so that all names are told that clash.
            if let name = reader.givenName, let holder = try index.claim(name.claim, for: position) {
              let written = value["name"]?.string ?? key ?? name.path
              let problem = clashes.add(written, holder: holder, problem: reader.problems.count, at: place)
              reader.report(problem)
            }
            position += 1
          case .warning(let warning): findings.warnings.append(warning)
          case .unreadable(let problems):
            for problem in problems.all { reader.report(problem) }
            position += 1
          }
          if reader.problems.count >= Self.problemLimit { throw EnoughProblems() }
        }
        if reader.problems.isEmpty { clashes.renamed = try index.settleNames() }
      }
    } catch let problem as ManifestProblem {
      reader.report(problem)
    } catch is EnoughProblems {}
    findings.problems = Array(reader.problems.prefix(Self.problemLimit))
    try clashes.complete(&findings) { body in
      try format.read(file, .entries) { item in
        if isCancelled() { throw CancellationError() }
        try body(item)
      }
    }
    findings.warnings = Array(findings.warnings.prefix(ManifestWarning.reportLimit))
    return findings
  }

  /// Reading on would tell nothing more.
  private struct EnoughProblems: Error {}
}
