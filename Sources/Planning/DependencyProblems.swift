import JobIndex
import Manifests

/// The problems with dependencies between entries: unknown names and cycles.
struct DependencyProblems {
  /// A problem of an entry whose location is not known yet.
  private struct Problem {
    let position: Int
    let code: ManifestProblem.Code
    let message: String
  }

  /// The most entries of a cycle that a message names. It gives the number of the others.
  static let shownLimit = 20

  /// In the manifest's order.
  private var problems: [Problem] = []

  init() {}

  /// Finds the problems of an index with final names.
  /// - Throws: `SQLiteError`.
  init(of index: JobIndex) throws {
    let limit = ManifestProblem.reportLimit
    problems = try index.unknownDependencies(limit: limit).map { position, name, isOfVariant in
      let shown = "\"\(EntryOrigin.shown(name))\""
      let message =
        isOfVariant
        ? "\(shown) is a variant, and no entry; name its entry: this one then comes after all variants of that"
        : "there is no entry \(shown) that this one could come after"
      return Problem(position: position, code: .unknownDependency, message: message)
    }
    problems += try index.dependencyCycles(limit: limit).map { cycle in
      let names = try (cycle.prefix(Self.shownLimit) + [cycle[0]]).map { position in
        "\"\(EntryOrigin.shown(try index.shownName(at: position) ?? "entry \(position + 1)"))\""
      }
      var parts = Array(names.dropLast())
      if cycle.count > parts.count { parts.append("\(cycle.count - parts.count) more") }
      let message = "entries come after themselves: " + (parts + names.suffix(1)).joined(separator: " after ")
      return Problem(position: cycle[0], code: .cycle, message: message)
    }
    problems.sort { ($0.position, $0.message) < ($1.position, $1.message) }
  }

  /// Adds the problems, with their locations, to the findings.
  /// - Parameter read: Reads the manifest from its beginning, with the same items as before.
  func complete(_ findings: inout ManifestFindings, read: ((ManifestItem) throws -> Void) throws -> Void) throws {
    let problems = problems.prefix(ManifestProblem.reportLimit - findings.problems.count)
    guard !problems.isEmpty else { return }
    let origins = try EntryOrigin.all(of: Set(problems.map(\.position)), read: read)
    for problem in problems {
      let location = origins[problem.position]?.location.field("after") ?? .file
      let found = ManifestProblem(problem.code, problem.message, at: location)
      // The variants of an entry have the same problem.
      if !findings.problems.contains(found) { findings.problems.append(found) }
    }
  }
}
