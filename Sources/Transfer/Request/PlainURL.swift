/// An http or https URL in the form in which libcurl returns it, as nearly all in manifests are: it can be used without libcurl's
/// parser, which takes ten times as long.
///
/// Its host is in lower case: four octets, or a name whose last label begins with a letter. Its path has no dot segments, and
/// there are no userinfo, fragment, escapes or characters that are escaped.
struct PlainURL {
  let scheme: SourceLocation.Scheme
  let host: String

  /// The port as written. Default: nil, the scheme's own.
  let port: Int?

  /// What follows the last slash of the path; may be empty.
  let lastPathComponent: String

  /// - Returns: nil for any other URL, valid or not.
  init?(_ text: String) {
    var text = text
    guard let parts = text.withUTF8(Parts.init) else { return nil }
    scheme = parts.scheme
    port = parts.port
    (host, lastPathComponent) = (text.slice(parts.host), text.slice(parts.lastPathComponent))
  }

  /// Where the parts are, in bytes from the start.
  private struct Parts {
    let scheme: SourceLocation.Scheme
    let host: Range<Int>
    let port: Int?
    let lastPathComponent: Range<Int>

    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
      if bytes.starts(with: "http://".utf8) {
        scheme = .http
      } else if bytes.starts(with: "https://".utf8) {
        scheme = .https
      } else {
        return nil
      }
      let start = scheme.rawValue.utf8.count + "://".utf8.count
      guard let end = Self.endOfHost(bytes, from: start) else { return nil }
      host = start..<end
      var next = end
      if next < bytes.count, bytes[next] == UInt8(ascii: ":") {
        guard let number = Self.port(bytes, at: &next) else { return nil }
        port = number
      } else {
        port = nil
      }
      guard let lastPathComponent = Self.lastPathComponent(bytes, from: next) else { return nil }
      self.lastPathComponent = lastPathComponent
    }

    /// Labels of letters, digits, `-` and `_`. The last begins with a letter, or the host is four octets.
    private static func endOfHost(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
      var (index, label) = (start, start)
      loop: while index < bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
          UInt8(ascii: "_"):
          break
        case UInt8(ascii: "."):
          if index == label { return nil }
          label = index + 1
        default: break loop
        }
        index += 1
      }
      guard index > label else { return nil }
      let isName = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[label])
      return isName || isFourOctets(UnsafeBufferPointer(rebasing: bytes[start..<index])) ? index : nil
    }

    /// Whether an address is written as libcurl writes it: four decimal numbers without leading zeros.
    private static func isFourOctets(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
      let octets = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      return octets.count == 4
        && octets.allSatisfy { number(UnsafeBufferPointer(rebasing: $0)).map { $0 < 256 } ?? false }
    }

    /// The port after a colon, from 1 to 65535; moves the index behind it.
    private static func port(_ bytes: UnsafeBufferPointer<UInt8>, at index: inout Int) -> Int? {
      let digits = bytes[(index + 1)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      index = digits.endIndex
      return number(UnsafeBufferPointer(rebasing: digits)).flatMap { (1...65535).contains($0) ? $0 : nil }
    }

    /// A decimal number of at most five digits without leading zeros.
    private static func number(_ digits: UnsafeBufferPointer<UInt8>) -> Int? {
      guard (1...5).contains(digits.count), digits[0] != UInt8(ascii: "0") || digits.count == 1 else { return nil }
      var value = 0
      for digit in digits {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
        value = value * 10 + Int(digit - UInt8(ascii: "0"))
      }
      return value
    }

    /// - Parameter start: Where the path begins.
    private static func lastPathComponent(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Range<Int>? {
      guard start < bytes.count, bytes[start] == UInt8(ascii: "/") else { return nil }
      var (component, query) = (start + 1, bytes.count)
      for index in (start + 1)..<bytes.count {
        switch bytes[index] {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"),
          UInt8(ascii: "="),
          UInt8(ascii: "&"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"),
          UInt8(ascii: "!"),
          UInt8(ascii: "$"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"):
          break
        case UInt8(ascii: "/"): if query == bytes.count { component = index + 1 }
        // Not the beginning of a component: it may be a dot segment.
        case UInt8(ascii: "."): if bytes[index - 1] == UInt8(ascii: "/") { return nil }
        case UInt8(ascii: "?"): if query == bytes.count { query = index }
        default: return nil
        }
      }
      // An empty query may be dropped.
      return query == bytes.count - 1 ? nil : component..<query
    }
  }
}

extension String {
  /// The text at offsets of its UTF-8 that lie between characters.
  fileprivate func slice(_ range: Range<Int>) -> String {
    let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
    return String(self[start..<utf8.index(start, offsetBy: range.count)])
  }
}
