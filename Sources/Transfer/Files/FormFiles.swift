import Glibc
import System

/// The files of a form, as they were when they were checked. They are opened again when they are sent, one at a time.
package struct FormFiles: Sendable {
  /// Runs a function on a thread for files, then continues a transfer.
  typealias Reading = @Sendable (TransferID, @escaping @Sendable () -> Void) -> Void

  private var files: [SourceLocation: FormFile] = [:]

  /// How the files are read while they are sent.
  let reading: Reading

  /// Identifies their contents: sizes and modification times, in the order of the form. nil without files.
  ///
  /// It contains no inode and no ctime, which change without the content, and a request must not be repeated for that.
  package private(set) var version: String?

  /// No files.
  package init() { reading = { _, _ in } }

  /// Checks the files of a request.
  /// - Throws: As a transfer of a file does.
  init(
    of request: SourceRequest, _ configuration: TransferConfiguration, reading: @escaping Reading
  ) throws(TransferError) {
    self.reading = reading
    for location in Set(request.files) { files[location] = try FormFile(location, configuration) }
    if !files.isEmpty { version = request.files.map { files[$0]?.version ?? "" }.joined(separator: ", ") }
  }

  /// The file at a location; nil when the request does not name it.
  subscript(location: SourceLocation) -> FormFile? { files[location] }
}

/// A file that is sent as a part of a form, as it was when it was checked.
struct FormFile: Sendable {
  let location: SourceLocation

  /// So many bytes are sent.
  let size: Int

  /// Size and modification time.
  fileprivate let version: String
  private let configuration: TransferConfiguration

  fileprivate init(_ location: SourceLocation, _ configuration: TransferConfiguration) throws(TransferError) {
    let opened = try configuration.openFile(ofForm: location)
    (self.location, self.configuration) = (location, configuration)
    (size, version) = (opened.size, Self.version(opened.identity))
  }

  fileprivate static func version(_ identity: FileIdentity) -> String {
    "\(identity.size) \(identity.modified.seconds).\(identity.modified.nanoseconds)"
  }

  /// Opens the file for reading.
  /// - Throws: Also `io` when it is not what it was when it was checked.
  func open() throws(TransferError) -> OpenFormFile {
    let opened = try configuration.openFile(ofForm: location)
    guard Self.version(opened.identity) == version else { throw changed }
    return OpenFormFile(self, opened)
  }

  fileprivate var changed: TransferError {
    TransferError(.io, "\(location.redacted) changed while it was sent as a part of a form", isOfSource: true)
  }

  /// The error of a request whose time ran out while it waited for the file.
  var timeout: TransferError {
    TransferError(.io, "\(location.redacted) could not be read in time to be sent in a form", isOfSource: true)
  }
}

/// A file of a form that is open for reading.
final class OpenFormFile: Sendable {
  private let file: FormFile
  private let opened: FileRoot.Opened

  fileprivate init(_ file: FormFile, _ opened: consuming FileRoot.Opened) {
    self.file = file
    self.opened = opened
  }

  /// Reads bytes from an offset on, `maxCount` at most.
  /// - Throws: `io` when that fails, and, before the last byte is returned, when the file has changed: the request stays
  ///   incomplete.
  func read(at offset: Int, maxCount: Int) throws(TransferError) -> [UInt8] {
    let rest = min(maxCount, file.size - offset)
    var failure: Int32?
    let bytes = [UInt8](unsafeUninitializedCapacity: rest) { buffer, count in
      let result = uninterrupted { pread(opened.descriptor, buffer.baseAddress, rest, offset) }
      if result < 0 { failure = errno }
      count = max(0, result)
    }
    if let failure {
      throw TransferError(
        .io, "cannot read \(file.location.redacted): \(systemMessage(failure))", systemError: failure,
        isOfSource: true)
    }
    guard !bytes.isEmpty, offset + bytes.count < file.size || isUnchanged else { throw file.changed }
    return bytes
  }

  private var isUnchanged: Bool {
    var status = stat()
    return fstat(opened.descriptor, &status) == 0 && FormFile.version(FileIdentity(status)) == file.version
  }
}
