/// What can be told of a manifest that cannot be read as one.
extension ManifestFile {
  /// Whether the file may have what only its owner is to read: headers, a body, a form, or user names and passwords in URLs,
  /// by the words that stand for them. True also when it cannot be unpacked.
  package var mayHoldSecrets: Bool {
    var end: [UInt8] = []
    do {
      _ = try eachTableChunk { chunk in
        let text = end + chunk.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        if Self.signs.contains(where: { Self.occurs($0, in: text) }) { throw Found() }
        end = Array(text.suffix(Self.longest))
      }
      return false
    } catch {
      return true
    }
  }

  private struct Found: Error {}

  /// "form" is not "format".
  private static let signs: [(word: [UInt8], isFollowedBy: [UInt8])] = [
    (Array("header".utf8), []), (Array("body".utf8), []), (Array("form".utf8), Array("at".utf8)),
    (Array("@".utf8), []),
  ]
  private static let longest = 8

  private static func occurs(_ sign: (word: [UInt8], isFollowedBy: [UInt8]), in text: [UInt8]) -> Bool {
    text.withUnsafeBufferPointer { text in
      var place = 0
      while place + sign.word.count <= text.count {
        if text[place] == sign.word[0], text[place...].starts(with: sign.word) {
          let rest = text[(place + sign.word.count)...]
          if sign.isFollowedBy.isEmpty || !rest.starts(with: sign.isFollowedBy) { return true }
        }
        place += 1
      }
      return false
    }
  }
}
