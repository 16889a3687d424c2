import CLinux

extension [UInt8] {
  /// Searches bytes by `memmem`. The standard library's `firstRange(of:)` takes about 300 times as long for bytes.
  ///
  /// - Parameters:
  ///   - mark: The bytes to look for, as UTF-8; not empty.
  ///   - start: Where the search begins, 0 to `count`.
  /// - Returns: The first occurrence, as indices of this array; nil without any.
  package func firstRange(ofBytes mark: String, from start: Int = 0) -> Range<Int>? {
    var mark = mark
    return withUnsafeBytes { bytes in
      mark.withUTF8 { mark in
        guard let base = bytes.baseAddress, start < bytes.count,
          let found = clinux_search(base + start, bytes.count - start, mark.baseAddress, mark.count)
        else { return nil }
        let begin = found - base
        return begin..<begin + mark.count
      }
    }
  }
}
