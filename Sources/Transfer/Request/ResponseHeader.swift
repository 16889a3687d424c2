import CCurl
import System

/// The fields of a response's header that transfers use, parsed line by line as libcurl delivers them. A status line
/// begins a new header.
struct ResponseHeader {
  /// The status, or 0 before the first line.
  private(set) var status = 0

  /// The `Content-Length`, if it is a number; `Int.max` for a larger one.
  private(set) var announcedBytes: Int?

  /// Whether a `Transfer-Encoding` delimits the body instead of `announcedBytes`.
  private(set) var hasTransferEncoding = false

  /// The `Location`, as sent, with bytes beyond ASCII percent-encoded.
  private(set) var location: String?

  /// The `Retry-After`, as sent.
  private(set) var retryAfter: String?

  /// The `ETag`, as sent.
  private(set) var etag: String?

  /// The `Last-Modified`, as sent.
  private(set) var lastModified: String?

  /// The `Date`, as sent.
  private(set) var date: String?

  /// The `Content-Range`; `nil` when there is none, or its unit is not bytes.
  private(set) var contentRange: ContentRange?

  /// Whether the server announces that it sends no parts of a body (`Accept-Ranges: none`).
  private(set) var refusesRanges = false

  /// Whether `Cache-Control` holds `no-store`.
  private(set) var forbidsStoring = false

  enum Line {
    /// `HTTP/1.1 200 OK`
    case status
    /// A field, folded or not.
    case field
    /// The empty line after the fields.
    case end
  }

  static func isStatus(_ line: UnsafeRawBufferPointer) -> Bool { begins(line, with: "http/") }

  /// Parses a line, with its line break.
  mutating func parse(_ line: UnsafeRawBufferPointer) -> Line {
    if Self.isStatus(line) {
      self = ResponseHeader()
      status = Self.number(line.drop { $0 != UInt8(ascii: " ") }) ?? 0
      return .status
    }
    guard let first = line.first, first != UInt8(ascii: "\r"), first != UInt8(ascii: "\n") else { return .end }
    if Self.begins(line, with: "content-length:") {
      announcedBytes = Self.number(line.dropFirst(15))
    } else if Self.begins(line, with: "location:") {
      // Of several the first counts, as with curl.
      if location?.isEmpty ?? true { location = Self.encoded(line.dropFirst(9)) }
    } else if Self.begins(line, with: "transfer-encoding:") {
      hasTransferEncoding = true
    } else if Self.begins(line, with: "retry-after:") {
      retryAfter = Self.text(line.dropFirst(12))
    } else if Self.begins(line, with: "etag:") {
      etag = Self.validator(line.dropFirst(5))
    } else if Self.begins(line, with: "last-modified:") {
      lastModified = Self.validator(line.dropFirst(14))
    } else if Self.begins(line, with: "date:") {
      date = Self.validator(line.dropFirst(5))
    } else if Self.begins(line, with: "content-range:") {
      contentRange = ContentRange(Self.text(line.dropFirst(14)))
    } else if Self.begins(line, with: "accept-ranges:") {
      refusesRanges = Self.text(line.dropFirst(14)).lowercased() == "none"
    } else if Self.begins(line, with: "cache-control:") {
      let directives = Self.text(line.dropFirst(14)).lowercased().split { ", \t".contains($0) }
      if directives.contains("no-store") { forbidsStoring = true }
    }
    return .field
  }

  /// The target of a redirect; `nil` for any other response.
  var redirectTarget: String? {
    guard (300..<400).contains(status), status != 304, let location, !location.isEmpty else { return nil }
    return location
  }

  /// The validators of the response; `nil` when there are none.
  /// - Parameters:
  ///   - url: The URL that returned it, or its scope.
  ///   - begun: The body that it continues, whose validators the response need not repeat.
  func validators(of url: String, continuing begun: PartialBody.Source? = nil) -> Validators? {
    let (etag, lastModified) = (etag ?? begun?.etag, lastModified ?? begun?.lastModified)
    guard etag != nil || lastModified != nil else { return nil }
    return Validators(etag: etag, lastModified: lastModified, urlDigest: MessageDigest.hexDigest(of: url))
  }

  /// The required length of the body; `nil` when unknown.
  var bodyBytes: Int? { hasTransferEncoding ? nil : announcedBytes }

  /// Compares the beginning case-insensitively. `prefix` is lower case and ends in `:` or `/`, which no letter becomes when the
  /// case bit (0x20) is set.
  private static func begins(_ line: UnsafeRawBufferPointer, with prefix: StaticString) -> Bool {
    let count = prefix.utf8CodeUnitCount
    guard line.count >= count else { return false }
    for index in 0..<count where line[index] | 0x20 != prefix.utf8Start[index] { return false }
    return true
  }

  /// A URL reference with its bytes beyond ASCII percent-encoded: servers send them in any encoding.
  private static func encoded(_ value: Slice<UnsafeRawBufferPointer>) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    let bytes = value.flatMap { byte in
      byte < 0x80 ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
    return bytes.withUnsafeBytes { text($0[...]) }
  }

  /// A field's value without the white space around it.
  private static func text(_ value: Slice<UnsafeRawBufferPointer>) -> String {
    let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || (9...13).contains($0) }
    let value = value.drop(while: isSpace)
    guard let last = value.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(decoding: value[...last], as: UTF8.self)
  }

  /// A validator that can be sent back unchanged; `nil` for one that is empty, too long or not printable ASCII.
  private static func validator(_ value: Slice<UnsafeRawBufferPointer>) -> String? {
    let text = text(value)
    return Validators.isUsable(text) ? text : nil
  }

  private static func number(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
    let digits = text.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.prefix { (48...57).contains($0) }
    return digits.isEmpty ? nil : Int(String(decoding: digits, as: UTF8.self)) ?? .max
  }
}

/// The part of a body that a response with status 206 has: a `Content-Range` in bytes (RFC 9110, section 14.4).
struct ContentRange: Equatable {
  /// The positions of its first and its last byte, from 0.
  let first: Int
  let last: Int

  /// The length of the whole body; `nil` when the server does not know it.
  let total: Int?

  /// - Returns: `nil` for a text that is no such range, or an impossible one.
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).compactMap(Self.number)
    guard ends.count == 2, ends[0] <= ends[1] else { return nil }
    (first, last, total) = (ends[0], ends[1], Self.number(parts[1]))
    guard parts[1] == "*" || total.map({ ends[1] < $0 }) == true else { return nil }
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }
}

/// Parses the value of a `Retry-After` header (RFC 9110, section 10.2.3): a number of seconds, with or without a fraction,
/// or an HTTP date in any of its three forms (`curl_getdate`).
/// - Parameters:
///   - value: The header's value, without surrounding white space.
///   - now: The current time, in seconds since 1970.
/// - Returns: Seconds from `now`: 0 for a time in the past, 2³¹ - 1 at most; `nil` for a value that is neither.
func retryAfterSeconds(_ value: String, now: Double) -> Double? {
  if value.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }) {
    return Double(value).map(clamped)
  }
  let date = curl_getdate(value, nil)
  return date < 0 ? nil : clamped(Double(date) - now)
}

private func clamped(_ seconds: Double) -> Double { min(max(0, seconds), Double(Int32.max)) }
