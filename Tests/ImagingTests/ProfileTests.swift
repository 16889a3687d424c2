import Foundation
import TestSupport
import Testing

@testable import Imaging

/// Colour profiles that cannot be used have no effect: results are those of the same picture without one.
@Suite struct ProfileTests {
  /// Python that makes profiles which are invalid.
  private static let invalid = #"""
    adobe = profiles['adobe']
    def renamed(profile, *names):
        for name in names:
            at = profile.index(name, 132)
            profile = profile[:at] + name.lower() + profile[at + 4:]
        return profile
    unit = b''.join(fixed(v) for v in (1, 0, 0, 0, 1, 0, 0, 0, 1))
    corners = bytes(255 * (i >> s & 1) for i in range(8) for s in (0, 2, 1))
    table = b'mft1' + bytes(4) + bytes([3, 3, 2, 0]) + unit + bytes(range(256)) * 3 + corners + bytes(range(256)) * 3
    invalid = {
        'truncated': adobe[:300], 'header': adobe[:128] + bytes(4), 'half a header': adobe[:64], 'no profile': b'junk' * 50,
        'no curves': renamed(adobe, b'rTRC', b'gTRC'), 'connection space': adobe[:20] + b'ABCD' + adobe[24:],
        'link': adobe[:12] + b'link' + adobe[16:], 'named': adobe[:12] + b'nmcl' + adobe[16:],
        'abstract': adobe[:12] + b'abst' + adobe[16:],
        'link of a table': icc(b'link', b'RGB ', b'Lab ', [(b'A2B0', table)]),
        'abstract of a table': icc(b'abst', b'RGB ', b'Lab ', [(b'A2B0', table)]),
        'truncated, grey': profiles['grey'][:150], 'truncated, CMYK': profiles['cmyk'][:1000],
    }

    """#

  @Test(
    "a profile for other pixels than the source's has no effect",
    arguments: [
      ("L", "adobe", "JPEG"), ("L", "adobe", "PNG"), ("L", "adobe", "TIFF"), ("LA", "adobe", "PNG"),
      ("L", "srgb", "PNG"),
      ("L", "cmyk", "JPEG"), ("RGB", "grey", "JPEG"), ("RGB", "grey", "WEBP"), ("RGB", "srgb-grey", "PNG"),
      ("RGB", "cmyk", "PNG"), ("CMYK", "adobe", "JPEG"), ("CMYK", "grey", "TIFF"),
    ], ["none", "sepia(0.8)", "rotate(90)", "resize(fit 50 50)"])
  func mismatched(_ source: (mode: String, profile: String, format: String), _ recipe: String) throws {
    try expectNoEffect(
      of: "profiles['\(source.profile)']", in: "picture('\(source.mode)')", source.format, recipe: recipe)
  }

  @Test(
    "an invalid profile has no effect",
    arguments: [
      "truncated", "header", "half a header", "no profile", "no curves", "connection space", "link", "named",
      "abstract",
      "link of a table", "abstract of a table",
    ], ["JPEG", "PNG", "WEBP", "TIFF"])
  func invalid(_ profile: String, _ format: String) throws {
    try expectNoEffect(of: "invalid['\(profile)']", in: "picture('RGB')", format, recipe: "sepia(0.8)")
  }

  @Test(
    "an invalid profile for grey or CMYK has no effect",
    arguments: [("L", "truncated, grey", "PNG"), ("L", "truncated, grey", "JPEG"), ("CMYK", "truncated, CMYK", "JPEG")])
  func invalid(_ mode: String, _ profile: String, _ format: String) throws {
    try expectNoEffect(of: "invalid['\(profile)']", in: "picture('\(mode)')", format, recipe: "none")
  }

  @Test("a PNG whose profile cannot be used has the colours of gAMA", arguments: ["profiles['grey']", "adobe[:300]"])
  func gamma(_ profile: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      ColourTests.prelude + Self.invalid + """
        p = np.asarray(picture('RGB')).astype(int)
        gamma = chunk(b'gAMA', struct.pack('>I', 100000))
        for path, before in zip(sys.argv[1:], (chunk(b'iCCP', b'x\\0\\0' + zlib.compress(\(profile))), b'')):
            open(path, 'wb').write(png(p, 8, 2, before=before + gamma))
        """, ["with", "without"].map(fixture.folder.file))
    try expectEqualResults(fixture, recipe: "sepia(0.8)")
  }

  @Test(
    arguments: [
      ("b''", "gamma(0)"), ("b''", "gamma(15)"), ("b''", "gamma(625_000_001)"), ("b''", "gamma(1 << 31)"),
      ("b''", "chunk(b'gAMA', bytes([0, 1, 134]))"), ("b''", "chunk(b'gAMA', bytes([0, 1, 134, 160, 0]))"),
      ("gamma(100_000)", "chunk(b'cHRM', bytes(32))"),
      ("gamma(100_000)", "chunk(b'cHRM', points()[8:40] + bytes(1))"),
      ("gamma(100_000)", "chunk(b'cHRM', points()[8:36])"),
      ("gamma(100_000)", "points(white=(31270, 4), red=(64000, 0), blue=(15000, 0))"),
      ("gamma(100_000)", "points(white=(70000, 20000))"), ("gamma(100_000)", "points(red=(64000, 36001))"),
      ("gamma(100_000)", "points(red=((1 << 32) - 1, 33000))"), ("gamma(100_000)", "points(blue=(64000, 33000))"),
      ("gamma(100_000)", "points(red=(64000, 32900), green=(15000, 32900), blue=(20000, 32900))"),
    ], [0, 2])
  func `an invalid gAMA or cHRM of a PNG has no effect`(_ chunks: (valid: String, invalid: String), _ kind: Int) throws
  {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      ColourTests.prelude + """
        def gamma(n): return chunk(b'gAMA', struct.pack('>I', n))
        def points(white=(31270, 32900), red=(64000, 33000), green=(21000, 71000), blue=(15000, 6000)):
            return chunk(b'cHRM', struct.pack('>8I', *white, *red, *green, *blue))
        p = np.asarray(picture('L' if \(kind) == 0 else 'RGB')).reshape(64, 96, -1).astype(int)
        valid = \(chunks.valid)
        for path, before in zip(sys.argv[1:], (valid + \(chunks.invalid), valid)):
            open(path, 'wb').write(png(p, 8, \(kind), before=before))
        """, ["with", "without"].map(fixture.folder.file))
    try expectEqualResults(fixture, recipe: "none")
  }

  @Test(
    arguments: [
      [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000], [31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000],
      [34567, 35850, 73469, 26531, 15958, 84042, 3658, 11], [32168, 33767, 73470, 26530, 0, 100_000, 10, 0],
      [31270, 32900, 21000, 71000, 64000, 33000, 15000, 6000],
    ])
  func `chromaticities of real primaries are valid, in any order`(_ numbers: [Int]) {
    #expect(Metadata.PNGColourChunk.cHRM.isValid(numbers.flatMap { [UInt8](bigEndian: $0, count: 4) }))
  }

  @Test(arguments: [16, 45_455, 100_000, 625_000_000])
  func `a gamma within libpng's limits is valid`(_ gamma: Int) {
    #expect(Metadata.PNGColourChunk.gAMA.isValid([UInt8](bigEndian: gamma, count: 4)))
  }

  /// Expects equal results from a picture with a profile and from the same without one.
  private func expectNoEffect(of profile: String, in picture: String, _ format: String, recipe: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      ColourTests.prelude + Self.invalid + """
        options = {'quality': 95} if '\(format)' == 'JPEG' else {'lossless': True}
        \(picture).save(sys.argv[1], '\(format)', icc_profile=\(profile), **options)
        \(picture).save(sys.argv[2], '\(format)', **options)
        assert 'icc_profile' in Image.open(sys.argv[1]).info
        """, ["with", "without"].map(fixture.folder.file))
    try expectEqualResults(fixture, recipe: recipe)
  }

  private func expectEqualResults(_ fixture: PassFixture, recipe: String) throws {
    for format in ImageFormat.allCases where format.isWritable {
      let results = try ["with", "without"].map { name in
        let output = fixture.folder.file("\(name).out")
        let result = try fixture.pass(
          fixture.folder.file(name), to: output, recipe: recipe, options: OutputOptions(format: format),
          previewThreshold: 0)
        return (preview: result.preview, bytes: try PassFixture.bytes(output))
      }
      #expect(results[0].bytes == results[1].bytes && !results[0].bytes.isEmpty, "\(format)")
      #expect(results[0].preview == results[1].preview && results[0].preview != nil, "\(format)")
    }
  }
}
