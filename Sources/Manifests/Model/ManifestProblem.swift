import JSON

/// A reason for which a whole manifest is rejected.
package struct ManifestProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of problem; the raw values are the report's.
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

  /// A location in the manifest.
  package indirect enum Location: Sendable, Equatable, CustomStringConvertible {
    case file
    /// In the list that the manifest names as its source.
    case source(Location)
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
      case .source(let location): "source: \(location)"
      }
    }

    /// The line, from 1; nil for other locations.
    package var line: Int? {
      switch self {
      case .line(let line, _), .field(_, let line): line
      case .source(let location): location.line
      case .file, .keyPath: nil
      }
    }

    /// The location of a field of the object here.
    package func field(_ name: String) -> Location {
      switch self {
      case .file: .keyPath([name])
      case .line(let line, _): .field(name, line: line)
      case .keyPath(let path): .keyPath(path + [name])
      case .source(let location): .source(location.field(name))
      case .field(let outer, let line): .field(outer + "." + name, line: line)
      }
    }
  }

  /// The most problems of a manifest that are reported.
  package static let reportLimit = 100

  package let code: Code
  package let message: String
  package let location: Location

  package init(_ code: Code, _ message: String, at location: Location) {
    self.code = code
    self.message = message
    self.location = location
  }

  /// An unreadable JSON text, with the manifest's wording.
  package init(_ error: JSONError) {
    let code: Code =
      switch error.code {
      case .empty, .syntax, .incomplete, .trailingText, .duplicateKey: .syntax
      case .encoding: .encoding
      case .tooDeep: .tooDeep
      case .numberTooLarge, .tooManyMarks: .badValue
      }
    let location: Location =
      switch error.location {
      case .line(let line, let column): .line(line, column: column)
      case .keyPath(let path): .keyPath(path)
      }
    self.init(code, error.code == .empty ? "the file is empty" : error.message, at: location)
  }

  package var description: String { location.description.isEmpty ? message : "\(location): \(message)" }

  /// The same problem of a value on a line: a location that is only a key path gets the line.
  func inside(line: Int) -> ManifestProblem {
    guard case .keyPath(let path) = location, !path.isEmpty else { return self }
    return ManifestProblem(code, message, at: .field(location.description, line: line))
  }
}

/// The problems of an entry: at least one, so that none is dropped silently.
package struct EntryProblems: Sendable, Equatable {
  /// In the manifest's order; never empty.
  package let all: [ManifestProblem]

  package init(_ problem: ManifestProblem) { all = [problem] }

  /// nil when there are none.
  package init?(_ problems: [ManifestProblem]) {
    guard !problems.isEmpty else { return nil }
    all = problems
  }
}
