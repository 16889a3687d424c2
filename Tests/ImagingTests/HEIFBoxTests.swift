import Testing

@testable import Imaging

/// The ends of the boxes of AVIF and HEIC, which may be said to be anywhere.
@Suite struct HEIFBoxTests {
  /// A box with a size of 64 bits.
  private func box(_ type: String, _ size: Int64) -> [UInt8] {
    [0, 0, 0, 1] + Array(type.utf8) + [UInt8](bigEndian: Int(size), count: 8)
  }

  @Test(
    "the last box of a file may end behind the end of all files", arguments: ["avif-420", "heic-420"],
    ["mdat", "moov", "ftyp", "free", "uuid", "meta"])
  func endless(_ name: String, _ type: String) throws {
    let picture = Array(try CorpusPictures.bytes(name).dropLast())
    let file = try ScratchFile()
    for size in [Int64.max - Int64(picture.count), 1 << 62, 1 << 61, 1 << 32, 16] {
      for policy in MetadataPolicy.allCases {
        try file.write(picture + box(type, size))
        if type == "meta" {
          #expect(throws: ImagingError.self) { try file.copied(policy) }
          continue
        }
        let bytes = try file.copied(policy).bytes
        #expect(bytes.starts(with: picture))
        try file.write(bytes)
        #expect(try file.copied(policy).copy.isWholeFile)
      }
    }
    // Longer than any offset.
    try file.write(picture + box(type, .max))
    #expect(try file.copied(.none).bytes == picture)
  }

  @Test func `data of pictures may be in a box that ends behind the end of all files`() throws {
    let file = try ScratchFile()
    let picture = Array(try CorpusPictures.bytes("damaged-avif-endless-data").dropLast())
    for policy in MetadataPolicy.allCases {
      try file.write(picture)
      let (copy, bytes) = try file.copied(policy)
      #expect(copy.info == ImageInfo(format: .avif, width: 64, height: 48) && bytes == picture)
    }
  }
}
