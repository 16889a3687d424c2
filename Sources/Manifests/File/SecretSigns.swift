/// Tells whether a text that may not be a manifest contains secrets: a key or a column for headers, a body or a form, a
/// password among aria2's options, or a user name or password before the host of a URL.
struct SecretSigns {
  /// The words that indicate secrets, in lower case.
  private static let words = [
    "headers", "header", "body", "form", "authorization", "proxy-authorization", "cookie", "set-cookie", "api-key",
    "x-api-key", "x-auth-token", "http-passwd", "ftp-passwd", "all-proxy-passwd",
    "http-proxy-passwd", "https-proxy-passwd", "ftp-proxy-passwd",
  ].map { Array($0.utf8) }

  /// An `@` that is percent-encoded, and a full-width one.
  private static let marks = ["%40", "\u{ff20}"].map { Array($0.utf8) }

  /// By byte: whether a word begins with it.
  private static let beginsWord = (UInt8.min...UInt8.max).map { byte in words.contains { $0.first == byte } }

  /// How far before and after a word the text is examined, in bytes.
  static let context = 4096

  private let text: UnsafeBufferPointer<UInt8>

  /// Whether the text begins at the beginning of its file.
  private let isBeginning: Bool

  /// Whether it is a binary property list.
  private let isBinary: Bool

  private init(_ text: UnsafeBufferPointer<UInt8>, isBeginning: Bool, isBinary: Bool) {
    self.text = text
    self.isBeginning = isBeginning
    self.isBinary = isBinary
  }

  /// - Parameters:
  ///   - isBeginning: Whether the text begins at the beginning of its file.
  ///   - isBinary: Whether it is a binary property list.
  static func occur(in text: [UInt8], isBeginning: Bool, isBinary: Bool) -> Bool {
    text.withUnsafeBufferPointer { text in
      let signs = SecretSigns(text, isBeginning: isBeginning, isBinary: isBinary)
      return isBeginning && signs.areColumns || text.indices.contains(where: signs.occur)
    }
  }

  private func occur(at index: Int) -> Bool {
    switch text[index] {
    case UInt8(ascii: "@"): isAfterUser(index)
    case UInt8(ascii: "%"), 0xef: Self.marks.contains { starts(with: $0, at: index) } && isAfterUser(index)
    case let letter where Self.beginsWord[Int(Self.small(letter))]:
      Self.words.contains { isKey($0, at: index) }
    default: false
    }
  }

  // MARK: Keys

  /// Whether a word is a key of JSON or a property list, or an option line's name, whatever errors surround it.
  private func isKey(_ word: [UInt8], at start: Int) -> Bool {
    guard starts(with: word, at: start) else { return false }
    let end = start + word.count
    let (before, after) = (byte(start - 1), byte(end))
    switch before {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      return byte(afterBlanks(end + (after == before ? 1 : 0))).map(":={".utf8.contains) ?? false
    case UInt8(ascii: ">"): return starts(with: Array("</key".utf8), at: end)
    // In a binary property list, a text of a length below 15.
    case 0x50 | UInt8(word.count) where isBinary: return true
    default: return isAssigned(from: start, to: end)
    }
  }

  /// Whether a word without quotes has a value, and begins a line or a member of an object.
  private func isAssigned(from start: Int, to end: Int) -> Bool {
    guard let next = byte(afterBlanks(end)), ":=".utf8.contains(next) else { return false }
    var index = start - 1
    while let byte = byte(index), " \t".utf8.contains(byte) { index -= 1 }
    return byte(index).map("\n\r{,;".utf8.contains) ?? isBeginning
  }

  // MARK: Columns

  /// Whether the first line is the header of a table with such a word in a cell.
  private var areColumns: Bool {
    let lines = text.prefix(16 * Self.context).split(maxSplits: 2, whereSeparator: "\n\r".utf8.contains)
    let header = lines.first { !String(decoding: $0, as: UTF8.self).lowercased().hasPrefix("sep=") }
    guard let header, let first = header.first, !"[{<".utf8.contains(first) else { return false }
    return header.split(whereSeparator: ",;\t|".utf8.contains).contains { cell in
      let name = cell.filter { !" \"".utf8.contains($0) }
      return Self.words.contains { $0.elementsEqual(name.map(Self.small)) }
    }
  }

  // MARK: Users

  /// Whether an `@` ends the userinfo of a URL: after two slashes, or as `USER:PASSWORD` anywhere.
  private func isAfterUser(_ at: Int) -> Bool {
    var index = at - 1
    var hasColon = false
    while let byte = byte(index), !Self.endsUser(byte) {
      hasColon = hasColon || byte == UInt8(ascii: ":") && index > 0 && !Self.endsUser(text[index - 1])
      index -= 1
    }
    return hasColon || index < at - 1 && isAuthority(endingAt: index)
  }

  /// Whether slashes begin the authority of a URL, and are not part of a path.
  /// - Parameter last: The last possible position of them.
  private func isAuthority(endingAt last: Int) -> Bool {
    var (index, slashes, others) = (last, 0, 0)
    while let byte = byte(index), "/\\".utf8.contains(byte) {
      // JSON may have a backslash before each slash.
      if byte == UInt8(ascii: "/") { slashes += 1 } else { others += 1 }
      index -= 1
    }
    guard max(slashes, slashes == 0 ? others : 0) >= 2 else { return false }
    guard let before = byte(index), before != UInt8(ascii: ":") else { return true }
    // A scheme without its colon, or with a similar one.
    let end = index + 1
    while let byte = byte(index), !Self.endsUser(byte) { index -= 1 }
    return index + 1 == end || String(decoding: text[(index + 1)..<end], as: UTF8.self).lowercased().contains("tp")
  }

  /// Whether a byte ends a user name or password: it would have to be written as %XX, or separates other text.
  private static func endsUser(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x7f || "\"'<>/\\?#,;[]{}|@".utf8.contains(byte)
  }

  // MARK: Text

  private func byte(_ index: Int) -> UInt8? { text.indices.contains(index) ? text[index] : nil }

  private func starts(with word: [UInt8], at start: Int) -> Bool {
    start + word.count <= text.count && word.indices.allSatisfy { Self.small(text[start + $0]) == word[$0] }
  }

  /// The first index from here on that is not a blank.
  private func afterBlanks(_ start: Int) -> Int {
    var index = start
    while let byte = byte(index), " \t\r\n".utf8.contains(byte) { index += 1 }
    return index
  }

  private static func small(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte | 0x20 : byte }
}

/// The signs of secrets in a manifest that cannot be read.
extension ManifestFile {
  /// Whether the file may contain secrets: headers, a body, a form, or user names and passwords in URLs, in any of the formats.
  /// Also true when it cannot be unpacked.
  package var mayHoldSecrets: Bool {
    var kept: [UInt8] = []
    var (isBeginning, isBinary) = (true, false)
    do {
      _ = try eachTextChunk(mayBeUTF16: true) { chunk in
        let text = kept + chunk
        if isBeginning { isBinary = text.starts(with: "bplist".utf8) }
        if SecretSigns.occur(in: text, isBeginning: isBeginning, isBinary: isBinary) { throw Found() }
        if text.count > 2 * SecretSigns.context {
          kept = Array(text.suffix(2 * SecretSigns.context))
          isBeginning = false
        } else {
          kept = text
        }
      }
      return false
    } catch {
      return true
    }
  }

  private struct Found: Error {}
}
