import Testing

@testable import Imaging

/// TIFF whose strips are JPEG as few programs write it.
@Suite struct TIFFJPEGTests {
  /// A TIFF of one strip, `file(data, …)`, and `jpeg(…)`, which runs cjpeg.
  private static let prelude =
    TIFFTests.encoders + """
      p = Image.open(sys.argv[1]).resize((150, 101), Image.BICUBIC)

      def jpeg(*words):
          stored = io.BytesIO()
          p.save(stored, 'PPM')
          return subprocess.run(['cjpeg', '-quality', '90', *words], input=stored.getvalue(), capture_output=True, check=True).stdout

      def file(data, chroma=(2, 2), kind=6, samples=3, tables=None):
          data += b'\\0' * (len(data) % 2)
          fields = {256: (4, [150]), 257: (4, [101]), 258: (3, [8] * samples), 259: (3, [7]), 262: (3, [kind]), 273: (4, [8]),
                    277: (3, [samples]), 278: (4, [101]), 279: (4, [len(data)]), 284: (3, [1])}
          if kind == 6: fields[530] = (3, list(chroma))
          if tables is not None: fields[347] = (7, tables)
          at = 8 + len(data)
          return header('<', False, at) + data + directory(fields, at)

      def parted(data):
          '''The tables of a JPEG, and the rest.'''
          tables, rest, at = b'', b'', 2
          while data[at + 1] != 0xDA:
              end = at + 2 + int.from_bytes(data[at + 2:at + 4], 'big')
              if data[at + 1] in (0xC4, 0xDB): tables += data[at:end]
              elif data[at + 1] != 0xE0: rest += data[at:end]
              at = end
          return b'\\xff\\xd8' + tables + b'\\xff\\xd9', b'\\xff\\xd8' + rest + data[at:]

      """

  @Test(
    "every coding and sampling is read as Pillow reads it",
    arguments: [
      "file(jpeg('-progressive', '-sample', '2x2'))", "file(jpeg('-sample', '4x1'), (4, 1))",
      "file(jpeg('-progressive', '-sample', '4x1'), (4, 1))", "file(jpeg('-sample', '4x2'), (4, 2))",
      "file(jpeg('-sample', '1x2'), (1, 2))", "file(jpeg('-sample', '2x2', '-restart', '1'))",
      "file(jpeg('-sample', '2x1', '-restart', '3B'), (2, 1))", "file(jpeg('-arithmetic', '-sample', '2x2'))",
      "file(jpeg('-optimize', '-sample', '1x1'), (1, 1))", "file(jpeg('-rgb', '-restart', '2'), kind=2)",
      "file(jpeg('-grayscale', '-restart', '2'), kind=1, samples=1)",
      "file(jpeg('-grayscale', '-progressive'), kind=0, samples=1)",
      "(lambda tables, data: file(data, tables=tables))(*parted(jpeg('-sample', '2x2', '-optimize')))",
    ])
  func decoded(_ script: String) throws {
    let fixture = try PassFixture()
    let paths = ["in", "out"].map(fixture.folder.file)
    _ = try PassFixture.python(
      Self.prelude + "open(sys.argv[2], 'wb').write(\(script))", [PassFixture.sample("chelsea.jpg"), paths[0]])
    try fixture.pass(paths[0], to: paths[1])
    let printed = try PassFixture.python(
      """
      a, b = (Image.open(path) for path in sys.argv[1:])
      print(a.size, b.format, a.mode == b.mode, np.abs(np.asarray(a).astype(int) - np.asarray(b)).max())
      """, paths)
    #expect(printed == "(150, 101) PNG True 0")
  }

  @Test(
    "a strip without its tables, or of another sampling than the file says, is corrupt",
    arguments: [
      "file(parted(jpeg())[1])", "file(parted(jpeg())[1], tables=b'\\xff\\xd8\\xff\\xd9')",
      "file(parted(jpeg())[1], tables=b'')", "file(parted(jpeg())[1], tables=b'\\xff\\xd8no tables\\xff\\xd9')",
      "file(parted(jpeg())[1], tables=parted(jpeg())[0][:40])", "file(jpeg('-sample', '2x1'), (2, 2))",
      "file(jpeg('-sample', '1x1'), (2, 2))", "file(jpeg('-grayscale'))", "file(jpeg('-sample', '4x1'), (0, 9))",
      "file(jpeg('-restart', '1').replace(b'\\xff\\xd3', b'\\xff\\xd5'))",
    ])
  func damaged(_ script: String) throws {
    let fixture = try PassFixture()
    let path = fixture.folder.file("in")
    _ = try PassFixture.python(
      Self.prelude + "open(sys.argv[2], 'wb').write(\(script))", [PassFixture.sample("chelsea.jpg"), path])
    #expect(try fixture.code(of: PassFixture.bytes(path)) == .imageCorrupt)
  }
}
