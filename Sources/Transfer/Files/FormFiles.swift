import Glibc
import System

/// The files of a form, open for reading.
package struct FormFiles: Sendable {
  private var files: [SourceLocation: FormFile] = [:]

  /// Identifies their contents: sizes and modification times, in the order of the form. nil without files.
  ///
  /// It contains no inode and no ctime, which change without the content, and a request must not be repeated for that.
  package private(set) var version: String?

  /// No files.
  package init() {}

  /// Opens the files of a request.
  /// - Throws: As a transfer of a file does.
  package init(of request: SourceRequest, _ configuration: TransferConfiguration) throws(TransferError) {
    for location in Set(request.files) {
      files[location] = FormFile(location, try configuration.openFile(location))
    }
    if !files.isEmpty { version = request.files.map { files[$0]?.version ?? "" }.joined(separator: ", ") }
  }

  /// The file at a location; nil when the request does not name it.
  subscript(location: SourceLocation) -> FormFile? { files[location] }
}

/// A file that is sent as a part of a form, in pieces: its size does not matter to memory.
final class FormFile: Sendable {
  private let location: SourceLocation
  private let opened: FileRoot.Opened

  /// Its size when it was opened: so many bytes are sent.
  var size: Int { opened.size }

  fileprivate init(_ location: SourceLocation, _ opened: consuming FileRoot.Opened) {
    self.location = location
    self.opened = opened
  }

  /// Size and modification time when it was opened.
  fileprivate var version: String { Self.version(opened.identity) }

  private static func version(_ identity: FileIdentity) -> String {
    "\(identity.size) \(identity.modified.seconds).\(identity.modified.nanoseconds)"
  }

  /// Reads bytes from an offset on.
  /// - Returns: The number of bytes; 0 at the end.
  /// - Throws: `io` when that fails, and, before the last byte is returned, when the file has changed: the request stays
  ///   incomplete.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(TransferError) -> Int {
    let rest = min(buffer.count, size - offset)
    let count = uninterrupted { pread(opened.descriptor, buffer.baseAddress, rest, offset) }
    guard count >= 0 else {
      let number = errno
      throw TransferError(
        .io, "cannot read \(location.redacted): \(systemMessage(number))", systemError: number, isOfSource: true)
    }
    let end = offset + count
    guard end < size && count > 0 || end == size && isUnchanged else {
      throw TransferError(.io, "\(location.redacted) changed while it was sent as a part of a form", isOfSource: true)
    }
    return count
  }

  private var isUnchanged: Bool {
    var status = stat()
    return fstat(opened.descriptor, &status) == 0 && Self.version(FileIdentity(status)) == version
  }
}
