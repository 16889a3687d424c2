/// A picture format: one value that describes it, from which everything else is derived. Compared, hashed and coded by name.
///
/// Adding a format takes a folder with its codecs and a static member that describes it, and one line in `allCases`.
package struct ImageFormat: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
  /// The name in options, manifests and reports: `jpeg`.
  package let rawValue: String
  /// The name in messages: `JPEG`.
  package let displayName: String
  /// The extension of file names, without a dot: `jpg`.
  package let fileExtension: String
  /// The beginning of files.
  let signature: FormatSignature
  /// Whether files can have an alpha channel.
  let hasAlpha: Bool
  /// Whether files can have one grey channel.
  let hasGrey: Bool
  /// Whether files can have 16 bits per sample.
  let has16Bit: Bool
  /// The type that reads the layout of files that are only copied.
  let structure: any PictureStructure.Type
  /// The type that reads files.
  let decoder: any RowDecoder.Type
  /// The type that writes files; nil for formats that are only read.
  let encoder: (any RowEncoder.Type)?

  init(
    name: String, displayName: String, fileExtension: String, signature: FormatSignature, hasAlpha: Bool, hasGrey: Bool,
    has16Bit: Bool, structure: any PictureStructure.Type, decoder: any RowDecoder.Type,
    encoder: (any RowEncoder.Type)?
  ) {
    rawValue = name
    self.displayName = displayName
    self.fileExtension = fileExtension
    self.signature = signature
    self.hasAlpha = hasAlpha
    self.hasGrey = hasGrey
    self.has16Bit = has16Bit
    self.structure = structure
    self.decoder = decoder
    self.encoder = encoder
  }

  /// Looks up a format by name.
  package init?(rawValue: String) {
    guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = format
  }

  /// The name.
  package var description: String { rawValue }

  /// Whether pictures can be written in this format.
  package var isWritable: Bool { encoder != nil }
}

extension ImageFormat: CaseIterable {
  /// All formats, in the order in which contents are matched.
  package static let allCases: [ImageFormat] = [
    .jpeg,
    .png,
    .webp,
  ]
}
