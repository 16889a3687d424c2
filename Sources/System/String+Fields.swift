extension String {
  /// The parts between ASCII separators. It compares bytes: `split(separator:)` looks for characters, which takes many times as
  /// long.
  /// - Parameters:
  ///   - count: The most parts; the last has the rest. Default: all.
  ///   - omittingEmpty: Whether empty parts are left out.
  package func fields(_ separator: Unicode.Scalar, most count: Int = .max, omittingEmpty: Bool = true) -> [String] {
    var text = self
    return text.withUTF8 { bytes in
      var fields: [String] = []
      var rest = bytes[...]
      while true {
        let end = fields.count < count - 1 ? rest.firstIndex(of: UInt8(ascii: separator)) : nil
        let field = rest[..<(end ?? rest.endIndex)]
        if !omittingEmpty || !field.isEmpty { fields.append(String(decoding: field, as: UTF8.self)) }
        guard let end else { return fields }
        rest = rest[(end + 1)...]
      }
    }
  }
}
