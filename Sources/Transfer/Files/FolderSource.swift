import System

/// The files that are the source of a manifest: a folder, or patterns for paths beneath the file root.
package struct FolderSource: Sendable, Equatable {
  /// What happens to files that are no pictures by their names.
  package enum Others: String, Sendable, CaseIterable { case skip, fail }

  /// A folder in which files are looked for, and the pattern for their paths in it.
  package struct Tree: Sendable, Equatable {
    /// Absolute, or relative to the file root, with a slash at its end; empty for the file root.
    package let folder: String
    package let pattern: PathPattern

    /// The pattern as text, without the folder: the name of a file if there is one.
    package let name: String

    /// Whether its last component has an extension without wildcards: such files are wanted, whatever they are.
    package let namesExtension: Bool

    /// Whether a folder is written, and no pattern: it is never the name of a file, even if there is one called `*`.
    package let isFolder: Bool
  }

  package let trees: [Tree]

  /// The files and folders that are left out, by their paths from the file root or, when trees are absolute, from `/`.
  package let exclusions: [PathPattern]

  /// Default: `skip`.
  package var others = Others.skip

  /// The folder that all trees share, with a slash at its end, or empty. Results are named after the paths in it.
  package let base: String

  /// As written, without secrets.
  package let redacted: String

  /// - Parameter texts: URLs or paths, with `!` before what is left out.
  /// - Returns: nil when they are the locations of single files, or not those of files.
  /// - Throws: `ParseError` when some are folders and some are not, or when nothing but exclusions is given.
  package init?(parsing texts: [String]) throws(ParseError) {
    let parts = texts.map(Part.init)
    guard let first = parts.first(where: { $0.kind != .other }) else { return nil }
    if let other = parts.first(where: { $0.kind == .other }) {
      throw ParseError(
        other.isExclusion
          ? "\(other.text) is no path: files to leave out are named by a path or a pattern after \"!\""
          : first.kind == .exclusion
            ? "\(other.text) is no folder, from which files could be left out: a folder ends in a slash"
            : "\(first.text) is a folder or a pattern, and cannot be one of several mirrors; \(other.text) is none")
    }
    trees = parts.compactMap(\.tree)
    exclusions = parts.compactMap(\.exclusion)
    redacted = parts.map(\.text).joined(separator: ", ")
    base = Self.base(of: trees.map(\.folder))
    guard !trees.isEmpty else { throw ParseError("only files to leave out are given: \(first.text)") }
    guard Set(parts.compactMap(\.isAbsolute)).count < 2 else {
      throw ParseError("some paths are absolute and some are relative to --file-root: \(redacted)")
    }
  }

  /// The components of a path; a slash at its end, or `.`, is for any name.
  fileprivate static func components(of path: String) -> [String] {
    var components = path.fields("/").filter { $0 != "." }
    if isFolder(path) { components.append("*") }
    return components
  }

  fileprivate static func isFolder(_ path: String) -> Bool {
    path.utf8.last == UInt8(ascii: "/") || path == "." || path.ends(with: "/.")
  }

  /// The folder that all folders are or lie in.
  private static func base(of folders: [String]) -> String {
    guard var shared = folders.first?.fields("/", omittingEmpty: false).dropLast() else { return "" }
    for folder in folders.dropFirst() {
      let names = folder.fields("/", omittingEmpty: false).dropLast()
      shared = shared.prefix(zip(shared, names).prefix { $0.isIdentical(to: $1) }.count)
    }
    return shared.map { $0 + "/" }.joined()
  }

  /// Opens the folder of a tree, beneath the file root of a configuration.
  /// - Throws: As a transfer of a file does.
  package func open(_ tree: Tree, _ configuration: TransferConfiguration) throws(TransferError) -> OpenFolder {
    guard let root = configuration.fileRoot else {
      throw TransferError(
        .schemeNotAllowed, "\(redacted) is on this machine; files and folders are only read with --file-root")
    }
    return try FileRoot(path: root).openFolder(tree.folder, shown: trees.count == 1 ? redacted : tree.folder)
  }

  /// The URL of a file: its path, so that no character needs to be encoded. nil when a manifest cannot have it, because of control
  /// characters, or of blanks at the end, which a URL does not keep.
  package static func url(of path: String) -> String? {
    guard let last = path.utf8.last, last > 0x20 else { return nil }
    let url = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
    return (try? SourceLocation(parsing: url)) == nil ? nil : url
  }

  /// The path of a `file:` URL that is not absolute, such as `file:incoming/*.jpg`: it is relative to the file root. Also of one
  /// with a `?` or a `#`, which belong to the pattern or to names. Other text is returned unchanged.
  package static func path(of text: String) -> String {
    let scheme = "file:"
    guard text.utf8.count > scheme.utf8.count, text.lowercased().begins(with: scheme) else { return text }
    var rest = text.dropping(bytesOf: scheme)
    guard rest.utf8.first == UInt8(ascii: "/") else {
      let path = rest.percentDecoded
      return path.begins(with: "./") ? path : "./" + path
    }
    guard rest.utf8.contains(where: "?#".utf8.contains) else { return text }
    for authority in ["//", "//localhost"] where rest.lowercased().begins(with: authority + "/") {
      rest = rest.dropping(bytesOf: authority)
    }
    // It names a host.
    return rest.begins(with: "//") ? text : rest.percentDecoded
  }
}

extension FolderSource.Tree {
  /// - Returns: nil for a path without a wildcard.
  fileprivate init?(_ components: [String], isAbsolute: Bool, isFolder: Bool) {
    guard let first = components.firstIndex(where: PathPattern.isPattern) else { return nil }
    folder = (isAbsolute ? "/" : "") + components[..<first].map { $0 + "/" }.joined()
    pattern = PathPattern(Array(components[first...]))
    self.isFolder = isFolder && first == components.count - 1
    name = components[first...].joined(separator: "/")
    let last = components[components.count - 1]
    namesExtension =
      last.fields(".", omittingEmpty: false).count > 1 && last.fields(".").last.map(PathPattern.isPattern) == false
  }
}

/// One of the texts of a source.
private struct Part {
  enum Kind { case tree, exclusion, other }

  /// As written, without secrets and without `file:`.
  let text: String
  let isExclusion: Bool
  private(set) var tree: FolderSource.Tree?
  private(set) var exclusion: PathPattern?

  /// Whether the path is absolute; nil for a name in all folders.
  private(set) var isAbsolute: Bool?

  init(_ written: String) {
    isExclusion = written.utf8.first == UInt8(ascii: "!")
    let path = FolderSource.path(of: isExclusion ? written.dropping(bytesOf: "!") : written)
    let location = (try? SourceLocation(parsing: path)).flatMap { $0.scheme == .file ? $0 : nil }
    text = (isExclusion ? "!" : "") + (location?.redacted ?? SourceLocation.redacted(path))
    guard let location else { return }
    let components = FolderSource.components(of: location.requestText)
    isAbsolute = location.requestText.utf8.first == UInt8(ascii: "/")
    if !isExclusion {
      tree = FolderSource.Tree(
        components, isAbsolute: isAbsolute == true, isFolder: FolderSource.isFolder(location.requestText))
    } else if components.count == 1, !written.utf8.contains(UInt8(ascii: "/")) {
      // Without a slash it is for names in all folders.
      (exclusion, isAbsolute) = (PathPattern(["**"] + components), nil)
    } else {
      exclusion = PathPattern(components)
    }
  }

  var kind: Kind { tree != nil ? .tree : exclusion != nil ? .exclusion : .other }
}
