import JSON
import System

/// The contents of a manifest: its own entries, or those of the list that it names as its source.
package struct ManifestContent: Sendable {
  /// The list from a manifest's source.
  package struct List: Sendable {
    package let format: any ManifestFormat
    package private(set) var file: ManifestFile

    /// The URL of the list, without secrets.
    package let url: String

    /// The folder after whose paths the results are named; nil for a list that was downloaded.
    package let base: String?

    package init(format: any ManifestFormat, file: ManifestFile, url: String, base: String? = nil) {
      (self.format, self.file, self.url, self.base) = (format, file, url, base)
      self.file.throwsOtherKind = true
    }
  }

  private let format: any ManifestFormat
  private var file: ManifestFile

  /// The list from the manifest's source; nil until it has been fetched, and without a source.
  package var list: List?

  package init(format: any ManifestFormat, file: ManifestFile, list: List?) {
    (self.format, self.file, self.list) = (format, file, list)
    self.file.throwsOtherKind = true
  }

  /// Whether reading a file whole takes so much memory, in small blocks, that freed memory should be returned: of 820 MB for
  /// 59 MB of JSON, 500 MB stayed.
  private static func isLarge(_ file: ManifestFile) -> Bool {
    let size = (try? FileStatus(of: file.path).size) ?? 0
    return size >= (file.isCompressed ? 256 << 10 : 4 << 20)
  }

  /// Reads the manifest from its beginning and passes on its items, in order. A source is replaced by the items of its list, if
  /// that is there.
  /// - Throws: As `ManifestFormat.read`; `bad-value` when the list has a source, `syntax` when either is of an `OtherKind`.
  package func read(_ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    defer { if ([file] + (list.map { [$0.file] } ?? [])).contains(where: Self.isLarge) { Allocator.giveBackFreed() } }
    var expansion = Expansion(fields: fields)
    do {
      try format.read(file, fields) { item in
        guard case .source = item, let list else { return try yield(expansion.expand(item)) }
        try read(list, fields) { try yield(expansion.expand($0)) }
      }
    } catch let kind as OtherKind {
      throw ManifestProblem(.syntax, "the file is \(kind.name), not a manifest; \(kind.remedy)", at: .file)
    }
  }

  private func read(_ list: List, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    do {
      try list.format.read(list.file, fields) { item in try yield(item.listed()) }
    } catch let problem as ManifestProblem {
      throw problem.listed
    } catch let kind as OtherKind {
      let message = "\(list.url) is \(kind.name), not a list of entries; \(kind.remedy)"
      throw ManifestProblem(.syntax, message, at: .source(.file))
    }
  }
}

/// Adds the default of the field `expanded` to the entries that leave it out, so that the number of their rows is known
/// wherever a manifest is read.
private struct Expansion {
  let fields: FieldVocabulary
  private var standard: JSONValue?

  init(fields: FieldVocabulary) { self.fields = fields }

  mutating func expand(_ item: ManifestItem) -> ManifestItem {
    guard let field = fields.expanded else { return item }
    switch item {
    case .defaults(let value, _):
      standard = value[field] ?? standard
      return item
    case .entry(let value, let key, let location):
      guard let standard else { return item }
      let added = JSONValue.Member(field, standard)
      switch value {
      case .string: return .entry(.object([.init(fields.principal, value), added]), key: key, location: location)
      case .object(let members) where value[field] == nil:
        return .entry(.object(members + [added]), key: key, location: location)
      default: return item
      }
    default: return item
    }
  }
}

extension ManifestItem {
  /// The same item as part of a list.
  /// - Throws: `ManifestProblem` for an item that no list may have.
  fileprivate func listed() throws -> ManifestItem {
    switch self {
    case .defaults(let value, let location): return .defaults(value, location: .source(location))
    case .entry(let value, let key, let location): return .entry(value, key: key, location: .source(location))
    case .warning(let warning):
      return .warning(
        ManifestWarning(
          warning.code, warning.message, at: .source(warning.location), concernsSecrets: warning.concernsSecrets))
    case .unreadable(let problems): return .unreadable(EntryProblems(problems.all.map(\.listed)) ?? problems)
    case .source:
      throw ManifestProblem(
        .badValue, "the list of a source cannot have a source itself", at: .keyPath(["source"]))
    }
  }
}

extension ManifestProblem {
  /// The same problem in a list.
  fileprivate var listed: ManifestProblem {
    // A problem that `yield` has thrown is already located in the list.
    if case .source = location { return self }
    return ManifestProblem(code, message, at: .source(location))
  }
}
