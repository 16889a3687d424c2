import TestSupport
import Testing

@testable import Imaging

/// Properties of the pictures in AVIF and HEIC of which Swift and libheif must think the same.
@Suite struct HEIFPropertyTests {
  /// Numerators and denominators of width, height and both offsets, of a picture of 64 × 48, and what is left of it.
  static let apertures: [(numbers: [Int], size: [Int]?)] = [
    ([50, 1, 40, 1, 0, 1, 0, 1], [50, 40]), ([101, 2, 40, 1, 0, 1, 0, 1], [51, 40]),
    ([51, 1, 41, 1, 0, 1, 0, 1], [51, 41]), ([50, 1, 40, 1, -3, 1, 2, 1], [50, 40]),
    ([50, 1, 40, 1, 1, 2, 0, 1], [50, 40]), ([63, 1, 47, 1, 1, 2, 1, 2], [63, 47]),
    ([99, 2, 79, 2, -7, 2, 5, 2], nil), ([1, 1, 1, 1, 31, 1, -23, 1], nil), ([200, 1, 200, 1, 0, 1, 0, 1], [64, 48]),
    ([50, 1, 40, 1, 20, 1, -20, 1], nil), ([50, 1, 40, 1, -20, 1, 20, 1], nil), ([100, 3, 100, 7, 1, 3, -1, 7], nil),
    ([3_276_800, 65_536, 2_621_440, 65_536, 0, 65_536, 0, 1], [50, 40]), ([64, 1, 48, 1, 0, 1, 0, 1], [64, 48]),
  ]

  /// A picture of 64 × 48 with a crop.
  private func cropped(_ numbers: [Int]) throws -> (fixture: PassFixture, file: String) {
    let fixture = try PassFixture()
    let file = fixture.folder.file("in.avif")
    _ = try PassFixture.python(
      HEIFTests.encoders
        + """
        avifenc(picture(64, 48), sys.argv[1], '--clap', '20,1,10,1,2,1,4,1', '-y', '444')
        data = open(sys.argv[1], 'rb').read()
        crop = struct.pack('>8I', 20, 1, 10, 1, 2, 1, 4, 1)
        assert data.count(crop) == 1
        numbers = [number & 0xffffffff for number in \(numbers)]
        open(sys.argv[1], 'wb').write(data.replace(crop, struct.pack('>8I', *numbers)))
        """, [file, packageRoot + "/Samples"])
    return (fixture, file)
  }

  @Test("a picture is cropped at the edges that libheif computes, whatever its fractions are", arguments: apertures)
  func edges(_ numbers: [Int], _ expected: [Int]?) throws {
    let (fixture, file) = try cropped(numbers)
    // The decoder compares its size with the header's.
    let source = try fixture.pass(file, to: fixture.folder.file("out"), options: OutputOptions(format: .png)).source
    if let expected { #expect([source.width, source.height] == expected) }
    let copied = try ScratchFile()
    try copied.write(try PassFixture.bytes(file))
    #expect(try copied.copied(.none).copy.info == source)
  }

  @Test(
    "a picture that is cropped to nothing, or by numbers that libheif does not compute with, is damaged",
    arguments: [
      [0, 1, 40, 1, 0, 1, 0, 1], [50, 0, 40, 1, 0, 1, 0, 1], [50, 1, 40, 1, 0, 1, 0, 0],
      [50, 1, 40, 1, 100, 1, 0, 1], [1 << 31, 1, 40, 1, 0, 1, 0, 1], [131_073, 1, 40, 1, 0, 1, 0, 1],
      [50, 1, 40, 1, -(1 << 31), 1, 0, 1], [65_535, 65_535, 40, 1, 65_535, 65_535, 0, 1],
      [50, 65_536, 40, 1, 0, 65_535, 0, 1],
    ])
  func damaged(_ numbers: [Int]) throws {
    let (fixture, file) = try cropped(numbers)
    #expect(try fixture.code(of: PassFixture.bytes(file)) == .imageCorrupt)
  }

  @Test func `alpha of another depth than the colours is not supported, and is copied`() throws {
    let fixture = try PassFixture()
    let path = fixture.folder.file("in.avif")
    _ = try PassFixture.python(
      HEIFTests.encoders
        + """
        avifenc(alpha(picture(64, 48)), sys.argv[1])
        data = bytearray(open(sys.argv[1], 'rb').read())
        # Alpha is grey; it gets 10 bits.
        places = [at for at in range(len(data)) if data[at:at + 4] == b'av1C' and data[at + 6] & 0x10]
        assert len(places) == 1
        data[places[0] + 6] |= 0x40
        open(sys.argv[1], 'wb').write(data)
        """, [path, packageRoot + "/Samples"])
    let bytes = try PassFixture.bytes(path)
    let error = try #require(try fixture.error(of: bytes))
    #expect(error.code == .unsupportedFormat)
    #expect(error.message == "the AVIF is of a kind that is not read: its colours have 8 bits, its alpha 10")
    let file = try ScratchFile()
    try file.write(bytes)
    #expect(try file.copied(.none).copy.isWholeFile)
  }
}
