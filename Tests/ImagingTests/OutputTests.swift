import Foundation
import Testing

@testable import Imaging

@Suite struct OutputTests {
  @Test("a full disk is a failure of the system", arguments: ImageFormat.allCases.filter(\.isWritable))
  func full(_ format: ImageFormat) throws {
    let fixture = try PassFixture()
    do {
      try fixture.pass(PassFixture.sample("chelsea.jpg"), to: "/dev/full", options: OutputOptions(format: format))
      Issue.record("it was written")
    } catch let error as ImagingError {
      #expect(error.code == .io && error.systemError == ENOSPC)
      #expect(error.message.contains("No space left on device"))
    }
  }

  @Test("a full disk is detected with the last bytes", arguments: ImageFormat.allCases.filter(\.isWritable))
  func fullAtTheEnd(_ format: ImageFormat) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python("Image.new('RGB', (1, 1)).save(sys.argv[1], 'PNG')", [fixture.folder.file("in")])
    #expect(throws: ImagingError.self) {
      try fixture.pass(fixture.folder.file("in"), to: "/dev/full", options: OutputOptions(format: format))
    }
  }

  @Test("a source that cannot be read is a failure of the system")
  func unreadable() throws {
    let fixture = try PassFixture()
    do {
      try fixture.pass(fixture.folder.path, to: fixture.folder.file("out"))
      Issue.record("a folder was read")
    } catch let error as ImagingError {
      #expect(error.code == .io && error.systemError == EISDIR)
    }
  }

  @Test("cancellation is checked every few rows", arguments: ["plain", "progressive", "interlaced"])
  func cancelled(_ kind: String) throws {
    let fixture = try PassFixture()
    let script =
      switch kind {
      case "plain": "Image.open(sys.argv[1]).save(sys.argv[2], 'JPEG')"
      case "progressive": "Image.open(sys.argv[1]).save(sys.argv[2], 'JPEG', progressive=True)"
      default: "a = np.asarray(Image.open(sys.argv[1])); open(sys.argv[2], 'wb').write(png(a.astype(int), 8, 2, True))"
      }
    _ = try PassFixture.python(script, [PassFixture.sample("chelsea-small.png"), fixture.folder.file("in")])
    for last in [0, 1, 2, 5, 12] {
      var calls = 0
      do {
        try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out")) {
          calls += 1
          return calls > last
        }
        Issue.record("it went on")
      } catch let error as ImagingError {
        #expect(error.code == .cancelled)
        #expect(calls == last + 1)
      }
    }
  }

  @Test("descriptors stay open and none leaks")
  func descriptors() throws {
    let fixture = try PassFixture()
    let (input, output) = (
      open(PassFixture.sample("chelsea.jpg"), O_RDONLY), open(fixture.folder.file("out"), O_RDWR | O_CREAT, 0o600)
    )
    let pass = ImagePass(recipe: try Recipe(parsing: "invert()"))
    let first = try pass.run(from: input, to: output)
    let length = lseek(output, 0, SEEK_CUR)
    // The same again behind the first: the source is read from its beginning, the destination written where it is.
    #expect(try pass.run(from: input, to: output) == first)
    #expect(lseek(output, 0, SEEK_CUR) == 2 * length)
    #expect(close(input) == 0 && close(output) == 0)
    let bytes = try PassFixture.bytes(fixture.folder.file("out"))
    #expect(bytes.prefix(Int(length)) == bytes.suffix(Int(length)))
  }

  @Test(
    "chroma is as asked for, else by quality and source, on every path",
    arguments: ["sepia(0.8)", "resize(fit 60 60)", "blur(1px)"], [ChromaChoice?.none, .halved, .full])
  func chroma(_ recipe: String, _ choice: ChromaChoice?) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      """
      p = Image.open(sys.argv[2])
      for n in (0, 1, 2): p.save(f'{sys.argv[1]}/{n}', 'JPEG', subsampling=n)
      """, [fixture.folder.path, PassFixture.sample("chelsea.jpg")])
    // Pillow's numbers: 4:4:4, 4:2:2, 4:2:0.
    for source in 0...2 {
      for quality in [60, 95] {
        let options = OutputOptions(format: .jpeg, quality: quality, chroma: choice)
        try fixture.pass(
          fixture.folder.file("\(source)"), to: fixture.folder.file("out"), recipe: recipe, options: options)
        let printed = try PassFixture.python(
          """
          from PIL import JpegImagePlugin
          a, b = Image.open(sys.argv[1]), Image.open(sys.argv[2])
          d = np.abs(np.asarray(a.resize(b.size, Image.BICUBIC)).astype(int).mean((0, 1)) - np.asarray(b).mean((0, 1)))
          print(JpegImagePlugin.get_sampling(b), 'sepia' in sys.argv[3] or d.max() < 3)
          """, [fixture.folder.file("\(source)"), fixture.folder.file("out"), recipe])
        let expected = choice == .full ? 0 : choice == .halved || quality < 90 ? 2 : source
        #expect(printed == "\(expected) True", "\(source) \(quality)")
      }
    }
    try fixture.pass(
      fixture.folder.file("2"), to: fixture.folder.file("out"), recipe: recipe,
      options: OutputOptions(format: .avif, chroma: choice))
    let file = try ScratchFile()
    try file.write(try PassFixture.bytes(fixture.folder.file("out")))
    let chroma = try HEIFContainer(FileReader(file.descriptor), limits: .confined).chroma
    #expect(chroma == (choice == .full ? .yuv444 : .yuv420))
  }

  @Test("formats have names and extensions, by which they are found and coded")
  func formats() throws {
    #expect(ImageFormat.allCases.map(\.fileExtension) == ["jpg", "png", "webp", "gif", "bmp", "tif", "avif", "heic"])
    #expect(ImageFormat.allCases.map(\.rawValue) == ["jpeg", "png", "webp", "gif", "bmp", "tiff", "avif", "heic"])
    #expect(ImageFormat.allCases.allSatisfy { ImageFormat(rawValue: $0.rawValue) == $0 })
    #expect(ImageFormat(rawValue: "jxl") == nil)
    let coded = try JSONEncoder().encode(ImageFormat.allCases)
    #expect(String(decoding: coded, as: UTF8.self) == #"["jpeg","png","webp","gif","bmp","tiff","avif","heic"]"#)
    #expect(try JSONDecoder().decode([ImageFormat].self, from: coded) == ImageFormat.allCases)
  }

  @Test("a format is recognised by its whole signature")
  func signatures() {
    #expect(ImageFormat.sniffed(from: [0xFF, 0xD8, 0xFF, 0xE0]) == .jpeg)
    #expect(ImageFormat.sniffed(from: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) == .png)
    #expect(ImageFormat.sniffed(from: Array("RIFF\u{8}\0\0\0WEBP".utf8)) == .webp)
    #expect(ImageFormat.sniffed(from: []) == nil)
    for format in ImageFormat.allCases {
      for signature in format.signatures {
        let whole = signature.bytes.map { $0 ?? 0 }
        #expect(ImageFormat.sniffed(from: whole) == format)
        #expect(ImageFormat.sniffed(from: whole.dropLast()) == nil)
        for count in signature.distinctiveCount..<whole.count {
          #expect(ContentKind(of: Array(whole.prefix(count))) == .truncatedSignature(format))
        }
      }
    }
  }

  @Test(
    "the first strategy that can carry out a pass is used",
    arguments: [
      ("sepia(0.8)", ImageFormat.jpeg, "StoredPlanePass"), ("invert()", .jpeg, "RowPass"),
      ("resize(fit 300 300)", .jpeg, "ResizedPlanePass"), ("resize(fit 300 300) invert()", .jpeg, "RowPass"),
      ("sepia(0.8)", .png, "RowPass"), ("resize(fit 300 300)", .webp, "RowPass"), ("flop()", .jpeg, "RowPass"),
      // 640 columns are reversed, or 427 rows, of which two share a row of chroma.
      ("rotate(270) sepia(0.8)", .jpeg, "StoredPlanePass"), ("rotate(90) sepia(0.8)", .jpeg, "RowPass"),
      ("rotate(270) resize(fit 300 300)", .jpeg, "ResizedPlanePass"), ("rotate(180) flop()", .jpeg, "RowPass"),
    ])
  func strategies(_ recipe: String, _ format: ImageFormat, _ name: String) throws {
    let descriptor = open(PassFixture.sample("rocket.jpg"), O_RDONLY)
    defer { close(descriptor) }
    let decoder = try ImageFormat.open(descriptor, limits: ImageLimits())
    let pass = ImagePass(recipe: try Recipe(parsing: recipe))
    let plan = try pass.plan(for: decoder, format: format)
    #expect("\(type(of: ImagePass.strategy(for: plan)))" == name)
  }
}
