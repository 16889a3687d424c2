import System

/// What a file evidently is instead of a manifest, whatever its name: a spreadsheet that was not exported, a picture whose URL
/// was given for that of a list, or a server's page in place of a list.
package struct OtherKind: Sendable, Equatable {
  /// With an article, e.g. `a PNG picture`.
  package let name: String

  /// What to do, as a clause.
  package let remedy: String

  /// The number of bytes that are examined. The names of an Excel workbook's parts begin in them.
  private static let examined = 4096

  /// - Returns: nil for everything else.
  /// - Throws: `SystemError`.
  package init?(of file: ManifestFile) throws {
    // Not by way of a chunk, whose pages cost more than all else here.
    let start =
      file.isCompressed ? try Self.unpackedStart(of: file) : try OpenFile(reading: file.path).readStart(Self.examined)
    guard let kind = Self.binary(start) ?? Self.markup(start) else { return nil }
    self = kind
  }

  private static func unpackedStart(of file: ManifestFile) throws -> [UInt8] {
    struct Enough: Error {}
    var start: [UInt8] = []
    do {
      try file.eachRawChunk { chunk in
        start += chunk.prefix(examined - start.count)
        if start.count == examined { throw Enough() }
      }
    } catch is Enough {
    } catch is ManifestProblem {
      return []
    }
    return start
  }

  private init(_ name: String, _ remedy: String) { (self.name, self.remedy) = (name, remedy) }

  static let spreadsheetRemedy = "save it as CSV (UTF-8), with a header that has the column url"

  private static let signatures: [(bytes: [UInt8], name: String)] = [
    ([0xFF, 0xD8, 0xFF], "JPEG"), ([0x89, 0x50, 0x4E, 0x47], "PNG"), (Array("GIF8".utf8), "GIF"),
    (Array("RIFF".utf8), "WebP"),
  ]

  private static func binary(_ start: [UInt8]) -> OtherKind? {
    guard start.contains(0) else { return nil }
    if let format = signatures.first(where: { start.starts(with: $0.bytes) })?.name {
      return OtherKind("a \(format) picture", "write its URL or path into a .txt file; for paths, give --file-root")
    }
    if start.starts(with: [0xD0, 0xCF, 0x11, 0xE0]) {
      return OtherKind("a document of Office 97 to 2003 (.xls)", spreadsheetRemedy)
    }
    guard start.starts(with: [0x50, 0x4B, 0x03, 0x04]) else { return nil }
    let parts = String(decoding: start, as: UTF8.self)
    if parts.contains("xl/") { return OtherKind("an Excel workbook (.xlsx)", spreadsheetRemedy) }
    if parts.contains("opendocument.spreadsheet") {
      return OtherKind("an OpenDocument spreadsheet (.ods)", spreadsheetRemedy)
    }
    return OtherKind("a ZIP archive", "give the manifest that is in it")
  }

  private static func markup(_ start: [UInt8]) -> OtherKind? {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let content = start.dropFirst(start.starts(with: mark) ? 3 : 0).drop { $0 <= 0x20 }
    guard content.first == UInt8(ascii: "<") else { return nil }
    let text = String(decoding: content, as: UTF8.self).lowercased()
    if ["<urlset", "<sitemapindex"].contains(where: text.contains) {
      return OtherKind("a sitemap", "write the URLs of the pictures into a .txt file, one on each line")
    }
    if ["<!doctype html", "<html", "<head", "<body"].contains(where: text.contains) {
      return OtherKind("an HTML page", "open it in a browser: it may say why there is no list")
    }
    return nil
  }
}
