import Manifests
import System

/// Replaces names of files and folders that some systems cannot store, such as Windows, its shares and memory cards.
package enum PortableName {
  /// Replaces what other systems cannot store in a component of a path with `_`: `<>:"|?*\`, control characters,
  /// invisible format characters (such as U+202E, which reverses the direction of text), dots and spaces at the end,
  /// and names of devices, also before a dot. The function is idempotent.
  package static func replacing(_ component: String) -> String {
    let isPlain = component.utf8.allSatisfy { (0x20..<0x7f).contains($0) && !isForbidden($0) }
    var name = component
    if !isPlain {
      name = String(String.UnicodeScalarView(component.unicodeScalars.map { isStorable($0) ? $0 : "_" }))
    }
    return withoutDevice(withoutTrailingDots(name))
  }

  /// The job's name for a name. When something was replaced, it ends in `~` and four hex digits of the name's hash. The
  /// function is idempotent.
  package static func job(_ name: String) -> String {
    let portable = replacing(name)
    return portable == name ? name : portable + "~" + MessageDigest.hexDigest(of: name).prefix(4)
  }

  private static func isForbidden(_ byte: UInt8) -> Bool {
    switch UnicodeScalar(byte) {
    case "<", ">", ":", "\"", "|", "?", "*", "\\": true
    default: false
    }
  }

  private static func isStorable(_ scalar: UnicodeScalar) -> Bool {
    if scalar.value < 0x7f { return scalar.value >= 0x20 && !isForbidden(UInt8(scalar.value)) }
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: return false
    case .format: return isVisible(scalar) || isJoining(scalar)
    default: return true
    }
  }

  /// Whether a format character is visible, such as the signs before Arabic numbers.
  private static func isVisible(_ scalar: UnicodeScalar) -> Bool {
    !scalar.properties.isDefaultIgnorableCodePoint && !(0xfff9...0xfffb).contains(scalar.value)
  }

  /// Whether an invisible format character is part of writing: U+200C and U+200D join letters, and tags spell flags.
  private static func isJoining(_ scalar: UnicodeScalar) -> Bool {
    switch scalar.value {
    case 0x200c, 0x200d, 0xe0020...0xe007f: true
    default: false
    }
  }

  private static func withoutTrailingDots(_ name: String) -> String {
    guard let last = name.utf8.last, last == UInt8(ascii: ".") || last == UInt8(ascii: " ") else { return name }
    var scalars = Array(name.unicodeScalars)
    for index in scalars.indices.reversed() {
      guard scalars[index] == "." || scalars[index] == " " else { break }
      scalars[index] = "_"
    }
    return String(String.UnicodeScalarView(scalars))
  }

  /// Windows compares the part before the first dot, without trailing spaces.
  private static func withoutDevice(_ name: String) -> String {
    guard let first = name.utf8.first, "acnlpACNLP".utf8.contains(first) else { return name }
    let stem = name.utf8.prefix { $0 != UInt8(ascii: ".") }
    guard let end = stem.lastIndex(where: { $0 != UInt8(ascii: " ") }) else { return name }
    let device = stem[...end]
    guard device.count <= "conout$".utf8.count, isDevice(String(decoding: device, as: UTF8.self).lowercased()) else {
      return name
    }
    return "_" + String(decoding: name.utf8.dropFirst(device.count), as: UTF8.self)
  }

  private static func isDevice(_ name: String) -> Bool {
    if ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(name) { return true }
    guard name.hasPrefix("com") || name.hasPrefix("lpt"), let digit = name.last else { return false }
    return name.count == 4 && "0123456789\u{b9}\u{b2}\u{b3}".contains(digit)
  }
}

extension ManifestFileName {
  /// The job's name: the file's name without extensions and leading dots. Characters that other systems cannot store
  /// are replaced, since the job's folder has this name, and a hash is appended, so that different files never share a
  /// job by that.
  package var job: String { PortableName.job(visibleStem) }
}
