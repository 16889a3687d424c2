extension ManifestFile {
  /// So many bytes are looked at.
  private static let beginning = 512

  /// Whether it begins as an HTML page does: what a server says instead of a list, such as that one has to log in.
  /// - Throws: `SystemError`.
  func isHTML() throws -> Bool {
    struct Enough: Error {}
    var start: [UInt8] = []
    do {
      try eachRawChunk { chunk in
        start += chunk.prefix(Self.beginning - start.count)
        if start.count == Self.beginning { throw Enough() }
      }
    } catch is Enough {
    } catch is ManifestProblem {
      return false
    }
    if start.starts(with: [0xEF, 0xBB, 0xBF]) { start.removeFirst(3) }
    let text = String(decoding: start.drop { $0 <= 0x20 }, as: UTF8.self).lowercased()
    return text.hasPrefix("<") && ["<!doctype html", "<html", "<head", "<body"].contains(where: text.contains)
  }
}
