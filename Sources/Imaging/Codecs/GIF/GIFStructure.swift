/// The layout of a GIF file: its blocks, the end of the picture, and the rest.
struct GIFStructure: PictureStructure {
  let info: ImageInfo
  let damage: PictureDamage?
  private let file: FileReader

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = file
    let container = try GIFContainer(file, readsMetadata: false, damaged: limits.damaged)
    try limits.check(width: container.width, height: container.height)
    // As the decoder finds it, if it can read the frame before it.
    damage = container.ending == .invalid ? .behindRows(GIFContainer.missingBlock.message) : container.damage
    info = ImageInfo(format: .gif, width: container.width, height: container.height, frames: container.frames)
  }

  /// Only `all` keeps comments, XMP and other applications' data: none of them is a field for rights.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    var (parts, blocks) = (CopiedParts(), try GIFBlocks(file, readsMetadata: false))
    let size = try file.size()
    try parts.keep(upTo: blocks.offset)
    while let block = try blocks.next() {
      if case .metadata = block, policy != .all {
        parts.drop(upTo: blocks.offset)
      } else {
        try parts.keep(upTo: min(blocks.offset, size))
      }
    }
    // A trailer; otherwise the data of a frame that ends too early, or a block that is not known.
    if blocks.ending == .complete { try parts.keep(upTo: blocks.offset) }
    return parts
  }
}
