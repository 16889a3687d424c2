import JSON

/// One thing that makes a whole manifest rejected.
package struct ManifestProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// What kind of problem it is; the raw values are the report's.
  package enum Code: String, Sendable, CaseIterable {
    case syntax, encoding, cycle
    case tooLarge = "too-large"
    case tooDeep = "too-deep"
    case unknownField = "unknown-field"
    case wrongType = "wrong-type"
    case badValue = "bad-value"
    case duplicateName = "duplicate-name"
    case unknownDependency = "unknown-dependency"
    case badRecipe = "bad-recipe"
    case sourceFailed = "source-failed"
  }

  /// Where in the manifest.
  package indirect enum Place: Sendable, Equatable, CustomStringConvertible {
    case file
    /// In the list that the manifest names as its source.
    case source(Place)
    /// A line from 1 and, when known, a column from 1.
    case line(Int, column: Int? = nil)
    /// Keys, and positions like `[2]`, from the outside in.
    case keyPath([String])
    /// A field of the object that stands on a line.
    case field(String, line: Int)

    package var description: String {
      switch self {
      case .file: ""
      case .line(let line, nil): "line \(line)"
      case .line(let line, let column?): "line \(line), column \(column)"
      case .keyPath(let path): path.reduce("") { $0 + ($0.isEmpty || $1.hasPrefix("[") ? $1 : "." + $1) }
      case .field(let field, let line): "line \(line): \(field)"
      case .source(.file): "source"
      case .source(let place): "source: \(place)"
      }
    }

    /// The place of a field of what stands here.
    package func field(_ name: String) -> Place {
      switch self {
      case .file: .keyPath([name])
      case .line(let line, _): .field(name, line: line)
      case .keyPath(let path): .keyPath(path + [name])
      case .source(let place): .source(place.field(name))
      case .field(let outer, let line): .field(outer + "." + name, line: line)
      }
    }
  }

  /// More problems of one manifest than this are not reported.
  package static let reportLimit = 100

  package let code: Code
  package let message: String
  package let place: Place

  package init(_ code: Code, _ message: String, at place: Place) {
    self.code = code
    self.message = message
    self.place = place
  }

  /// A JSON text that cannot be read, in the manifest's words.
  package init(_ error: JSONError) {
    let code: Code =
      switch error.code {
      case .empty, .syntax, .duplicateKey: .syntax
      case .encoding: .encoding
      case .tooDeep: .tooDeep
      case .numberTooLarge: .badValue
      }
    let place: Place =
      switch error.place {
      case .line(let line, let column): .line(line, column: column)
      case .keyPath(let path): .keyPath(path)
      }
    self.init(code, error.code == .empty ? "the file is empty" : error.message, at: place)
  }

  package var description: String {
    place.description.isEmpty ? message : "\(place): \(message)"
  }

  /// The same of a value that stands on a line: where there is a key path only, the line is added.
  func inside(line: Int) -> ManifestProblem {
    guard case .keyPath(let path) = place, !path.isEmpty else { return self }
    return ManifestProblem(code, message, at: .field(place.description, line: line))
  }
}

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
