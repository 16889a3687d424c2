import CCrypto
import Glibc

/// A digest computed piece by piece with libcrypto (`EVP_DigestUpdate`).
package final class MessageDigest {
  /// The algorithms; raw values are their names in `checksum`.
  package enum Algorithm: String, Sendable, CaseIterable {
    case sha256 = "sha-256"
    case sha512 = "sha-512"
    case sha1 = "sha-1"
    case md5 = "md5"

    package var hexDigitCount: Int {
      switch self {
      case .sha256: 64
      case .sha512: 128
      case .sha1: 40
      case .md5: 32
      }
    }

    fileprivate var implementation: OpaquePointer? {
      switch self {
      case .sha256: Self.sha256Implementation
      case .sha512: EVP_sha512()
      case .sha1: EVP_sha1()
      case .md5: EVP_md5()
      }
    }

    /// SHA-256, looked up once: with `EVP_sha256()` libcrypto looks it up for each digest, which takes as long as a short digest.
    /// Never freed, and libcrypto only reads it, so that threads may share it.
    nonisolated(unsafe) private static let sha256Implementation = EVP_MD_fetch(nil, "SHA256", nil) ?? EVP_sha256()
  }

  private let context: OpaquePointer
  private var result: String?

  /// Starts a digest. Default: SHA-256. Ends the program when memory is exhausted.
  package init(_ algorithm: Algorithm = .sha256) {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, algorithm.implementation, nil) == 1 else {
      // Only when memory is exhausted, as the algorithms are libcrypto's own.
      fatalError("libcrypto cannot start a \(algorithm.rawValue) digest")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds bytes. Not allowed after `hexDigest()`.
  package func update(_ bytes: UnsafeRawBufferPointer) {
    precondition(result == nil, "the digest is finished")
    EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
  }

  /// Adds a text's UTF-8. Not allowed after `hexDigest()`.
  package func update(_ text: String) {
    var text = text
    text.withUTF8 { update(UnsafeRawBufferPointer($0)) }
  }

  /// Ends the digest; later calls return the same text.
  /// - Returns: lower-case hexadecimal digits, 64 of them for SHA-256.
  package func hexDigest() -> String {
    if let result { return result }
    let text = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(EVP_MAX_MD_SIZE)) { buffer in
      var length: UInt32 = 0
      EVP_DigestFinal_ex(context, buffer.baseAddress, &length)
      return Self.hexDigits(UnsafeBufferPointer(rebasing: buffer[..<Int(length)]))
    }
    result = text
    return text
  }

  private static func hexDigits(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
      for (index, byte) in bytes.enumerated() {
        buffer[index * 2] = hexDigit(byte >> 4)
        buffer[index * 2 + 1] = hexDigit(byte & 15)
      }
      return bytes.count * 2
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// The SHA-256 of a text's UTF-8.
  package static func hexDigest(of text: String) -> String {
    let digest = MessageDigest()
    digest.update(text)
    return digest.hexDigest()
  }

  /// The SHA-256 of bytes.
  package static func hexDigest(of bytes: [UInt8]) -> String { bytes.withUnsafeBytes { hexDigest(of: $0) } }

  /// The same of bytes in memory.
  package static func hexDigest(of bytes: UnsafeRawBufferPointer) -> String {
    let digest = MessageDigest()
    digest.update(bytes)
    return digest.hexDigest()
  }

  /// The HMAC-SHA256 (RFC 2104) of a text's UTF-8. Ends the program when memory is exhausted.
  /// - Returns: 64 lower-case hexadecimal digits.
  package static func hmac(of text: String, key: String) -> String {
    var (text, key, length) = (text, key, UInt32(0))
    let code = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      text.withUTF8 { text in
        key.withUTF8 { key in
          let bytes = buffer.baseAddress
          let made = HMAC(EVP_sha256(), key.baseAddress, Int32(key.count), text.baseAddress, text.count, bytes, &length)
          // Fails only when memory is exhausted, as the algorithm is libcrypto's own.
          if made == nil { fatalError("libcrypto cannot compute an HMAC") }
        }
      }
      count = Int(length)
    }
    return code.withUnsafeBufferPointer(hexDigits)
  }

  /// The digest of an open file from its start to its end, independent of its current position, which does not change.
  /// - Parameter path: The file's name in the error.
  /// - Throws: `SystemError` when `pread` fails.
  package static func hexDigest(
    ofDescriptor descriptor: Int32, _ algorithm: Algorithm = .sha256, path: String = "the file to digest"
  ) throws(SystemError) -> String {
    let digest = MessageDigest(algorithm)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)
    defer { buffer.deallocate() }
    var offset = 0
    while true {
      let count = uninterrupted { pread(descriptor, buffer.baseAddress, buffer.count, offset) }
      guard count >= 0 else { throw SystemError("read", path) }
      if count == 0 { return digest.hexDigest() }
      digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += count
    }
  }
}
