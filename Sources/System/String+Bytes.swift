/// Paths and names are bytes. The methods of the standard library compare characters: a slash before a combining mark is another
/// character than a slash, and the two spellings of é are equal.
extension String {
  /// Whether the bytes begin with those of another text.
  package func begins(with prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

  /// Whether the bytes end with those of another text.
  package func ends(with suffix: String) -> Bool { utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) }

  /// Whether the bytes are those of another text.
  package func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }

  /// Whether it has an ASCII character.
  package func has(_ character: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: character)) }

  /// The text before and after the last of an ASCII character; nil when there is none.
  package func cut(atLast character: Unicode.Scalar) -> (before: String, after: String)? {
    guard let index = utf8.lastIndex(of: UInt8(ascii: character)) else { return nil }
    return (String(self[..<index]), String(self[utf8.index(after: index)...]))
  }

  /// The text with another in the place of each occurrence of an ASCII character.
  package func replacing(every character: Unicode.Scalar, with text: String) -> String {
    fields(character, omittingEmpty: false).joined(separator: text)
  }

  /// The text without as many bytes at its beginning as another has.
  package func dropping(bytesOf prefix: String) -> String { String(Substring(utf8.dropFirst(prefix.utf8.count))) }

  /// The text without as many bytes at its end as another has.
  package func dropping(bytesOfSuffix suffix: String) -> String { String(Substring(utf8.dropLast(suffix.utf8.count))) }
}
