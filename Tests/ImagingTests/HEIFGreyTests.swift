import TestSupport
import Testing

@testable import Imaging

/// AVIF and HEIC in grey, of full and of limited range.
@Suite struct HEIFGreyTests {
  /// Makes pictures of limited range with pillow-heif, which writes levels as they are.
  private static let limited = """
    video = dict(full_range_flag=0, color_primaries=1, transfer_characteristics=13, matrix_coefficients=1)

    def limited(p):
        return p.point(lambda level: round(level * 219 / 255 + 16))

    """

  @Test(
    "grey stays grey, with the levels that Pillow reads",
    arguments: [
      ("avif", "p.save(path, 'AVIF', quality=95, subsampling='4:0:0')", "L"),
      ("deep.avif", "avifenc(p, path, '-y', '400', '-d', '10', '--min', '0', '--max', '4')", "I;16"),
      ("alpha.avif", "avifenc(alpha(p), path, '-y', '400', '--min', '0', '--max', '4')", "LA"),
      ("grid.avif", "avifenc(p, path, '--grid', '2x1', '-y', '400', '--min', '0', '--max', '4')", "L"),
      ("limited.avif", "avifenc(p, path, '-r', 'limited', '-y', '400', '--min', '0', '--max', '4')", "L"),
      (
        "limited.deep.avif",
        "avifenc(p, path, '-r', 'limited', '-y', '400', '-d', '10', '--min', '0', '--max', '4')", "I;16"
      ),
      (
        "limited.alpha.avif",
        "avifenc(alpha(p), path, '-r', 'limited', '-y', '400', '--min', '0', '--max', '4')", "LA"
      ),
      (
        "limited.grid.avif",
        "avifenc(p, path, '--grid', '2x1', '-r', 'limited', '-y', '400', '--min', '0', '--max', '4')", "L"
      ),
      (
        "limited.bare.avif",
        "avifenc(p, path, '-r', 'limited', '-y', '400', '--min', '0', '--max', '4'); "
          + "data = open(path, 'rb').read(); assert b'colrnclx' in data; "
          + "open(path, 'wb').write(data.replace(b'colrnclx', b'freenclx'))", "L"
      ),
      (
        "limited.deepest.avif",
        "avifenc(p, path, '-r', 'limited', '-y', '400', '-d', '12', '--min', '0', '--max', '4')", "I;16"
      ),
      (
        "limited.premultiplied.avif",
        "avifenc(alpha(p), path, '-p', '-r', 'limited', '-y', '400', '--min', '0', '--max', '4')", "LA"
      ),
      ("heic", "p.save(path, 'HEIF', quality=95)", "L"),
      ("limited.heic", "limited(p).save(path, 'HEIF', quality=95, **video)", "L"),
      (
        "limited.bare.heic",
        // The encoder calls the coded picture one of full range in any case.
        "limited(p).save(path, 'HEIF', quality=95); data = open(path, 'rb').read(); bits = b'\\xae\\x6c\\x08'; "
          + "assert data.count(bits) == 1 and b'colrnclx' in data; data = data.replace(bits, b'\\xae\\x68\\x08'); "
          + "open(path, 'wb').write(data.replace(b'colrnclx', b'freenclx'))", "L"
      ),
      (
        "limited.deep.heic",
        "deep = (np.asarray(limited(p)).astype('<u2') * 256).tobytes(); "
          + "pillow_heif.encode('I;16', p.size, deep, path, format='HEIF', quality=95, **video)", "I;16"
      ),
      ("colour.avif", "avifenc(p.convert('RGB'), path, '-y', '444', '--min', '0', '--max', '4')", "RGB"),
    ])
  func grey(_ name: String, _ script: String, _ mode: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      HEIFTests.encoders + Self.limited
        + "p = ImageOps.autocontrast(picture(128, 64).convert('L'))\npath = f'{sys.argv[1]}/\(name)'\n"
        + script
        + "\np.save(f'{sys.argv[1]}/p.png')", [fixture.folder.path, packageRoot + "/Samples"])
    for (recipe, output) in [("none", "out"), ("sepia(1)", "sepia"), ("resize(fit 32 32)", "small")] {
      try fixture.pass(
        fixture.folder.file(name), to: fixture.folder.file(output), recipe: recipe, options: OutputOptions(format: .png)
      )
    }
    let printed = try PassFixture.python(
      """
      a, b = (Image.open(f'{sys.argv[1]}/{name}') for name in ('p.png', 'out'))
      levels = np.asarray(b).astype(int)
      if b.mode == 'I;16': levels = levels // 257
      # The levels of what can hardly be seen do not matter.
      is_seen = levels[..., 1] > 64 if levels.ndim > 2 else np.full(levels.shape, True)
      if levels.ndim > 2: levels = levels[..., 0]
      d = np.abs(np.asarray(a).astype(int) - levels)[is_seen]
      print(b.mode, 'near' if d.mean() < 1.5 else d.mean(), Image.open(f'{sys.argv[1]}/small').mode,
            Image.open(f'{sys.argv[1]}/sepia').convert('RGB').getpixel((5, 5))[2] < levels[5, 5])
      """, [fixture.folder.path])
    #expect(printed == "\(mode) near \(mode) True")
  }
}
