import Model
import System
import Transfer

/// What tells a request from others in a few bytes, so that a derived name is found again by the request that had it.
package enum RequestDigest {
  /// The first 64 bits of the SHA-256 by which the cache, too, knows the request: its URL or its key, its method, headers and
  /// content. Two requests of a job have the same by chance only.
  /// - Parameters:
  ///   - url: The first, if there are mirrors.
  ///   - location: The same; nil when it is no URL.
  package static func digest(of url: String, _ location: SourceLocation?, _ request: SourceRequest, key: String?) -> Int
  {
    guard let location else { return number(MessageDigest.hexDigest(of: "no URL \(key ?? url)")) }
    return number(CacheKey(location, request, key: location.scheme == .file ? nil : key).text)
  }

  /// - Parameter digits: Hexadecimal ones, at least 16.
  private static func number(_ digits: String) -> Int {
    var bits: UInt64 = 0
    for digit in digits.utf8.prefix(16) { bits = bits << 4 | UInt64(digit & 0xf) + (digit >= 0x61 ? 9 : 0) }
    return Int(Int64(bitPattern: bits))
  }
}
