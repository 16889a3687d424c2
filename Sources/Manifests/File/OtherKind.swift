import System

/// What a file evidently is instead of a manifest, whatever its name: a spreadsheet that was not exported, a picture whose URL
/// was given for that of a list, or a server's page in place of a list.
package struct OtherKind: Error, Equatable {
  /// With an article, e.g. `a PNG picture`.
  package let name: String

  /// What to do, as a clause.
  package let remedy: String

  /// The number of bytes that are examined. The names of an Excel workbook's parts begin in them.
  private static let examined = 4096

  /// - Returns: nil for everything else.
  /// - Throws: `SystemError`.
  package init?(of file: ManifestFile) throws {
    struct Enough: Error {}
    var file = file
    file.throwsOtherKind = true
    do {
      try file.eachRawChunk { _ in throw Enough() }
    } catch let kind as OtherKind {
      self = kind
      return
    } catch is Enough {
    } catch is ManifestProblem {
    }
    return nil
  }

  /// - Parameter start: The beginning of a file; all that is examined, or the whole file.
  init?(start: UnsafeRawBufferPointer) {
    let start = start.prefix(Self.examined)
    guard let kind = Self.binary(start) ?? Self.markup(start) else { return nil }
    self = kind
  }

  private init(_ name: String, _ remedy: String) { (self.name, self.remedy) = (name, remedy) }

  static let spreadsheetRemedy = "save it as CSV (UTF-8), with a header that has the column url"

  private static let signatures: [(bytes: [UInt8], name: String)] = [
    ([0xFF, 0xD8, 0xFF], "JPEG"), ([0x89, 0x50, 0x4E, 0x47], "PNG"), (Array("GIF8".utf8), "GIF"),
  ]

  private static func binary(_ start: Slice<UnsafeRawBufferPointer>) -> OtherKind? {
    guard start.contains(0) else { return nil }
    let isWebP = start.starts(with: Array("RIFF".utf8)) && start.dropFirst(8).starts(with: Array("WEBP".utf8))
    if let format = isWebP ? "WebP" : signatures.first(where: { start.starts(with: $0.bytes) })?.name {
      return OtherKind("a \(format) picture", "write its URL or path into a .txt file; for paths, give --file-root")
    }
    if start.starts(with: [0xD0, 0xCF, 0x11, 0xE0]) {
      return OtherKind("a document of Office 97 to 2003 (.xls)", spreadsheetRemedy)
    }
    if start.starts(with: [0x1F, 0x8B]) {
      return OtherKind("a gzip file", "append .gz to its name, as in list.csv.gz")
    }
    guard start.starts(with: [0x50, 0x4B, 0x03, 0x04]) else { return nil }
    let parts = String(decoding: start, as: UTF8.self)
    if ["xl/workbook", "xl/worksheets", "xl/_rels", "xl/theme", "xl/styles"].contains(where: parts.contains) {
      return OtherKind("an Excel workbook (.xlsx)", spreadsheetRemedy)
    }
    if parts.contains("opendocument.spreadsheet") {
      return OtherKind("an OpenDocument spreadsheet (.ods)", spreadsheetRemedy)
    }
    return OtherKind("a ZIP archive", "give the manifest that is in it")
  }

  private static func markup(_ start: Slice<UnsafeRawBufferPointer>) -> OtherKind? {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let content = start.dropFirst(start.starts(with: mark) ? 3 : 0).drop { $0 <= 0x20 }
    guard content.first == UInt8(ascii: "<") else { return nil }
    let text = String(decoding: content, as: UTF8.self).lowercased()
    if ["<urlset", "<sitemapindex"].contains(where: text.contains) {
      return OtherKind("a sitemap", "write the URLs of the pictures into a .txt file, one on each line")
    }
    // A property list may quote HTML.
    if text.contains("<plist") { return nil }
    if ["<rss ", "<rss>", "<feed ", "<feed>"].contains(where: text.contains), !text.contains("<html") {
      return OtherKind("a feed (RSS or Atom)", "write the URLs of the pictures into a .txt file, one on each line")
    }
    if ["<!doctype html", "<html", "<head", "<body"].contains(where: text.contains) {
      return OtherKind("an HTML page", "open it in a browser: it may say why there is no list")
    }
    return nil
  }
}
