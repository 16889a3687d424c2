import Foundation
import Manifests
import Model
import System
import Transfer

/// Where an entry's result lies beneath `images/`, without extension: made safe for every file system.
package struct OutputName: Equatable {
  /// The path: unique in its job only when names are settled.
  package let path: String

  /// The claim of the path before what other systems cannot store was replaced; nil when nothing was.
  package let replacedClaim: String?

  /// A component of a path may be this long, in bytes of UTF-8, before `-2` and the extension.
  static let lengthLimit = 200

  /// The same for a path. A system has 4096 for what is opened, and job, outbox and names of temporary files are in that.
  static let pathLimit = 900

  private static let pictureExtensions: Set = [
    "jpg", "jpeg", "jpe", "png", "webp", "gif", "tif", "tiff", "bmp", "avif",
  ]

  /// What no other entry may have whose name the manifest gives.
  package var claim: String { replacedClaim ?? Self.claim(path) }

  /// - Parameter components: Safe ones.
  private init(_ components: [String]) {
    let portable = components.map(PortableName.replacing)
    path = Self.fitted(portable.map(Self.shortened), of: portable)
    replacedClaim = portable == components ? nil : Self.claim(components.joined(separator: "/"))
  }

  /// The name for one that the manifest gives: `/` makes folders.
  package static func explicit(_ name: String) -> OutputName {
    // Scalars, not characters: a slash with a combining mark after it is a slash to the file system.
    let components = name.unicodeScalars.split(separator: "/").map { safe(String($0)) }.filter { !$0.isEmpty }
    guard let last = components.last else { return OutputName(["unnamed"]) }
    return OutputName(components.dropLast() + [withoutPictureExtension(last)])
  }

  /// The path for an entry without a name: the last component of its URL's path.
  static func derived(fromURL text: String) -> String { derived(from: try? SourceLocation(parsing: text)) }

  /// The path for an entry without a name: the last component of its URL's path.
  /// - Parameter location: nil for what is no URL.
  package static func derived(from location: SourceLocation?) -> String {
    let name = withoutPictureExtension(safe(location?.lastPathComponent ?? ""))
    return name.isEmpty ? "unnamed" : OutputName([name]).path
  }

  /// What two names that claim the same output have in common: NFC and case folding, so that they differ on every file
  /// system.
  package static func claim(_ name: String) -> String {
    if isPlain(name) { return name.lowercased() }
    return name.precomposedStringWithCanonicalMapping.folding(options: .caseInsensitive, locale: nil)
      .precomposedStringWithCanonicalMapping
  }

  /// A component without control characters, and without dots and spaces at its beginning and spaces at its end; empty
  /// for `.` and `..`.
  private static func safe(_ component: String) -> String {
    if isPlain(component) {
      let begun = component.utf8.drop { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: " ") }
      let end = begun.lastIndex { $0 != UInt8(ascii: " ") }.map(begun.index(after:)) ?? begun.startIndex
      return String(decoding: begun[..<end], as: UTF8.self)
    }
    var scalars = String.UnicodeScalarView()
    for scalar in component.unicodeScalars
    where scalar.properties.generalCategory != .control && scalar.properties.generalCategory != .lineSeparator
      && scalar.properties.generalCategory != .paragraphSeparator
    {
      scalars.append(scalar)
    }
    let visible = String(scalars).precomposedStringWithCanonicalMapping.unicodeScalars
    let begun = visible.drop { $0 == "." || $0.properties.isWhitespace }
    let kept = begun.reversed().drop { $0.properties.isWhitespace }.reversed()
    return String(String.UnicodeScalarView(kept))
  }

  /// Whether a text is printable ASCII: then nothing of Unicode needs to be looked up, which a million names would feel.
  private static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } }

  /// Without any, and without the spaces that stood before it: so a name that was made here stays the same when it is
  /// given as a name.
  private static func withoutPictureExtension(_ component: String) -> String {
    var name = component
    while let suffix = ManifestFormats.fileExtension(of: name), pictureExtensions.contains(suffix.lowercased()) {
      name.removeLast(suffix.count + 1)
      while name.unicodeScalars.last?.properties.isWhitespace == true { name.unicodeScalars.removeLast() }
    }
    return name
  }

  /// A component beyond the limit keeps its beginning, and gets a hash of the whole so that it stays unique.
  private static func shortened(_ component: String) -> String {
    component.utf8.count > lengthLimit ? hashed(component, of: component) : component
  }

  /// A path beyond the limit keeps its first folders and its last component, which gets a hash of the whole.
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

  /// The beginning of a component, and a hash, within the limit of a component.
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
