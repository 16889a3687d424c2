/// The digest that a source's bytes must have.
package struct Checksum: Sendable, Hashable, CustomStringConvertible {
  /// What the digest is computed by.
  package let algorithm: MessageDigest.Algorithm

  /// Lower-case hexadecimal digits, as many as the algorithm yields.
  package let digest: String

  /// Parses `TYPE=HEX`, as aria2 writes it: `sha-256=e3b0c442…`. Digits may be of either case.
  /// - Throws: `ParseError`, which says what is expected.
  package init(parsing text: some StringProtocol) throws(ParseError) {
    let shown = String(text)
    guard let equals = shown.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      throw ParseError(message: "a checksum is TYPE=HEX, such as sha-256=e3b0c442…, not \"\(shown)\"")
    }
    let type = String(shown[..<equals])
    guard let algorithm = MessageDigest.Algorithm(rawValue: type) else {
      let known = MessageDigest.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
      throw ParseError(message: "unknown checksum type \"\(type)\"; there are \(known)")
    }
    let digest = shown[shown.index(after: equals)...].lowercased()
    let count = algorithm.hexDigitCount
    guard digest.utf8.count == count, digest.utf8.allSatisfy(Self.hexDigits.contains) else {
      throw ParseError(message: "a \(type) digest has \(count) hexadecimal digits; \"\(digest)\" is none")
    }
    self.algorithm = algorithm
    self.digest = digest
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  /// Checks a file from its start to its end.
  /// - Parameter source: What error messages call it.
  /// - Throws: `checksum-mismatch`; `io` when it cannot be read.
  package func check(_ descriptor: Int32, of source: String) throws(TransferError) {
    let found = try MessageDigest.hexDigest(ofDescriptor: descriptor, algorithm)
    guard found == digest else {
      throw TransferError(.checksumMismatch, "\(source) should have \(self); it has \(algorithm.rawValue)=\(found)")
    }
  }

  /// The canonical notation, as it is parsed.
  package var description: String { "\(algorithm.rawValue)=\(digest)" }

  /// A text that is no checksum.
  package struct ParseError: Error, Sendable {
    /// For people: what is wrong and what would be right.
    package let message: String
  }
}
