/// The contents of a TIFF file, read without libtiff: its first page.
struct TIFFContainer {
  let file: TIFFFile
  let directory: TIFFDirectory
  let picture: TIFFPicture
  /// The offsets of the directories of all pages that can be read.
  let pages: [Int64]
  /// What is wrong behind the last of them; nil when nothing is.
  let damage: PictureDamage?

  /// Reads the directory of the first page.
  /// - Throws: `image-truncated`, `image-corrupt`, `unsupported-format`, `image-too-large`, `image-too-small`, `io`, `cancelled`.
  init(_ reader: FileReader, limits: ImageLimits) throws(ImagingError) {
    file = try TIFFFile(reader)
    guard file.first != 0 else { throw .tiff("it has no picture") }
    let first = try file.directory(at: file.first)
    // The first page of raw pictures of cameras, which are TIFF, too, is a thumbnail.
    if (try first.integer(TIFFTag.subfileType) ?? 0) & 1 == 1, first[TIFFTag.subdirectories] != nil {
      throw .unsupportedTIFF("its first page is a thumbnail, as in the raw of a camera")
    }
    directory = first
    picture = try TIFFPicture(directory, file, limits: limits)
    let (pages, areMissing) = try file.pages()
    self.pages = pages
    damage =
      areMissing
      ? PictureDamage(.harmless, "behind \(pages.count.of("page", "pages")) it has another one that cannot be read")
      : nil
  }

  var info: ImageInfo {
    ImageInfo(format: .tiff, width: picture.width, height: picture.height, frames: pages.count)
  }

  // MARK: Metadata

  /// - Throws: `image-truncated`, `io`, `cancelled`.
  func metadata() throws(ImagingError) -> Metadata {
    var metadata = Metadata()
    if let profile = try directory.content(TIFFTag.profile) { metadata.append(.icc(profile)) }
    if let density = try density() { metadata.append(.density(density)) }
    if let exif = try TIFFExif.stream(of: directory, file) { metadata.append(.exif(exif)) }
    if let packet = try directory.content(TIFFTag.xmp) { metadata.append(.xmp(packet)) }
    if let dataSets = try directory.content(TIFFTag.iptc) {
      metadata.append(.iptc(dataSets))
    } else if let resources = try directory.content(TIFFTag.photoshop),
      let dataSets = IPTC.dataSets(inResources: resources[...])
    {
      metadata.append(.iptc(dataSets))
    }
    return metadata
  }

  private func density() throws(ImagingError) -> PixelDensity? {
    var densities: [Int] = []
    for tag in [TIFFTag.horizontalResolution, TIFFTag.verticalResolution] {
      guard let field = directory[tag], field.type == 5, let bytes = try directory.content(of: field, limit: 8) else {
        return nil
      }
      let (numerator, denominator) = (file.number(bytes[0..<4]), file.number(bytes[4..<8]))
      guard denominator > 0 else { return nil }
      let density = (numerator + denominator / 2) / denominator
      // More fits into no other format.
      guard density < 1 << 24 else { return nil }
      densities.append(density)
    }
    let units: [Int: PixelDensity.Unit] = [1: .none, 2: .inch, 3: .centimetre]
    guard let unit = units[try number(TIFFTag.resolutionUnit) ?? 2] else { return nil }
    return PixelDensity(horizontal: densities[0], vertical: densities[1], unit: unit)
  }

  /// A number of 16 bits in the directory; nil when the field is something else.
  private func number(_ tag: Int) throws(ImagingError) -> Int? {
    guard let field = directory[tag], field.type == 3, field.count == 1 else { return nil }
    return try directory.integer(tag)
  }
}
