import Foundation
import TestSupport
import Testing

/// Something that nobody should put into an inbox, and what becomes of it.
struct HostileFile: Sendable, CustomTestStringConvertible {
  /// What becomes of it.
  enum Fate: Sendable {
    /// Told once on standard error, with these words in the line, and left as it is.
    case leftAlone(told: String)
    /// Not a word, and left as it is.
    case passedOver
    /// The job of this name is rejected, with code, place and words of the message of the first problem.
    case rejected(job: String, code: String, place: String, message: String)
    /// The job of this name succeeds.
    case succeeds(job: String)
  }

  let name: String
  /// The file's name, which need not be text.
  let file: [UInt8]
  let fate: Fate
  /// Makes it, under the path with the name's bytes; false when that is not permitted here.
  let make: @Sendable (_ path: [CChar]) throws -> Bool

  var testDescription: String { name }

  init(
    _ name: String, _ file: String, _ fate: Fate, make: @escaping @Sendable (_ path: [CChar]) throws -> Bool
  ) {
    self.init(name, bytes: Array(file.utf8), fate, make: make)
  }

  init(
    _ name: String, bytes: [UInt8], _ fate: Fate, make: @escaping @Sendable (_ path: [CChar]) throws -> Bool
  ) {
    (self.name, file, self.fate, self.make) = (name, bytes, fate, make)
  }

  /// A regular file with contents.
  init(_ name: String, _ file: String, _ fate: Fate, contents: @escaping @Sendable () throws -> Data) {
    self.init(name, file, fate) { path in try Self.write(contents(), to: path) }
  }

  /// The exit code of a run over it and a good manifest.
  var status: Int32 {
    if case .rejected = fate { 65 } else { 0 }
  }

  /// Creates a file, whatever its name is.
  @discardableResult
  static func write(_ contents: Data, to path: [CChar]) throws -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o644)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: contents)
    return true
  }

  /// What identifies a file and tells whether it was changed; nil when there is none.
  static func identity(of path: [CChar]) -> [Int]? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return [
      Int(status.st_ino), Int(status.st_mode), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
      status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
    ]
  }
}
