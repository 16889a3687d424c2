/// The contents of a GIF file (GIF89a specification), read from its blocks without giflib.
struct GIFContainer {
  /// The size of the canvas: the logical screen, enlarged to the first frame, as browsers do.
  let width, height: Int
  /// The first frame.
  let frame: GIFFrame
  /// The number of frames.
  let frames: Int
  let metadata: Metadata
  let ending: GIFBlocks.Ending

  /// Reads the blocks of a file.
  /// - Parameter damaged: Whether what follows the first frame may be damaged. Default: it must not.
  /// - Throws: `image-truncated` when the file ends before the data of the first frame, `image-corrupt`, `io`, `cancelled`.
  init(
    _ file: FileReader, readsMetadata: Bool = true, damaged: DamagePolicy = .fail
  ) throws(ImagingError) {
    var blocks = try GIFBlocks(file, readsMetadata: readsMetadata)
    var (first, frames, metadata) = (GIFFrame?.none, 0, Metadata())
    while let block = try blocks.next() {
      switch block {
      case .frame(let frame):
        first = first ?? frame
        frames += 1
      case .icc(let profile): metadata.append(.icc(profile))
      case .xmp(let packet): metadata.append(.xmp(packet))
      case .control, .metadata, .other: break
      }
    }
    ending = blocks.ending ?? .truncated
    guard ending != .invalid || damaged == .accept && first != nil else { throw Self.missingBlock }
    guard let first else { throw ending == .complete ? .gif("it has no picture") : .truncatedGIF }
    (width, height) = (max(blocks.width, first.column + first.width), max(blocks.height, first.row + first.height))
    (frame, self.frames, self.metadata) = (first, frames, metadata)
  }

  static let missingBlock = ImagingError.gif("there is no block where one must begin")

  /// Damage behind the data of the last frame, with which nothing is lost that would be shown.
  var damage: PictureDamage? { ending == .withoutTrailer ? PictureDamage(.harmless, "the GIF has no trailer") : nil }
}

extension ImagingError {
  static func gif(_ what: String) -> ImagingError {
    ImagingError(code: .imageCorrupt, message: "the GIF cannot be decoded: \(what)")
  }

  static let truncatedGIF = ImagingError(code: .imageTruncated, message: "the GIF ends before its picture does")
}
