/// A header field of a request, given by a manifest.
package struct HeaderField: Sendable, Hashable {
  /// As given.
  package let name: String

  /// Without leading and trailing white space; may be empty.
  package let value: String

  /// - Throws: `SourceRequest.ParseError` for a name that is not a token (RFC 9110, section 5.6.2) or that a manifest
  ///   cannot set, and for a value with control characters.
  package init(_ name: String, _ value: String) throws(SourceRequest.ParseError) {
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
      throw Self.problem("a header's name has letters, digits and !#$%&'*+-.^_`|~ only")
    }
    if let reason = Self.reserved[name.lowercased()] { throw Self.problem("the header \(name) \(reason)") }
    guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else {
      throw Self.problem("the value of the header \(name) holds control characters, such as a line break")
    }
    self.name = name
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let begun = value.utf8.drop(while: isBlank)
    let end = begun.lastIndex { !isBlank($0) }.map(begun.index(after:)) ?? begun.startIndex
    self.value = String(decoding: begun[..<end], as: UTF8.self)
  }

  /// Parses `NAME: VALUE`.
  package init(parsing line: String) throws(SourceRequest.ParseError) {
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw Self.problem("a header is NAME: VALUE") }
    try self.init(String(line[..<colon]), String(line[line.utf8.index(after: colon)...]))
  }

  var isContentType: Bool { name.lowercased() == "content-type" }

  /// Whether it is the `Referer` whose value is the URL of the request, written as in aria2.
  var isOwnReferer: Bool { value == "*" && name.lowercased() == "referer" }

  var isAuthorization: Bool { name.lowercased() == "authorization" }

  /// The line in libcurl's notation.
  package var line: String { value.isEmpty ? name + ";" : name + ": " + value }

  private static func problem(_ message: String) -> SourceRequest.ParseError {
    SourceRequest.ParseError(field: "headers", message: message)
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  /// The names that a manifest cannot set, in lower case, with the reason.
  private static let reserved: [String: String] = {
    let groups: [(String, [String])] = [
      ("is taken from the URL", ["host"]),
      ("is computed", ["content-length"]),
      (
        "belongs to the connection, which is shared",
        [
          "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect",
          "http2-settings",
        ]
      ),
      ("is for the proxy; give --proxy http://USER:PASSWORD@HOST", ["proxy-authorization"]),
      (
        "is set by the download cache; --refresh downloads again",
        ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range"]
      ),
      ("would get a part, and sources are downloaded whole", ["range"]),
      ("would get what is packed, and sources are not unpacked", ["accept-encoding"]),
    ]
    return Dictionary(uniqueKeysWithValues: groups.flatMap { reason, names in names.map { ($0, reason) } })
  }()
}
