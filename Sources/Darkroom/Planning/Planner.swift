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
    var position = 0
    do {
      try index.fill {
        try format.read(file, .entries) { item in
          if isCancelled() { throw CancellationError() }
          if position & 4095 == 4095 { try checkSpace() }
          switch item {
          case .defaults(let value, let place): reader.readDefaults(value, at: place)
          case .entry(let value, let key, let place):
            if let entry = reader.read(value, key: key, position: position, at: place) {
              try index.insert(entry)
              if entry.isNameExplicit, let holder = try index.claim(OutputName.claim(entry.name), for: position) {
                reader.reportDuplicate(of: entry.name, holder: holder, at: place)
              }
            }
            position += 1
          case .warning(let warning): findings.warnings.append(warning)
          case .unreadable(let problems):
            for problem in problems { reader.report(problem) }
            position += 1
          }
          if reader.problems.count >= Self.problemLimit { throw EnoughProblems() }
        }
        if reader.problems.isEmpty { try index.settleDerivedNames() }
      }
    } catch let problem as ManifestProblem {
      reader.report(problem)
    } catch is EnoughProblems {}
    findings.problems = Array(reader.problems.prefix(Self.problemLimit))
    findings.warnings = Array(findings.warnings.prefix(ManifestWarning.reportLimit))
    return findings
  }

  /// Reading on would tell nothing more.
  private struct EnoughProblems: Error {}
}
