/// The tags of fields (TIFF 6.0, part 4, and its supplements).
enum TIFFTag {
  static let subfileType = 254
  static let (width, height) = (256, 257)
  static let (bitsPerSample, compression, photometric, fillOrder) = (258, 259, 262, 266)
  static let (stripOffsets, samplesPerPixel, rowsPerStrip, stripByteCounts) = (273, 277, 278, 279)
  static let (horizontalResolution, verticalResolution, planarConfiguration, resolutionUnit) = (282, 283, 284, 296)
  static let (group3Options, group4Options, predictor, colourMap) = (292, 293, 317, 320)
  static let (tileWidth, tileLength, tileOffsets, tileByteCounts) = (322, 323, 324, 325)
  static let (subdirectories, inkSet, extraSamples, sampleFormat) = (330, 332, 338, 339)
  static let (jpegTables, jpegOffset, jpegLength, chromaSubsampling) = (347, 513, 514, 530)
  /// Fields with the places of what a JPEG of TIFF 5 consists of, when it is no stream.
  static let partsOfJPEG = [stripOffsets, tileOffsets, 519, 520, 521]

  static let orientation = 274
  static let (artist, copyright) = (315, 33432)
  static let (xmp, iptc, photoshop, profile) = (700, 33723, 34377, 34675)
  static let (exifDirectory, gpsDirectory, interoperabilityDirectory) = (34665, 34853, 40965)
  static let directories: Set = [exifDirectory, gpsDirectory, interoperabilityDirectory]
  /// From here on tags are not of TIFF 6.0.
  static let firstPrivate = 32768

  /// The tags of fields that describe the picture in words, and that EXIF has, too (CIPA DC-008, table 4), with those of Windows.
  static let texts: Set = [
    269, 270, 271, 272, 285, 305, 306, 315, 316, 18246, 33432, 40091, 40092, 40093, 40094, 40095,
  ]

  /// The tags of fields without which the picture cannot be decoded, or looks different.
  static let picture = Set(254...259).union(262...266).union([273, 274]).union(277...284).union(286...293)
    .union([296, 297, 301]).union(317...332).union([334]).union(336...347).union(512...521).union(529...532)
    .union([559, profile, 50674])
}
