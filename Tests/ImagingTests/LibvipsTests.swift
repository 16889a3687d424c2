import TestSupport
import Testing

@testable import Imaging

/// Results as libvips reads them: the library of the image services that pictures are often passed on to.
@Suite struct LibvipsTests {
  /// The source, in the prelude's words, and how its result is written.
  private static let results: [(name: String, source: String, recipe: String, options: OutputOptions)] = [
    ("baseline", "p.png", "none", OutputOptions(format: .jpeg)),
    ("progressive", "p.png", "none", OutputOptions(format: .jpeg, jpegCoding: .progressive)),
    ("optimized", "p.png", "none", OutputOptions(format: .jpeg, jpegCoding: .optimized)),
    ("444", "p.png", "none", OutputOptions(format: .jpeg, chroma: .full)),
    ("progressive 444", "p.png", "none", OutputOptions(format: .jpeg, chroma: .full, jpegCoding: .progressive)),
    ("grey", "grey.png", "none", OutputOptions(format: .jpeg)),
    ("progressive grey", "grey.png", "none", OutputOptions(format: .jpeg, jpegCoding: .progressive)),
    ("planes", "p.jpg", "sepia(0.8)", OutputOptions(format: .jpeg, jpegCoding: .progressive)),
    ("metadata", "p.jpg", "flop()", OutputOptions(format: .jpeg, metadata: .all)),
    ("palette", "few.png", "none", OutputOptions(format: .png, pngPalette: .lossless)),
    ("palette of 2", "two.png", "none", OutputOptions(format: .png, pngPalette: .lossless)),
    ("palette with alpha", "few-alpha.png", "none", OutputOptions(format: .png, pngPalette: .lossless)),
    ("alpha", "alpha.png", "none", OutputOptions(format: .png)),
    ("16 bits", "deep.tif", "none", OutputOptions(format: .png)),
    ("from TIFF", "p.tif", "none", OutputOptions()), ("from CMYK", "cmyk.tif", "none", OutputOptions()),
    ("WebP", "p.png", "none", OutputOptions(format: .webp)),
    ("WebP with alpha", "alpha.png", "none", OutputOptions(format: .webp, metadata: .all)),
    ("lossless WebP", "lossless.webp", "flop()", OutputOptions()),
    ("AVIF", "p.png", "none", OutputOptions(format: .avif)),
    ("AVIF 444", "p.png", "none", OutputOptions(format: .avif, chroma: .full)),
    ("AVIF with alpha", "alpha.png", "none", OutputOptions(format: .avif)),
  ]

  @Test("libvips reads every kind of result without a warning, as Pillow does")
  func opened() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      import os
      from PIL import ImageCms
      p = Image.open(sys.argv[2]).resize((211, 141), Image.BICUBIC)
      os.chdir(sys.argv[1])
      exif = Image.Exif(); exif[0x010F] = 'maker'; exif[0x8298] = 'somebody'
      profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
      p.save('p.jpg', quality=95, exif=exif.tobytes(), icc_profile=profile, dpi=(300, 300))
      p.save('p.png'); p.convert('L').save('grey.png'); p.save('p.tif', compression='tiff_lzw')
      p.convert('CMYK').save('cmyk.tif'); p.save('lossless.webp', lossless=True)
      p.quantize(60).convert('RGB').save('few.png'); p.convert('1').convert('RGB').save('two.png')
      ramp = Image.linear_gradient('L').resize(p.size)
      for name, picture, alpha in (('alpha', p, ramp), ('few-alpha', p.quantize(60), ramp.point(lambda v: v // 64 * 80))):
          picture = picture.convert('RGB'); picture.putalpha(alpha); picture.save(name + '.png')
      Image.fromarray(np.random.default_rng(1).integers(0, 65536, (141, 211)).astype('u2')).save('deep.tif')
      """, [fixture.folder.path, PassFixture.sample("coffee.jpg")])
    for (index, result) in Self.results.enumerated() {
      try fixture.pass(
        fixture.folder.file(result.source), to: fixture.folder.file("\(index)"), recipe: result.recipe,
        options: result.options)
    }
    let printed = try PassFixture.python(
      """
      import pyvips
      for path in sys.argv[2:]:
          theirs = pyvips.Image.new_from_file(f'{sys.argv[1]}/{path}', access='sequential', fail_on='warning').numpy()
          picture = Image.open(f'{sys.argv[1]}/{path}')
          if picture.mode == 'P': picture = picture.convert('RGBA' if 'transparency' in picture.info else 'RGB')
          ours = np.asarray(picture)
          theirs, ours = (a.reshape(*a.shape[:2], -1).astype(int) for a in (theirs, ours))
          assert theirs.shape == ours.shape, (path, theirs.shape, ours.shape)
          print(np.abs(theirs - ours).max(), np.abs(theirs - ours).mean().round(2))
      """, [fixture.folder.path] + Self.results.indices.map(String.init))
    let differences = printed.split(separator: "\n").map { $0.split(separator: " ").compactMap { Double($0) } }
    try #require(differences.count == Self.results.count)
    for (result, difference) in zip(Self.results, differences) {
      // libheif, in libvips, repeats chroma where Pillow interpolates it.
      let bound = !result.name.hasPrefix("AVIF") ? 0 : result.options.chroma == .full ? 0.3 : 2
      #expect(difference[1] <= bound, "\(result.name): \(difference)")
    }
  }
}
