import Glibc
import System

/// What a path to files stands for: a folder, with a pattern for the names in it.
package struct FolderLocation: Sendable, Equatable {
  /// Absolute, or relative to the file root, with a slash at its end; empty for the file root.
  package let folder: String

  /// As `fnmatch` has them: `*`, `?` and `[…]`; nil for all files.
  package let pattern: String?

  /// Without secrets.
  package let redacted: String

  /// - Returns: nil when the text is the location of a single file, or of nothing that is a file.
  package init?(parsing text: String) {
    guard let location = try? SourceLocation(parsing: text), location.scheme == .file else { return nil }
    let path = location.requestText
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
    let name = path[end...]
    guard name.isEmpty || name == "." || name.utf8.contains(where: "*?[".utf8.contains) else { return nil }
    folder = String(path[..<end])
    pattern = name.isEmpty || name == "." ? nil : String(name)
    redacted = location.redacted
  }

  /// Opens the folder, beneath the file root of a configuration.
  /// - Throws: As a transfer of a file does.
  package func open(_ configuration: TransferConfiguration) throws(TransferError) -> OpenFolder {
    guard let root = configuration.fileRoot else {
      throw TransferError(.schemeNotAllowed, "\(redacted) is a folder; only --file-root allows to read files")
    }
    return try FileRoot(path: root).openFolder(folder, shown: redacted)
  }

  /// Whether the pattern includes a name; upper and lower case are the same, as in extensions.
  package func includes(_ name: String) -> Bool {
    guard let pattern else { return true }
    return fnmatch(pattern.lowercased(), name.lowercased(), 0) == 0
  }

  /// The URL of a file in the folder: its path, so that nothing in a name needs to be encoded. nil when a manifest cannot have it,
  /// because blanks at the end of a URL do not count.
  package func url(of name: String) -> String? {
    guard let last = name.utf8.last, last > 0x20 else { return nil }
    return folder.hasPrefix("/") || folder.hasPrefix("./") ? folder + name : "./" + folder + name
  }

  /// A path for a `file:` URL that has none from the root, such as `file:incoming/*.jpg`: it is relative to the file root. All
  /// other text is returned as it is.
  package static func path(ofRelative text: String) -> String {
    let scheme = "file:"
    guard text.utf8.count > scheme.utf8.count, text.prefix(scheme.count).lowercased() == scheme else { return text }
    let rest = text.dropFirst(scheme.count)
    guard rest.utf8.first != UInt8(ascii: "/") else { return text }
    let path = String(rest).percentDecoded
    return path.hasPrefix("./") ? path : "./" + path
  }
}
