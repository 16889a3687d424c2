import System

/// The contents of a manifest: its own entries, or those of the list that it names as its source.
package struct ManifestContent: Sendable {
  /// The list from a manifest's source.
  package struct List: Sendable {
    package let format: any ManifestFormat
    package let file: ManifestFile

    /// The URL of the list, without secrets.
    package let url: String

    package init(format: any ManifestFormat, file: ManifestFile, url: String) {
      (self.format, self.file, self.url) = (format, file, url)
    }
  }

  private let format: any ManifestFormat
  private let file: ManifestFile

  /// The list from the manifest's source; nil until it has been fetched, and without a source.
  package var list: List?

  package init(format: any ManifestFormat, file: ManifestFile, list: List?) {
    (self.format, self.file, self.list) = (format, file, list)
  }

  /// Whether reading a file whole takes so much memory, in small blocks, that freed memory should be returned: of 820 MB for
  /// 59 MB of JSON, 500 MB stayed.
  private static func isLarge(_ file: ManifestFile) -> Bool {
    let size = (try? FileStatus(of: file.path).size) ?? 0
    return size >= (file.isCompressed ? 256 << 10 : 4 << 20)
  }

  /// Reads the manifest from its beginning and passes on its items, in order. A source is replaced by the items of its list, if
  /// that is there.
  /// - Throws: As `ManifestFormat.read`; `bad-value` when the list has a source, `syntax` when it is an HTML page or a picture.
  package func read(_ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    defer { if ([file] + (list.map { [$0.file] } ?? [])).contains(where: Self.isLarge) { Allocator.giveBackFreed() } }
    try format.read(file, fields) { item in
      guard case .source = item, let list else { return try yield(item) }
      do {
        if let kind = try list.file.otherKind() {
          throw ManifestProblem(.syntax, "\(list.url) is \(kind), not a list of entries", at: .file)
        }
        try list.format.read(list.file, fields) { item in try yield(item.listed()) }
      } catch let problem as ManifestProblem {
        throw problem.listed
      }
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

extension ManifestFile {
  /// The number of bytes that are examined.
  private static let beginning = 512

  private static let pictures: [(signature: [UInt8], kind: String)] = [
    ([0xFF, 0xD8, 0xFF], "a JPEG picture"), ([0x89, 0x50, 0x4E, 0x47], "a PNG picture"),
    (Array("GIF8".utf8), "a GIF picture"), (Array("RIFF".utf8), "a WebP picture"),
  ]

  /// What the file evidently is instead of a manifest, in words with an article: a server's answer in place of a list, such as a
  /// login page, or a picture whose URL was given for that of a list. nil for everything else.
  /// - Throws: `SystemError`.
  func otherKind() throws -> String? {
    struct Enough: Error {}
    var start: [UInt8] = []
    do {
      try eachRawChunk { chunk in
        start += chunk.prefix(Self.beginning - start.count)
        if start.count == Self.beginning { throw Enough() }
      }
    } catch is Enough {
    } catch is ManifestProblem {
      return nil
    }
    if let picture = Self.pictures.first(where: { start.starts(with: $0.signature) }), start.contains(0) {
      return picture.kind
    }
    if start.starts(with: [0xEF, 0xBB, 0xBF]) { start.removeFirst(3) }
    let text = String(decoding: start.drop { $0 <= 0x20 }, as: UTF8.self).lowercased()
    let isHTML = text.hasPrefix("<") && ["<!doctype html", "<html", "<head", "<body"].contains(where: text.contains)
    return isHTML ? "an HTML page" : nil
  }
}
