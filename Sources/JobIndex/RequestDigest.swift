import Model
import System
import Transfer

/// A short digest of a request, by which a later run finds the name that was derived for it.
package enum RequestDigest {
  /// The first 64 bits of the SHA-256 in the request's `CacheKey`, which covers its URL or key, method, headers and
  /// content. Equal digests of different requests are possible but improbable.
  /// - Parameters:
  ///   - url: The first URL, if there are mirrors.
  ///   - location: The parsed URL; nil when it is not valid.
  package static func digest(of url: String, _ location: SourceLocation?, _ request: SourceRequest, key: String?) -> Int
  {
    guard let location else { return number(MessageDigest.hexDigest(of: "no URL \(key ?? url)")) }
    return number(CacheKey(location, request, key: location.scheme == .file ? nil : key).text)
  }

  /// - Parameter digits: At least 16 hexadecimal digits.
  private static func number(_ digits: String) -> Int {
    var bits: UInt64 = 0
    for digit in digits.utf8.prefix(16) { bits = bits << 4 | UInt64(digit & 0xf) + (digit >= 0x61 ? 9 : 0) }
    return Int(Int64(bitPattern: bits))
  }
}
