/// How the coefficients of a JPEG are coded, without loss: the pixels are the same with each.
package enum JPEGCoding: String, CaseIterable, Sendable {
  /// In one scan, with the Huffman tables of the standard (ITU-T T.81 annex K.3).
  case baseline
  /// In one scan, with Huffman tables made for the picture. The file is smaller; the whole picture is held.
  case optimized
  /// In several scans, each of which makes the picture finer (T.81 annex G), with Huffman tables made for them. The file is
  /// smaller, of large pictures smaller still; the whole picture is held.
  case progressive
}
