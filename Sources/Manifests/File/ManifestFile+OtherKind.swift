extension ManifestFile {
  /// So many bytes are looked at.
  private static let beginning = 512

  private static let pictures: [(signature: [UInt8], kind: String)] = [
    ([0xFF, 0xD8, 0xFF], "a JPEG picture"), ([0x89, 0x50, 0x4E, 0x47], "a PNG picture"),
    (Array("GIF8".utf8), "a GIF picture"), (Array("RIFF".utf8), "a WebP picture"),
  ]

  /// What it evidently is instead of a manifest, in words with an article: what a server says instead of a list, such as that
  /// one has to log in, or a picture whose URL was given for that of a list. nil for everything else.
  /// - Throws: `SystemError`.
  func otherKind() throws -> String? {
    struct Enough: Error {}
    var start: [UInt8] = []
    do {
      try eachRawChunk { chunk in
        start += chunk.prefix(Self.beginning - start.count)
        if start.count == Self.beginning { throw Enough() }
      }
    } catch is Enough {
    } catch is ManifestProblem {
      return nil
    }
    if let picture = Self.pictures.first(where: { start.starts(with: $0.signature) }), start.contains(0) {
      return picture.kind
    }
    if start.starts(with: [0xEF, 0xBB, 0xBF]) { start.removeFirst(3) }
    let text = String(decoding: start.drop { $0 <= 0x20 }, as: UTF8.self).lowercased()
    let isHTML = text.hasPrefix("<") && ["<!doctype html", "<html", "<head", "<body"].contains(where: text.contains)
    return isHTML ? "an HTML page" : nil
  }
}
