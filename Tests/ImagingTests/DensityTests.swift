import Testing

@testable import Imaging

@Suite struct DensityTests {
  @Test(
    "a density is kept whatever the policy, also from one format to the other",
    arguments: [ImageFormat.jpeg, .png], [ImageFormat.jpeg, .png])
  func kept(_ source: ImageFormat, _ target: ImageFormat) throws {
    for policy in MetadataPolicy.allCases {
      let printed = try dpi(of: source, to: target, policy)
      #expect(printed == "300 144")
    }
  }

  @Test("the density is transposed with the picture", arguments: [1, 2, 3, 6, 8])
  func turned(_ orientation: Int) throws {
    for format in [ImageFormat.jpeg, .png] {
      #expect(
        try dpi(of: format, to: format, .copyright, orientation) == (orientation >= 5 ? "144 300" : "300 144"))
    }
  }

  @Test("a ratio without a unit and a density in centimetres are kept")
  func units() throws {
    let ratio = try #require(PixelDensity(horizontal: 2, vertical: 1, unit: .none))
    #expect(ratio.perMetre == ratio && ratio.perInch == ratio)
    let fine = try #require(PixelDensity(horizontal: 118, vertical: 59, unit: .centimetre))
    #expect(fine.perInch == fine)
    #expect(fine.perMetre == PixelDensity(horizontal: 11800, vertical: 5900, unit: .metre))
  }

  @Test("a density that is the default or does not fit into the format is left out")
  func nothing() throws {
    #expect(PixelDensity(horizontal: 1, vertical: 1, unit: .none) == nil)
    #expect(PixelDensity(horizontal: 0, vertical: 300, unit: .inch) == nil)
    let finest = try #require(PixelDensity(horizontal: 0x7FFF_FFFF, vertical: 1, unit: .metre))
    #expect(finest.perInch == nil && finest.perMetre == finest)
    #expect(PixelDensity(horizontal: -1, vertical: 2835, unit: .metre) == nil)
    #expect(try #require(PixelDensity(horizontal: 0x8000_0000, vertical: 1, unit: .metre)).perMetre == nil)
    #expect(try #require(PixelDensity(horizontal: 1, vertical: 0x1000_0000, unit: .centimetre)).perMetre == nil)
    #expect(PNGChunk.item(of: PNGChunk.density, bytes: [0xFF] + [UInt8](repeating: 1, count: 8)) == nil)
    #expect(PNGChunk.item(of: PNGChunk.density, bytes: [0, 0, 0, 1]) == nil)
    #expect(JPEGSegment.density(inJFIF: JPEGSegment.jfifIdentifier + [1, 1, 9, 0, 72, 0, 72]) == nil)
    #expect(JPEGSegment.density(inJFIF: JPEGSegment.jfifIdentifier + [1, 1, 1, 0, 72]) == nil)
  }

  /// Horizontal and vertical dots per inch of the result for a picture with 300 and 144.
  private func dpi(
    of source: ImageFormat, to target: ImageFormat, _ policy: MetadataPolicy, _ orientation: Int = 1
  ) throws -> String {
    let fixture = try PassFixture()
    let (before, after) = (fixture.folder.file("in"), fixture.folder.file("out"))
    _ = try PassFixture.python(
      """
      exif = Image.Exif(); exif[0x0112] = \(orientation)
      Image.open(sys.argv[1]).save(sys.argv[2], '\(source.displayName)', dpi=(300, 144), exif=exif)
      """, [PassFixture.sample("chelsea-small.png"), before])
    try fixture.pass(before, to: after, recipe: "sepia(0.8)", options: OutputOptions(format: target, metadata: policy))
    return try PassFixture.python("print(*(round(d) for d in Image.open(sys.argv[1]).info['dpi']))", [after])
  }
}
