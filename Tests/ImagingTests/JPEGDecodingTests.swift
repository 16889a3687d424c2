import Foundation
import Testing

@testable import Imaging

/// Every kind of JPEG in every orientation, sample by sample against Pillow's decoding.
@Suite struct JPEGDecodingTests {
  /// Arguments of `cjpeg`: 4:4:4, 4:2:2, 4:2:0, 4:4:0, 4:1:1, 4:1:0, grey, RGB.
  static let colours = [
    "-sample 1x1", "-sample 2x1", "-sample 2x2", "-sample 1x2", "-sample 4x1", "-sample 4x2", "-grayscale", "-rgb",
  ]
  /// Arguments of `cjpeg`; `StoredPlaneTests` has rarer codings.
  static let codings = ["-baseline", "-progressive"]

  /// Width and height: whole blocks, parts of blocks, less than a block.
  private static let sizes = [(160, 96), (83, 61), (17, 33), (5, 3)]

  @Test("a JPEG becomes a PNG of Pillow's decoding, within 2", arguments: colours, codings)
  func decoded(_ colour: String, _ coding: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      import subprocess
      for width, height in \(Self.sizes.map { [$0.0, $0.1] }):
        pixels = np.asarray(Image.open('\(PassFixture.sample("chelsea.jpg"))').resize((width, height), Image.BICUBIC)).copy()
        # A few samples of the strongest colours, so that chroma interpolated wrongly would show.
        pixels[::7, ::5] = [255, 0, 0]
        pixels[::11, ::9] = [0, 40, 255]
        stored = io.BytesIO()
        Image.fromarray(pixels).save(stored, 'PPM')
        command = ['cjpeg', '-quality', '90', *'\(colour) \(coding)'.split()]
        whole = subprocess.run(command, input=stored.getvalue(), capture_output=True, check=True).stdout
        for orientation in range(1, 9):
          exif = Image.Exif(); exif[0x0112] = orientation
          app1 = exif.tobytes()
          marker = b'\\xff\\xe1' + struct.pack('>H', len(app1) + 2) + app1
          open(f'{sys.argv[1]}/{width}x{height}-{orientation}.jpg', 'wb').write(whole[:2] + marker + whole[2:])
      """, [fixture.folder.path])
    let names = Self.sizes.flatMap { size in (1...8).map { "\(size.0)x\(size.1)-\($0).jpg" } }
    for name in names {
      try fixture.pass(
        fixture.folder.file(name), to: fixture.folder.file(name + ".png"), options: OutputOptions(format: .png))
    }
    let printed = try PassFixture.python(
      """
      from PIL import ImageOps
      worst = 0
      for name in sys.argv[2:]:
        expected = ImageOps.exif_transpose(Image.open(f'{sys.argv[1]}/{name}'))
        result = Image.open(f'{sys.argv[1]}/{name}.png')
        assert result.mode == expected.mode == ('L' if 'gray' in '\(colour)' else 'RGB'), (result.mode, expected.mode)
        assert result.size == expected.size, (name, result.size, expected.size)
        worst = max(worst, int(np.abs(np.asarray(expected).astype(int) - np.asarray(result)).max()))
      print(worst)
      """, [fixture.folder.path] + names)
    #expect((0...2).contains(Int(printed) ?? -1), "\(printed)")
  }
}
