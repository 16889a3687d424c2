import Foundation

/// Text in Windows-1252, the encoding of spreadsheets and editors in Western Europe and America.
enum Windows1252 {
  /// Checks whether a file without a byte-order mark is in Windows-1252 as a whole: it has a byte that is not UTF-8, no valid
  /// UTF-8 character of several bytes, and none of the bytes that Windows-1252 does not define, nor NUL.
  ///
  /// Stops at the first such character, which in most UTF-8 files is at the first byte beyond ASCII.
  /// - Returns: The line, from 1, of the first byte beyond ASCII; nil when it is in UTF-8, or a mixture.
  /// - Throws: As `ManifestFile.eachChunk`.
  static func line(of file: ManifestFile) throws -> Int? {
    var scan = Scan()
    do {
      try file.eachRawChunk { chunk in
        for byte in chunk { scan.take(byte) }
        if scan.isOther { throw IsOther() }
      }
    } catch is IsOther {}
    return scan.isOther ? nil : scan.first
  }

  private struct IsOther: Error {}

  /// The state of a scan for the encoding.
  private struct Scan {
    /// The line of the first byte beyond ASCII.
    private(set) var first: Int?
    private(set) var isOther = false
    private var line = 1

    /// For a UTF-8 character that has begun: how many bytes follow, and the range of the next one.
    private var missing = 0
    private var next: ClosedRange<UInt8> = 0x80...0xbf

    mutating func take(_ byte: UInt8) {
      if byte < 0x80 {
        missing = 0
        if byte == UInt8(ascii: "\n") { line += 1 }
        if byte == 0 { isOther = true }
        return
      }
      if first == nil { first = line }
      if missing > 0, next.contains(byte) {
        missing -= 1
        next = 0x80...0xbf
        if missing == 0 { isOther = true }
        return
      }
      if Windows1252.undefined.contains(byte) { isOther = true }
      begin(byte)
    }

    /// The Unicode Standard, table 3-7.
    private mutating func begin(_ byte: UInt8) {
      next = 0x80...0xbf
      switch byte {
      case 0xc2...0xdf: missing = 1
      case 0xe0: (missing, next) = (2, 0xa0...0xbf)
      case 0xed: (missing, next) = (2, 0x80...0x9f)
      case 0xe1...0xef: missing = 2
      case 0xf0: (missing, next) = (3, 0x90...0xbf)
      case 0xf1...0xf3: missing = 3
      case 0xf4: (missing, next) = (3, 0x80...0x8f)
      default: missing = 0
      }
    }
  }

  private static let undefined: Set<UInt8> = [0x81, 0x8d, 0x8f, 0x90, 0x9d]

  /// Calls `body` with a piece in UTF-8. A byte that Windows-1252 does not define stays, and is invalid UTF-8.
  static func convert(_ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    var converted: [UInt8] = []
    converted.reserveCapacity(piece.count + piece.count / 8)
    for byte in piece {
      if byte < 0x80 { converted.append(byte) } else { converted += characters[Int(byte) - 0x80] }
    }
    try converted.withUnsafeBytes(body)
  }

  /// The bytes from 80 on in UTF-8.
  private static let characters: [[UInt8]] = (UInt8(0x80)...0xff).map { byte in
    guard !undefined.contains(byte), let text = String(bytes: [byte], encoding: .windowsCP1252) else { return [byte] }
    return Array(text.utf8)
  }

  static func warning(line: Int) -> ManifestWarning {
    let message = "the file is not in UTF-8 and was read as Windows-1252; if letters are wrong, save it as UTF-8"
    return ManifestWarning(.encoding, message, at: .line(line))
  }
}
