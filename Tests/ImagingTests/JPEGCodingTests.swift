import Testing

@testable import Imaging

@Suite struct JPEGCodingTests {
  /// The sizes of the files by coding, once Pillow has found the same pixels and metadata in all of them.
  private func sizes(of source: String, recipe: String, _ options: OutputOptions) throws -> [Int] {
    let fixture = try PassFixture()
    var options = options
    options.format = .jpeg
    for coding in JPEGCoding.allCases {
      options.jpegCoding = coding
      try fixture.pass(source, to: fixture.folder.file(coding.rawValue), recipe: recipe, options: options)
    }
    let printed = try PassFixture.python(
      """
      import os
      from PIL import JpegImagePlugin
      paths = [f'{sys.argv[1]}/{name}' for name in sys.argv[2:]]
      pictures = [Image.open(path) for path in paths]
      assert ['progressive' in p.info for p in pictures] == [False, False, True]
      for p in pictures[1:]:
          assert np.array_equal(np.asarray(p), np.asarray(pictures[0]))
          assert p.mode == pictures[0].mode and p.quantization == pictures[0].quantization
          assert p.info.get('icc_profile') == pictures[0].info.get('icc_profile')
          assert p.info.get('dpi') == pictures[0].info.get('dpi') and p.getexif() == pictures[0].getexif()
          assert JpegImagePlugin.get_sampling(p) == JpegImagePlugin.get_sampling(pictures[0])
      print(*map(os.path.getsize, paths))
      """, [fixture.folder.path] + JPEGCoding.allCases.map(\.rawValue))
    return printed.split(separator: " ").compactMap { Int($0) }
  }

  @Test(
    "optimized and progressive JPEG is smaller than baseline, with the same pixels, on every path",
    arguments: ["sepia(0.8)", "resize(fit 200 200)", "blur(1px)", "grayscale(1) blur(1px)"],
    [ChromaChoice?.none, .full])
  func smaller(_ recipe: String, _ chroma: ChromaChoice?) throws {
    let sizes = try sizes(
      of: PassFixture.sample("chelsea.jpg"), recipe: recipe, OutputOptions(chroma: chroma, metadata: .all))
    #expect(sizes.count == 3 && sizes[1] < sizes[0] && sizes[2] < sizes[0], "\(sizes)")
  }

  @Test("every size can be coded in each way, grey and coloured", arguments: [1, 7, 8, 17], ["L", "RGB"])
  func everySize(_ width: Int, _ mode: String) throws {
    let fixture = try PassFixture()
    for height in [1, 16, 23] {
      _ = try PassFixture.python(
        """
        Image.open(sys.argv[2]).convert(sys.argv[3]).crop((100, 40, 100 + int(sys.argv[4]), 40 + int(sys.argv[5])))\\
            .save(sys.argv[1], 'PNG')
        """, [fixture.folder.file("in"), PassFixture.sample("coffee.jpg"), mode, "\(width)", "\(height)"])
      let sizes = try sizes(of: fixture.folder.file("in"), recipe: "none", OutputOptions())
      #expect(sizes.count == 3)
    }
  }

  @Test("the coefficients count as memory of a whole picture", arguments: [JPEGCoding.optimized, .progressive])
  func memory(_ coding: JPEGCoding) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python("Image.new('RGB', (601, 500)).save(sys.argv[1], 'PNG')", [fixture.folder.file("in")])
    // 38 × 32 units of four blocks of luma and two of chroma, and 76 × 63 of three blocks.
    for (chroma, bytes) in [(ChromaChoice.halved, 38 * 32 * 6 * 128), (.full, 76 * 63 * 3 * 128)] {
      let options = OutputOptions(format: .jpeg, chroma: chroma, jpegCoding: coding)
      let (input, output) = (fixture.folder.file("in"), fixture.folder.file("out"))
      func pass(_ limit: Int) throws {
        try fixture.pass(
          input, to: output, options: options, limits: ImageLimits(memory: WholePictureMemory(limit: limit)))
      }
      try pass(bytes)
      let error = #expect(throws: ImagingError.self) { try pass(bytes - 1) }
      #expect(error?.code == .imageTooLarge)
    }
  }

  @Test("the passes over the coefficients can be cancelled")
  func cancelled() throws {
    let fixture = try PassFixture()
    func calls(_ coding: JPEGCoding, upTo last: Int = .max) throws -> Int {
      var calls = 0
      try fixture.pass(
        PassFixture.sample("chelsea.jpg"), to: fixture.folder.file("out"), recipe: "sepia(0.8)",
        options: OutputOptions(jpegCoding: coding)
      ) {
        calls += 1
        return calls > last
      }
      return calls
    }
    let (plain, progressive) = (try calls(.baseline), try calls(.progressive))
    #expect(progressive > plain + 100)
    for last in [plain, plain + 1, progressive - 1] {
      let error = #expect(throws: ImagingError.self) { _ = try calls(.progressive, upTo: last) }
      #expect(error?.code == .cancelled)
    }
  }
}
