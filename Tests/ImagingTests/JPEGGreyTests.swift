import Testing

@testable import Imaging

/// Grey photographs in JPEG of one component and of three, with restart intervals.
@Suite struct JPEGGreyTests {
  @Test(
    "they are copied bit for bit, and filtered as Pillow decodes them",
    arguments: [
      "-grayscale -restart 2", "-grayscale -restart 3B -progressive", "-grayscale -restart 1 -arithmetic",
      "-sample 2x2 -restart 1", "-sample 1x1 -restart 7B", "-sample 2x1 -restart 5B -progressive",
    ], [(163, 219), (17, 9), (1, 1)])
  func restarts(_ words: String, _ size: (width: Int, height: Int)) throws {
    let fixture = try PassFixture()
    let paths = ["in", "inverted.png", "inverted.jpg", "grey.jpg"].map(fixture.folder.file)
    _ = try PassFixture.python(
      """
      import subprocess
      p = Image.open(sys.argv[2]).convert('L').resize((\(size.width), \(size.height))).convert('RGB')
      stored = io.BytesIO()
      p.save(stored, 'PPM')
      words = ['cjpeg', '-quality', '95', *sys.argv[3].split(), '-outfile', sys.argv[1]]
      subprocess.run(words, input=stored.getvalue(), check=True)
      assert b'\\xff\\xdd' in open(sys.argv[1], 'rb').read()
      """, [paths[0], PassFixture.sample("rocket.jpg"), words])
    let file = try ScratchFile()
    let bytes = try PassFixture.bytes(paths[0])
    try file.write(bytes)
    for policy in MetadataPolicy.allCases {
      let copied = try file.copied(policy)
      #expect(copied.bytes == bytes && copied.copy.isWholeFile && copied.copy.damage == nil)
    }
    for (path, recipe) in [(paths[1], "invert(1)"), (paths[2], "invert(1)"), (paths[3], "grayscale(1)")] {
      try fixture.pass(
        paths[0], to: path, recipe: recipe,
        options: OutputOptions(format: path == paths[1] ? .png : .jpeg, quality: 95))
    }
    let printed = try PassFixture.python(
      """
      a, *others = (Image.open(path) for path in sys.argv[1:])
      x = np.asarray(a).astype(int)
      exact, lossy, grey = (np.abs(y - np.asarray(b)) for y, b in zip((255 - x, 255 - x, x), others))
      modes = {b.mode for b in (a, *others)}
      print(len(modes), exact.max() <= 2, lossy.mean() < 2, grey.mean() < 2)
      """, paths)
    #expect(printed == "1 True True True")
  }
}
