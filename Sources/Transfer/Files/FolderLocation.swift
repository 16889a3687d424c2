import Glibc
import System

/// The meaning of a path to files: a folder, with a pattern for the names in it.
package struct FolderLocation: Sendable, Equatable {
  /// Absolute, or relative to the file root, with a slash at its end; empty for the file root.
  package let folder: String

  /// In the syntax of `fnmatch`: `*`, `?` and `[…]`; nil for all files.
  package let pattern: String?

  /// Without secrets.
  package let redacted: String

  /// - Returns: nil when the text is the location of a single file, or not that of a file.
  package init?(parsing text: String) {
    guard let location = try? SourceLocation(parsing: text), location.scheme == .file else { return nil }
    let path = location.requestText
    let end = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
    let name = path[end...]
    guard name.isEmpty || name == "." || name.utf8.contains(where: "*?[".utf8.contains) else { return nil }
    let above = path[..<end]
    folder = String(above.hasPrefix("./") ? above.dropFirst(2) : above)
    pattern = name.isEmpty || name == "." ? nil : String(name)
    redacted = location.redacted
  }

  /// Opens the folder, beneath the file root of a configuration.
  /// - Throws: As a transfer of a file does.
  package func open(_ configuration: TransferConfiguration) throws(TransferError) -> OpenFolder {
    guard let root = configuration.fileRoot else {
      throw TransferError(.schemeNotAllowed, "\(redacted) is a folder; files are only read with --file-root")
    }
    return try FileRoot(path: root).openFolder(folder, shown: redacted)
  }

  /// Whether a name matches the pattern; case is ignored, as in extensions.
  package func includes(_ name: String) -> Bool {
    guard let pattern else { return true }
    return fnmatch(pattern.lowercased(), name.lowercased(), 0) == 0
  }

  /// The URL of a file in the folder: its path, so that no character needs to be encoded. nil when a manifest cannot have it,
  /// because of control characters, or of blanks at the end, which a URL does not keep.
  package func url(of name: String) -> String? {
    guard let last = name.utf8.last, last > 0x20 else { return nil }
    let url = folder.utf8.first == UInt8(ascii: "/") ? folder + name : "./" + folder + name
    return (try? SourceLocation(parsing: url)) == nil ? nil : url
  }

  /// The path of a `file:` URL that is not absolute, such as `file:incoming/*.jpg`: it is relative to the file root. Also of one
  /// with a `?` or a `#`, which belong to the pattern or to names. Other text is returned unchanged.
  package static func path(of text: String) -> String {
    let scheme = "file:"
    guard text.utf8.count > scheme.utf8.count, text.prefix(scheme.count).lowercased() == scheme else { return text }
    var rest = text.dropFirst(scheme.count)
    guard rest.utf8.first == UInt8(ascii: "/") else {
      let path = String(rest).percentDecoded
      return path.hasPrefix("./") ? path : "./" + path
    }
    guard rest.utf8.contains(where: "?#".utf8.contains) else { return text }
    for authority in ["//", "//localhost"] where rest.lowercased().hasPrefix(authority + "/") {
      rest = rest.dropFirst(authority.count)
    }
    // It names a host.
    return rest.hasPrefix("//") ? text : String(rest).percentDecoded
  }
}
