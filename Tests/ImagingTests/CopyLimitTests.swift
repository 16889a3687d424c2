import Testing

@testable import Imaging

/// What a copy costs in time and memory is bounded, whatever the file holds: it is made in the program itself, whose memory
/// and processor all jobs share.
@Suite struct CopyLimitTests {
  private let file: ScratchFile

  init() throws { file = try ScratchFile() }

  // MARK: Segments, scans and chunks

  /// A piece that is repeated in a picture of the corpus, and how often it may be.
  enum Piece: CaseIterable {
    case comment, marker, commentAfterScan, scan, chunk, chunkAfterPixels, frameChunk

    /// The bytes before the pieces, one piece, and the bytes after them.
    fileprivate func parts() throws -> (start: ArraySlice<UInt8>, piece: [UInt8], end: ArraySlice<UInt8>) {
      // The last byte of a file of the corpus chooses a recipe.
      let jpeg = try CorpusPictures.bytes("jpeg-420").dropLast()
      let png = try CorpusPictures.bytes("png-8").dropLast()
      return switch self {
      case .comment: (jpeg[..<2], [0xFF, 0xFE, 0, 2], jpeg[2...])
      case .marker: (jpeg[..<2], [0xFF, 1], jpeg[2...])
      case .commentAfterScan: (jpeg.dropLast(2), [0xFF, 0xFE, 0, 2], jpeg.suffix(2))
      case .scan: (jpeg.dropLast(2), [0xFF, 0xDA, 0, 2], jpeg.suffix(2))
      case .chunk: (png[..<33], PNGChunk.encoded(Array("abCd".utf8), []), png[33...])
      case .chunkAfterPixels: (png.dropLast(12), PNGChunk.encoded(Array("abCd".utf8), []), png.suffix(12))
      case .frameChunk: ([], WebPChunk.encoded("abcd", []), [])
      }
    }

    /// How often the piece may occur.
    fileprivate func limit() throws -> Int {
      let pieces = CorpusPictures.pieces(
        try CorpusPictures.bytes(format == .jpeg ? "jpeg-420" : "png-8").dropLast())
      return switch self {
      // Besides the signature and what begins with the scan.
      case .comment, .marker, .commentAfterScan: 10_000 - (pieces.count - 2)
      case .scan: 500 - 1
      // Besides the signature.
      case .chunk, .chunkAfterPixels: 100_000 - (pieces.count - 1)
      case .frameChunk: 100_000
      }
    }

    fileprivate var format: ImageFormat {
      switch self {
      case .comment, .marker, .commentAfterScan, .scan: .jpeg
      case .chunk, .chunkAfterPixels: .png
      case .frameChunk: .webp
      }
    }

    fileprivate var code: ImagingError.Code { self == .scan ? .imageTooLarge : .imageCorrupt }

    /// A picture with so many of the pieces.
    fileprivate func picture(_ count: Int) throws -> [UInt8] {
      let (start, piece, end) = try parts()
      let extra = Array(repeatElement(piece, count: count).joined())
      guard self == .frameChunk else { return start + extra + end }
      // An animation whose frame has no picture.
      let body =
        Array("WEBP".utf8) + WebPChunk.encoded("VP8X", [2, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        + WebPChunk.encoded("ANMF", [UInt8](repeating: 0, count: 16) + extra)
      return Array("RIFF".utf8) + [UInt8](littleEndian: body.count, count: 4) + body
    }
  }

  /// Makes a copy, and counts how often the file is read.
  private func copy(_ policy: MetadataPolicy) -> (result: Result<LosslessCopy, ImagingError>, reads: Int) {
    var reads = 0
    let result = Result { () throws(ImagingError) in
      try LosslessCopy(
        of: file.descriptor, keeping: policy,
        isCancelled: {
          reads += 1
          return false
        })
    }
    return (result, reads)
  }

  @Test(
    "a picture has as many segments, scans or chunks as are allowed, whatever is kept of it",
    arguments: Piece.allCases.filter { $0 != .frameChunk }, [MetadataPolicy.none, .all])
  func most(_ piece: Piece, _ policy: MetadataPolicy) throws {
    try file.write(try piece.picture(try piece.limit()))
    let copy = try copy(policy).result.get()
    #expect(copy.isWholeFile || policy == .none)
  }

  @Test(
    "a file of nothing but segments, scans or chunks fails at the limit, and no more of it is read or held",
    arguments: Piece.allCases, [MetadataPolicy.none, .all])
  func excessive(_ piece: Piece, _ policy: MetadataPolicy) throws {
    let limit = try piece.limit()
    try file.write(try piece.picture(limit + 1))
    var errors = [error(copy(policy).result)]
    let bytes = try piece.picture(limit + (piece.format == .jpeg ? 300_000 : 60_000))
    try file.write(bytes)
    let (result, reads) = copy(policy)
    errors.append(error(result))
    #expect(errors.map(\.?.code) == [piece.code, piece.code] && errors[0]?.message == errors[1]?.message, "\(errors)")
    #expect(errors[0]?.message.contains("more than") == true, "\(errors)")
    // The chunks of a WebP are read one by one; else the buffers, besides those of the picture.
    let most = piece == .frameChunk ? limit : try limit * piece.parts().piece.count / SequentialReader.capacity
    #expect(reads <= most + 12, "\(reads) reads of \(bytes.count) bytes")
  }

  @Test("a copy of too many parts fails", arguments: [0, 1])
  func parts(_ surplus: Int) throws {
    let png = try CorpusPictures.bytes("png-8").dropLast()
    let pair =
      PNGChunk.encoded(Array("abCd".utf8), []) + PNGChunk.encoded(Array("gAMA".utf8), [0, 0, 0, 9])
    // Each pair makes one part more.
    try file.write(Array(png))
    let count = try CopiedParts.limit - copy(.none).result.get().parts.count + surplus
    try file.write(png[..<33] + Array(repeatElement(pair, count: count).joined()) + png[33...])
    let result = copy(.none).result
    #expect(error(result)?.code == (surplus > 0 ? .imageCorrupt : nil))
    if surplus == 0 { #expect(try result.get().parts.count == CopiedParts.limit) }
  }

  private func error(_ result: Result<LosslessCopy, ImagingError>) -> ImagingError? {
    if case .failure(let error) = result { error } else { nil }
  }

  // MARK: Cancellation

  @Test("a copy is given up at any read", arguments: CorpusPictures.names, [MetadataPolicy.none, .all])
  func cancelled(_ name: String, _ policy: MetadataPolicy) throws {
    // A long way to the picture's end.
    let picture = try CorpusPictures.bytes(name).dropLast()
    let filler = [UInt8](repeating: 0, count: 200_000)
    try file.write(
      picture.starts(with: [0xFF, 0xD8]) ? picture.dropLast(2) + filler + picture.suffix(2) : Array(picture))
    let reads = copy(policy).reads
    #expect(reads > 1)
    for limit in 0..<reads {
      var count = 0
      let result = Result { () throws(ImagingError) in
        try LosslessCopy(
          of: file.descriptor, keeping: policy,
          isCancelled: {
            count += 1
            return count > limit
          })
      }
      #expect(error(result)?.code == .cancelled)
    }
  }
}
