import JSON

/// What may be wrong with a property list of either kind.
extension ManifestProblem {
  static func propertyListTooDeep(at place: Place) -> ManifestProblem {
    ManifestProblem(.tooDeep, "the depth limit is \(JSONDocument.depthLimit) arrays and dictionaries", at: place)
  }

  /// A key that its dictionary has already.
  /// - Parameter first: The line of the first; nil when the place is both.
  static func duplicateKey(_ key: String, first: Int? = nil, at place: Place) -> ManifestProblem {
    let shown = key.count > 60 ? key.prefix(60) + "…" : key[...]
    let other = first.map { "; the first time in line \($0)" } ?? ""
    return ManifestProblem(.syntax, "the key \"\(shown)\" occurs twice in its dictionary\(other)", at: place)
  }

  /// An integer that would have to be rounded.
  static func numberTooLarge(at path: [String]) -> ManifestProblem {
    ManifestProblem(
      .badValue, "whole numbers go from \(Int.min) to \(Int.max); write a larger one as a string", at: .keyPath(path))
  }

  /// A value that only property lists have.
  static func propertyListOnly(at path: [String]) -> ManifestProblem {
    ManifestProblem(
      .wrongType, "dates and data have no meaning in a manifest", at: path.isEmpty ? .file : .keyPath(path))
  }
}

extension JSONValue {
  /// A real number of a property list.
  /// - Throws: `ManifestProblem` with code `bad-value` for one that JSON, and so the report, cannot express.
  static func real(_ value: Double, at path: [String]) throws(ManifestProblem) -> JSONValue {
    guard value.isFinite else {
      throw ManifestProblem(.badValue, "\(value) is no number in a manifest", at: .keyPath(path))
    }
    return .number(value)
  }
}
