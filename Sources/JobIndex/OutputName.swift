import Foundation
import Manifests
import Model
import System
import Transfer

/// The path of an entry's result beneath `images/`, without extension, in a form that every file system can store.
package struct OutputName: Equatable {
  /// The path. It is unique in its job once names are settled.
  package let path: String

  /// The claim of the path before parts of it were replaced for other systems; nil when none was.
  package let replacedClaim: String?

  /// The longest component of a path, in bytes of UTF-8, before `-2` and the extension.
  static let lengthLimit = 200

  /// The longest path, in bytes of UTF-8. A system's limit of 4096 includes outbox, job and names of temporary files.
  static let pathLimit = 900

  private static let pictureExtensions: Set = [
    "jpg", "jpeg", "jpe", "png", "webp", "gif", "tif", "tiff", "bmp", "avif", "heic", "heif",
  ]

  /// Whether the name of a file has the extension of a picture, also of formats that are not read.
  package static func isPicture(_ name: String) -> Bool {
    guard let suffix = ManifestFormats.fileExtension(of: name)?.lowercased() else { return false }
    return pictureExtensions.contains(suffix) || suffix == "jfif"
  }

  /// The claim by which given names are compared.
  package var claim: String { replacedClaim ?? Self.claim(path) }

  /// - Parameter components: Components without unsafe characters, see `safe`.
  private init(_ components: [String]) {
    let portable = components.map(PortableName.replacing)
    path = Self.fitted(portable.map(Self.shortened), of: portable)
    replacedClaim = portable == components ? nil : Self.claim(components.joined(separator: "/"))
  }

  /// The output for a given name, in which `/` separates folders.
  package static func explicit(_ name: String) -> OutputName {
    // Not split into characters: a slash with a combining mark after it is a slash to the file system.
    let components = name.fields("/").map(safe).filter { !$0.isEmpty }
    guard let last = components.last else { return OutputName(["unnamed"]) }
    return OutputName(components.dropLast() + [withoutPictureExtension(last)])
  }

  /// The path for an entry without a name: the last component of its URL's path.
  static func derived(fromURL text: String) -> String { derived(from: try? SourceLocation(parsing: text)) }

  /// The path for an entry without a name: the last component of its URL's path.
  /// - Parameters:
  ///   - location: nil for a text that is not a URL.
  ///   - base: The folder whose files are the entries: the name is the path in it. Default: nil, there is none.
  package static func derived(from location: SourceLocation?, in base: String? = nil) -> String {
    if let base, let location, location.scheme == .file {
      let path = location.requestText
      let prefix = path.begins(with: base) ? base : path.begins(with: "./" + base) ? "./" + base : ""
      return explicit(path.dropping(bytesOf: prefix)).path
    }
    let name = withoutPictureExtension(safe(location?.lastPathComponent ?? ""))
    return name.isEmpty ? "unnamed" : OutputName([name]).path
  }

  /// The form in which names are compared: NFC with case folding, so that they differ on every file system.
  package static func claim(_ name: String) -> String {
    if isPlain(name) { return name.lowercased() }
    return name.precomposedStringWithCanonicalMapping.folding(options: .caseInsensitive, locale: nil)
      .precomposedStringWithCanonicalMapping
  }

  /// A component without control characters, combining marks beyond `String.markLimit`, leading dots and spaces, and trailing spaces; empty for `.` and `..`.
  private static func safe(_ component: String) -> String {
    if isPlain(component) {
      let begun = component.utf8.drop { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: " ") }
      let end = begun.lastIndex { $0 != UInt8(ascii: " ") }.map(begun.index(after:)) ?? begun.startIndex
      return String(decoding: begun[..<end], as: UTF8.self)
    }
    var scalars = String.UnicodeScalarView()
    var marks = 0
    for scalar in component.unicodeScalars
    where scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .lineSeparator
      && scalar.properties.generalCategory != .paragraphSeparator
    {
      marks = scalar.isCombiningMark ? marks + 1 : 0
      // The name of a URL may have any number, which would take long to sort.
      if marks <= String.markLimit { scalars.append(scalar) }
    }
    let visible = String(scalars).precomposedStringWithCanonicalMapping.unicodeScalars
    let begun = visible.drop { $0 == "." || $0.properties.isWhitespace }
    let kept = begun.reversed().drop { $0.properties.isWhitespace }.reversed()
    return String(String.UnicodeScalarView(kept))
  }

  /// Whether a text is printable ASCII, for which no Unicode properties are looked up. Saves time for a million names.
  private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } }

  /// A component without picture extensions and the spaces before them. The function is idempotent, so that a derived
  /// name stays the same when it is given.
  private static func withoutPictureExtension(_ component: String) -> String {
    var name = component
    while let suffix = ManifestFormats.fileExtension(of: name), pictureExtensions.contains(suffix.lowercased()) {
      name = name.dropping(bytesOfSuffix: "." + suffix)
      while name.unicodeScalars.last?.properties.isWhitespace == true { name.unicodeScalars.removeLast() }
    }
    return name
  }

  /// Shortens a component above the limit: keeps its beginning, and appends a hash of the whole.
  private static func shortened(_ component: String) -> String {
    component.utf8.count > lengthLimit ? hashed(component, of: component) : component
  }

  /// Shortens a path above the limit: keeps its first folders and its last component, and appends a hash of the whole.
  private static func fitted(_ components: [String], of whole: [String]) -> String {
    let path = components.joined(separator: "/")
    guard path.utf8.count > pathLimit, let last = components.last else { return path }
    let name = hashed(last, of: whole.joined(separator: "/"))
    var room = pathLimit - name.utf8.count
    let folders = components.dropLast().prefix { folder in
      room -= folder.utf8.count + 1
      return room >= 0
    }
    return (folders + [name]).joined(separator: "/")
  }

  /// The beginning of a component with a hash appended, within the limit of a component.
  private static func hashed(_ component: String, of whole: String) -> String {
    let digest = MessageDigest()
    Array(whole.utf8).withUnsafeBytes(digest.update)
    let hash = "-" + digest.hexDigest().prefix(16)
    var kept = ""
    for character in component {
      guard kept.utf8.count + String(character).utf8.count + hash.utf8.count <= lengthLimit else { break }
      kept.append(character)
    }
    return kept + hash
  }
}
