import System

/// A page that is being written: the template with the data in its place. Nothing is synced: a page can always be made again.
final class PageFile {
  private static let bufferSize = 256 << 10

  private let file: OpenFile
  private let template: PageTemplate
  private var buffer: [UInt8] = []

  /// - Parameter title: Of the page, as it is.
  init(_ file: OpenFile, _ template: PageTemplate, title: String) {
    self.file = file
    self.template = template
    buffer.reserveCapacity(64 << 10)
    buffer += template.beforeTitle
    buffer += PageText.html(title).utf8
    buffer += template.beforeData
  }

  /// Appends to the data.
  /// - Parameter json: A part of a JSON text that does not break a string.
  /// - Throws: `SystemError`.
  func append(_ json: String) throws(SystemError) {
    PageText.append(json: json, to: &buffer)
    try flush(beyond: Self.bufferSize)
  }

  /// The same.
  func append(_ json: UnsafeBufferPointer<UInt8>) throws(SystemError) {
    PageText.append(json: json, to: &buffer)
    try flush(beyond: Self.bufferSize)
  }

  /// Writes the rest.
  /// - Throws: `SystemError`.
  func end() throws(SystemError) {
    buffer += template.afterData
    try flush(beyond: 0)
  }

  private func flush(beyond size: Int) throws(SystemError) {
    guard buffer.count > size else { return }
    let failure: SystemError? = buffer.withUnsafeBytes { bytes in
      do throws(SystemError) {
        try file.write(bytes)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    buffer.removeAll(keepingCapacity: true)
  }
}
