import System

/// A page that is being written: a template into which data are inserted. It is not synced, since it can be made again.
final class PageFile {
  private static let bufferSize = 256 << 10

  private let file: OpenFile
  private let template: PageTemplate
  private var buffer: [UInt8] = []

  /// - Parameter title: The page's title, unescaped.
  init(_ file: OpenFile, _ template: PageTemplate, title: String) {
    self.file = file
    self.template = template
    buffer.reserveCapacity(64 << 10)
    for part in template.beforeTitles {
      buffer += part
      buffer += PageText.html(title).utf8
    }
    buffer += template.beforeData
  }

  /// Appends JSON to the data.
  /// - Parameter json: A part of a JSON text, not split within a string.
  func append(_ json: String) throws(SystemError) {
    PageText.append(json: json, to: &buffer)
    try flush(beyond: Self.bufferSize)
  }

  /// Appends JSON to the data.
  func append(_ json: UnsafeBufferPointer<UInt8>) throws(SystemError) {
    PageText.append(json: json, to: &buffer)
    try flush(beyond: Self.bufferSize)
  }

  /// Writes the rest of the template.
  func end() throws(SystemError) {
    buffer += template.afterData
    try flush(beyond: 0)
  }

  private func flush(beyond size: Int) throws(SystemError) {
    guard buffer.count > size else { return }
    try buffer.withUnsafeBufferPointer { bytes throws(SystemError) in try file.write(UnsafeRawBufferPointer(bytes)) }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// An HTML template of one of the two pages, which is part of the program.
struct PageTemplate: Sendable {
  static let job = PageTemplate(PackageResources.job_html)

  static let outbox = PageTemplate(PackageResources.outbox_html)

  /// Identifies pages of this program. The version and ` -->` follow it.
  static let marker = "<!-- darkroom gallery "

  /// The last bytes of a page. A page without them is incomplete.
  static let end = "</html>\n"

  private static let markerLine = marker + "1 -->\n"

  /// The parts of the template before the insertions of the title.
  let beforeTitles: [[UInt8]]

  /// The parts of the template before and after the data.
  let beforeData, afterData: [UInt8]

  /// - Parameter html: UTF-8. Begins with a line for the doctype. `/*STYLE*/`, `<!--TITLE-->`, once or more, `/*DATA*/`
  ///   and `/*SCRIPT*/`, in this order, mark the insertions.
  init(_ html: [UInt8]) {
    let (doctype, page) = Self.split(html, at: "\n")
    let (head, body) = Self.split(page, at: "/*STYLE*/")
    let (start, end) = Self.split(body, at: "/*DATA*/")
    let (beforeScript, script) = Self.split(end, at: "/*SCRIPT*/")
    (beforeTitles, beforeData) = Self.splitAtTitles(
      doctype + Array("\n\(Self.markerLine)".utf8) + head + PackageResources.page_css + start)
    let rest = beforeScript + PackageResources.page_js + script
    afterData = rest[...(rest.lastIndex { $0 != UInt8(ascii: "\n") } ?? 0)] + Array("\n".utf8)
  }

  private static func split(_ bytes: [UInt8], at mark: String) -> ([UInt8], [UInt8]) {
    guard let found = bytes.firstRange(ofBytes: mark) else {
      preconditionFailure("a page of the gallery has no \(mark)")
    }
    return (Array(bytes[..<found.lowerBound]), Array(bytes[found.upperBound...]))
  }

  private static func splitAtTitles(_ bytes: [UInt8]) -> (before: [[UInt8]], rest: [UInt8]) {
    var (parts, start) = ([[UInt8]](), 0)
    while let found = bytes.firstRange(ofBytes: "<!--TITLE-->", from: start) {
      parts.append(Array(bytes[start..<found.lowerBound]))
      start = found.upperBound
    }
    return (parts, Array(bytes[start...]))
  }
}
