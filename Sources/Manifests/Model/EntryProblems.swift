/// What is wrong with an entry: at least one problem, so that none is dropped without a word.
package struct EntryProblems: Sendable, Equatable {
  /// In the manifest's order; never empty.
  package let all: [ManifestProblem]

  package init(_ problem: ManifestProblem) { all = [problem] }

  /// nil for none.
  package init?(_ problems: [ManifestProblem]) {
    guard !problems.isEmpty else { return nil }
    all = problems
  }
}
