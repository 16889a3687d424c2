import System
import Transfer

/// A file or folder whose presence suspends both queues.
package struct Lock: Sendable, Hashable {
  /// The file's name in the inbox, or the path of the `--lock-file`.
  package let name: String

  /// The file's first line, if it has one: at most 200 characters, without control characters.
  package let reason: String?

  /// Reads the reason of a lock. A lock without a readable reason is still a lock. Symbolic links are not followed,
  /// since a user who may create locks in the inbox may not be allowed to read every file that this process can.
  package init(name: String, path: String) {
    self.name = name
    reason = Self.firstLine(of: try? OpenFile(reading: path, followingLinks: false))
  }

  /// Reads the reason of a lock in the inbox.
  init(_ name: FileName, in folder: OpenFolder) {
    self.name = name.description
    let isFile = (try? FileStatus(of: name, in: folder)?.kind) == .file
    reason = Self.firstLine(of: isFile ? name.text.flatMap { try? folder.open(reading: $0) } : nil)
  }

  /// The locks in a folder that is not this instance's, with their paths as names.
  static func all(in folder: String) throws(SystemError) -> [Lock] {
    try Folder.names(in: folder).filter { InboxFile(named: $0) == .lock }
      .map { Lock(name: "\(folder)/\($0)", path: "\(folder)/\($0)") }
  }

  private static func firstLine(of file: OpenFile?) -> String? {
    guard let file, (try? file.status().kind) == .file, let start = try? file.readStart(1024) else { return nil }
    return shown(String(decoding: start, as: UTF8.self))
  }

  /// A reason as it is shown: the first line of a text without control characters and the userinfo of URLs, at most 200 characters.
  package static func shown(_ text: String) -> String? {
    let line = String(
      decoding: text.utf8.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    let shown = line.unicodeScalars.filter { $0.properties.generalCategory != .control && !$0.properties.isBidiControl }
    let text = String(SourceLocation.redacted(name: String(String.UnicodeScalarView(shown))).prefix(200))
    return text.isEmpty ? nil : text
  }
}
