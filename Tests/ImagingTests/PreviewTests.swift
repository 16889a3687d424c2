import CPlanes
import TestSupport
import Testing

@testable import Imaging

/// Previews of large results, made from the rows that pass.
@Suite struct PreviewTests {
  @Test(
    arguments: [
      (1500, 1000, nil), (1, 1_500_000, nil), (1501, 1000, (501, 334)), (1225, 1225, (409, 409)),
      (6000, 4000, (500, 334)),
      (4000, 6000, (334, 500)), (65_500, 30, (512, 1)), (1_000_000, 2, (512, 1)), (16_383, 16_383, (512, 512)),
    ] as [(Int, Int, (Int, Int)?)])
  func `pictures of more than 1.5 megapixels have a preview of at most 512 pixels a side`(
    width: Int, height: Int, size: (Int, Int)?
  ) {
    let picture = ImageInfo(format: .png, width: width, height: height)
    let scale = PreviewScale(of: picture)
    #expect(scale?.size == size.map { PictureSize(width: $0.0, height: $0.1) })
    #expect(PreviewScale(of: picture, from: .max) == nil)
    guard let scale, let size else { return }
    #expect(scale.allows(ImageInfo(format: .jpeg, width: size.0, height: size.1)))
    #expect(!scale.allows(ImageInfo(format: .png, width: size.0, height: size.1)))
    #expect(!scale.allows(ImageInfo(format: .jpeg, width: size.0 + 1, height: size.1)))
  }

  /// A folder with the photograph of `sources`.
  private static let photograph = Shared {
    let folder = try TemporaryFolder()
    let script = """
      picture = Image.open('\(PassFixture.sample("coffee.jpg"))').resize((1283, 855)).crop((0, 300, 1283, 423))
      picture.save(sys.argv[1])
      """
    _ = try PassFixture.python(script, [folder.file("photograph.ppm")])
    return folder
  }

  /// What makes a source of a photograph of 1283 × 123 pixels, and the recipes for it.
  private static let sources = [
    (
      ["-sample 2x2", "-sample 2x1", "-sample 1x2", "-sample 1x1", "-grayscale", "-rgb", "-sample 2x2 -progressive"].map
      {
        "jpeg('\($0)')"
      }, ["sepia(0.8)", "resize(fit 1100 1100)", "hue-rotate(90deg)", "rotate(90)"]
    ),
    (
      [
        "save('CMYK', 'JPEG')", "alpha('RGBA', 'PNG')", "alpha('LA', 'PNG')", "deep(4)", "deep(3)", "deep(1)",
        "alpha('RGBA', 'WEBP')", "save('RGB', 'WEBP')", "save('P', 'PNG')",
      ], ["sepia(0.8)", "resize(fit 1100 1100)", "drop-shadow(5px 5px 9px red)"]
    ),
  ].flatMap { sources, recipes in sources.flatMap { source in recipes.map { (source, $0) } } }

  @Test(
    "a preview is the mean of squares of the result, laid on white",
    arguments: sources.flatMap { source in
      (source.0.hasPrefix("jpeg") ? [85, 95] : [85]).map { (script: source.0, recipe: source.1, quality: $0) }
    })
  func means(_ source: (script: String, recipe: String, quality: Int)) throws {
    let fixture = try PassFixture()
    let (path, result, preview) = (
      fixture.folder.file("source"), fixture.folder.file("result"), fixture.folder.file("preview")
    )
    _ = try PassFixture.python(
      """
      import subprocess
      photograph = Image.open('\(try Self.photograph.value.file("photograph.ppm"))')

      def save(mode, kind):
          photograph.convert(mode).save(sys.argv[1], kind)

      def veil():
          slope = np.add.outer(np.arange(123), np.arange(1283)) % 256
          return Image.fromarray(slope.astype('u1'))

      def alpha(mode, kind):
          picture = photograph.convert(mode[:-1])
          picture.putalpha(veil())
          picture.save(sys.argv[1], kind, lossless=True)

      def deep(channels):
          samples = np.asarray(photograph.convert('L' if channels == 1 else 'RGB')).reshape(123, 1283, -1)
          if channels == 4:
              samples = np.dstack([samples, np.asarray(veil())])
          open(sys.argv[1], 'wb').write(png(samples.astype(int) * 257, 16, {1: 0, 3: 2, 4: 6}[channels]))

      def jpeg(options):
          stored = io.BytesIO()
          photograph.save(stored, 'PPM')
          command = ['cjpeg', '-quality', '95', *options.split(), '-outfile', sys.argv[1]]
          subprocess.run(command, input=stored.getvalue(), check=True)

      \(source.script)
      """, [path])
    let pictures = try fixture.pass(
      path, to: result, recipe: source.recipe, options: OutputOptions(quality: source.quality), previewThreshold: 10_000
    )
    _ = try fixture.write(try #require(pictures.preview), as: "preview")
    let scale = try #require(PreviewScale(of: pictures.output, from: 0))
    #expect(scale.factor == 3)
    let printed = try PassFixture.python(
      """
      result, preview = Image.open(sys.argv[1]), Image.open(sys.argv[2])
      if result.mode == 'I;16':
          result = Image.fromarray((np.asarray(result) >> 8).astype('u1'))
      white = Image.new('RGBA', result.size, 'white')
      picture = np.asarray(Image.alpha_composite(white, result.convert('RGBA')).convert('RGB')).astype(float)
      h, w = picture.shape[0] // 3 * 3, picture.shape[1] // 3 * 3
      means = picture[:h, :w].reshape(h // 3, 3, w // 3, 3, 3).mean((1, 3))
      found = np.asarray(preview.convert('RGB')).astype(float)[:h // 3, :w // 3]
      print(preview.format, *preview.size, preview.mode, psnr(means, found), np.abs((means - found).mean((0, 1))).max())
      """, [result, preview]
    ).split(separator: " ")
    #expect(printed.prefix(3) == ["JPEG", "\(scale.size.width)", "\(scale.size.height)"])
    // That of a picture of this kind in JPEG of this quality and 4:2:0; a shift by half a pixel costs 5 dB more.
    let (distance, shift) = (try #require(Double(printed[4])), try #require(Double(printed[5])))
    #expect(distance >= 28 && shift < 1.5, "\(printed)")
  }

  @Test func `a preview ends at the edges of its picture, whatever is left of the last square`() throws {
    let fixture = try PassFixture()
    for (width, height) in [(1025, 1), (1027, 17), (1030, 49), (17, 1025), (2100, 33), (1, 1025)] {
      for recipe in ["sepia(0.8)", "hue-rotate(90deg)"] {
        _ = try PassFixture.python(
          "Image.new('RGB', (\(width), \(height)), (30, 160, 90)).save(sys.argv[1], 'JPEG')",
          [fixture.folder.file("source")])
        let pictures = try fixture.pass(
          fixture.folder.file("source"), to: fixture.folder.file("result"), recipe: recipe, previewThreshold: 0)
        _ = try fixture.write(try #require(pictures.preview), as: "preview")
        let printed = try PassFixture.python(
          """
          result, preview = (np.asarray(Image.open(p).convert('RGB')).astype(int) for p in sys.argv[1:3])
          print(preview.shape, np.abs(preview - result[0, 0]).max() <= 2)
          """, [fixture.folder.file("result"), fixture.folder.file("preview")])
        let factor = (max(width, height) + 511) / 512
        #expect(printed == "(\((height + factor - 1) / factor), \((width + factor - 1) / factor), 3) True", "\(recipe)")
      }
    }
  }

  @Test func `a picture that is not large has none, and a preview that would be too large is left out`() throws {
    let fixture = try PassFixture()
    let source = fixture.folder.file("source")
    _ = try PassFixture.python(
      """
      noise = np.random.default_rng(1).choice([0, 255], (512, 512, 3)).astype('u1')
      Image.fromarray(noise).save(sys.argv[1], 'JPEG', quality=95, subsampling=0)
      """, [source])
    for (recipe, threshold) in [("invert()", 512 * 512), ("invert()", 0), ("hue-rotate(9deg)", 0)] {
      let pictures = try fixture.pass(
        source, to: fixture.folder.file("result"), recipe: recipe, previewThreshold: threshold)
      #expect(pictures.preview == nil && pictures.output.width == 512)
    }
  }

  @Test func `the result is the same with a preview`() throws {
    let fixture = try PassFixture()
    let result = fixture.folder.file("result")
    for (sample, recipe) in [
      ("coffee.jpg", "sepia(0.8)"), ("coffee.jpg", "resize(fit 300 300)"), ("chelsea-small.png", "sepia(0.8)"),
    ] {
      #expect(try fixture.pass(PassFixture.sample(sample), to: result, recipe: recipe).preview == nil)
      let bytes = try PassFixture.bytes(result)
      let pictures = try fixture.pass(PassFixture.sample(sample), to: result, recipe: recipe, previewThreshold: 0)
      #expect(try pictures.preview != nil && PassFixture.bytes(result) == bytes)
    }
  }

  @Test(arguments: [1, 2, 7, 128, 256])
  func `sums and means are those of the formula, with the instructions of every processor`(rows: Int) {
    var chance = SplitMix64(seed: 4)
    let (width, stride) = (96, 112)
    for largest in [UInt8.max, 3] {
      let samples = (0..<(rows * stride)).map { _ in largest == 3 ? chance.next() % 4 : 252 + chance.next() % 4 }
      var all = samples.map(UInt8.init)
      let sums = cplanes_instructions.all.map { instructions in
        var sums = [UInt16](repeating: 0, count: width)
        cplanes_add_rows(instructions, &sums, &all, stride, Int32(rows), Int32(width))
        return sums
      }
      let expected = (0..<width).map { column in (0..<rows).reduce(0) { $0 + Int(samples[$1 * stride + column]) } }
      #expect(sums.allSatisfy { $0.map(Int.init) == expected })
      for factor in [1, 3, 64, 95] {
        var (rest, means) = (sums[0], [UInt8](repeating: 0, count: width))
        cplanes_average(&rest, Int32(width - 1), Int32(factor), Int32(rows), &means)
        let groups = Swift.stride(from: 0, to: width - 1, by: factor).map { $0..<min($0 + factor, width - 1) }
        let wanted = groups.map { (expected[$0].reduce(0, +) + $0.count * rows / 2) / ($0.count * rows) }
        #expect(means.prefix(groups.count).map(Int.init) == wanted, "\(factor)")
        #expect(rest.prefix(width - 1).allSatisfy { $0 == 0 })
      }
    }
  }
}
