/// The header that libtiff reads instead of a file's own, which follows it: of a BigTIFF, whose offsets are always large enough,
/// with one directory of the fields that decoding needs.
struct TIFFHeader {
  let bytes: [UInt8]

  private typealias Entry = (tag: Int, type: Int, values: [Int])

  private static let (short, long, long8, undefined) = (3, 4, 16, 7)

  init(of picture: TIFFPicture, isLittleEndian: Bool) {
    let entries = Self.entries(picture)
    let size = { (entry: Entry) in entry.values.count * (TIFFDirectory.sizes[entry.type] ?? 1) }
    let directory = 16 + 8 + 20 * entries.count + 8
    let total = directory + entries.map(size).filter { $0 > 8 }.reduce(0, +)
    var (bytes, values) = ([UInt8](), [UInt8]())
    bytes.reserveCapacity(total)
    func append(_ value: Int, _ count: Int, to target: inout [UInt8]) {
      for index in 0..<count {
        target.append(UInt8(truncatingIfNeeded: value >> (8 * (isLittleEndian ? index : count - 1 - index))))
      }
    }
    bytes += isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]
    for (value, count) in [(43, 2), (8, 2), (0, 2), (16, 8), (entries.count, 8)] { append(value, count, to: &bytes) }
    for entry in entries {
      for (value, count) in [(entry.tag, 2), (entry.type, 2), (entry.values.count, 8)] {
        append(value, count, to: &bytes)
      }
      // The file is behind the header.
      let shift = entry.tag == TIFFTag.stripOffsets || entry.tag == TIFFTag.tileOffsets ? total : 0
      var content: [UInt8] = []
      for value in entry.values { append(value + shift, TIFFDirectory.sizes[entry.type] ?? 1, to: &content) }
      if content.count > 8 {
        append(directory + values.count, 8, to: &bytes)
        values += content
      } else {
        bytes += content + [UInt8](repeating: 0, count: 8 - content.count)
      }
    }
    append(0, 8, to: &bytes)
    self.bytes = bytes + values
  }

  private static func entries(_ picture: TIFFPicture) -> [Entry] {
    let (strips, samples) = (picture.strips, picture.isSeparate ? picture.strips.planes.count : picture.samples)
    // Only of YCbCr libtiff has to know more: indices and inks are samples like others.
    var (photometric, colours) = (samples < 3 ? 1 : 2, samples < 3 ? 1 : 3)
    if case .ycbcr = picture.colours { (photometric, colours) = (6, 3) }
    let (offsets, counts) = (strips.places.map { Int($0.lowerBound) }, strips.places.map(\.count))
    var entries: [Entry] = [
      (TIFFTag.width, long, [picture.width]), (TIFFTag.height, long, [picture.height]),
      (TIFFTag.bitsPerSample, short, [Int](repeating: picture.bits, count: samples)),
      (TIFFTag.compression, short, [picture.compression.rawValue]), (TIFFTag.photometric, short, [photometric]),
      (TIFFTag.samplesPerPixel, short, [samples]),
      (TIFFTag.planarConfiguration, short, [picture.isSeparate && samples > 1 ? 2 : 1]),
    ]
    if strips.isTiled {
      entries += [
        (TIFFTag.tileWidth, long, [strips.width]), (TIFFTag.tileLength, long, [strips.height]),
        (TIFFTag.tileOffsets, long8, offsets), (TIFFTag.tileByteCounts, long8, counts),
      ]
    } else {
      entries += [
        (TIFFTag.stripOffsets, long8, offsets), (TIFFTag.rowsPerStrip, long, [strips.height]),
        (TIFFTag.stripByteCounts, long8, counts),
      ]
    }
    if samples > colours {
      entries.append((TIFFTag.extraSamples, short, [Int](repeating: 0, count: samples - colours)))
    }
    for (tag, value) in picture.codec.numbers {
      entries.append((tag, TIFFCodecFields.longs.contains(tag) ? long : short, value))
    }
    if let tables = picture.codec.jpegTables { entries.append((TIFFTag.jpegTables, undefined, tables.map(Int.init))) }
    return entries.sorted { $0.tag < $1.tag }
  }
}

/// The fields of a directory that say how samples are compressed.
struct TIFFCodecFields {
  private(set) var numbers: [Int: [Int]] = [:]
  private(set) var jpegTables: [UInt8]?

  /// Those of 32 bits.
  static let longs: Set = [TIFFTag.group3Options, TIFFTag.group4Options]
  private static let maxTableBytes = 64 << 10

  /// - Throws: `image-corrupt`, `image-truncated`, `io`, `cancelled`.
  init(
    _ directory: TIFFDirectory, _ file: TIFFFile, _ compression: TIFFCompression, _ colours: TIFFPicture.Colours
  ) throws(ImagingError) {
    var tags = [TIFFTag.fillOrder]
    switch compression {
    case .group3: tags.append(TIFFTag.group3Options)
    case .group4: tags.append(TIFFTag.group4Options)
    case .lzw, .deflate, .oldDeflate, .zstd, .lzma: tags.append(TIFFTag.predictor)
    case .jpeg:
      if case .ycbcr = colours { tags.append(TIFFTag.chromaSubsampling) }
      if let field = directory[TIFFTag.jpegTables], field.value.upperBound > file.size { throw .truncatedTIFF }
      jpegTables = try directory.content(TIFFTag.jpegTables, limit: Self.maxTableBytes)
    default: break
    }
    for tag in tags {
      guard let values = try directory.integers(tag, limit: 2) else { continue }
      guard values.count == (tag == TIFFTag.chromaSubsampling ? 2 : 1) else {
        throw .tiff("the field \(tag) has no numbers")
      }
      numbers[tag] = values
    }
  }
}
