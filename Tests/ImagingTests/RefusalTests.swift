import Foundation
import Testing

@testable import Imaging

@Suite struct RefusalTests {
  @Test(
    "a file that is not a picture is described",
    arguments: [
      ("", ImagingError.Code.notAnImage, "the file is empty"),
      ("<!DOCTYPE html><title>x", .notAnImage, "an HTML page"), ("\n\n<HTML><body>", .notAnImage, "an HTML page"),
      ("{\"error\": 404}", .notAnImage, "JSON"), ("Not found\n", .notAnImage, "plain text"),
      ("<?xml version='1.0'?><rss>", .notAnImage, "an XML document"), ("%PDF-1.7", .notAnImage, "a PDF document"),
      ("PK\u{3}\u{4}", .notAnImage, "a ZIP archive"),
      ("\u{1}\u{2}\u{3}", .notAnImage, "unknown binary data (01 02 03)"),
      ("RIFF\u{20}\0\0\0WEBPVP8 ", .imageTruncated, "WebP"), ("RIFF\u{8}\0\0\0WAVEfmt ", .notAnImage, "unknown"),
      ("RIFF\u{8}\0\0\0WE", .imageTruncated, "signature of a WebP"),
      ("II*\0\u{8}\0\0\0", .imageTruncated, "TIFF"), ("MM\0*\0\0\0\u{8}", .imageTruncated, "TIFF"),
      ("II*", .imageTruncated, "signature of a TIFF"),
      ("GIF89", .imageTruncated, "signature of a GIF"), ("GIF89a\u{1}\0\u{1}\0", .imageTruncated, "GIF"),
      ("BM\0\0\0\0\0\0\0\0\u{36}\0\0\0\u{28}\0\0\0", .imageTruncated, "BMP"),
      ("BM is no BMP", .notAnImage, "plain text"), ("P6\n2 2\n255\n", .unsupportedFormat, "Netpbm"),
      ("P3 # made\n", .unsupportedFormat, "Netpbm"), ("P6 is a size", .notAnImage, "plain text"),
      ("P1 3 tickets", .notAnImage, "plain text"), ("\n a text", .notAnImage, "plain text"),
      ("\0\0\0\u{1C}ftypavif", .imageTruncated, "HEIF"), ("\0\0\0\u{18}ftypheic", .imageTruncated, "HEIF"),
      ("\0\0\0\u{18}ftypisom", .notAnImage, "an MP4 video"),
      ("\0\0\0\u{C}JXL \r\n", .unsupportedFormat, "JPEG XL"),
      ("<svg xmlns='http://www.w3.org/2000/svg'/>", .unsupportedFormat, "SVG"),
      ("<?xml version='1.0'?>\n<svg/>", .unsupportedFormat, "SVG"),
    ])
  func named(_ text: String, _ code: ImagingError.Code, _ words: String) throws {
    let fixture = try PassFixture()
    let error = try #require(try fixture.error(of: text.utf8))
    #expect(error.code == code)
    #expect(error.message.contains(words), "\(error.message)")
    #expect(throws: ImagingError.self) { try probe(fixture.folder.file("source")) }
  }

  @Test("a JPEG whose height is behind its picture is intact, and not supported")
  func heightBehindPicture() throws {
    let fixture = try PassFixture()
    var bytes = try PassFixture.bytes(PassFixture.sample("chelsea.jpg"))
    let frame = try #require(bytes.firstRange(of: [0xFF, 0xC0]) ?? bytes.firstRange(of: [0xFF, 0xC2])).upperBound
    bytes.replaceSubrange(frame + 3..<frame + 5, with: [0, 0])
    #expect(try fixture.code(of: bytes) == .unsupportedFormat)
  }

  @Test(
    "formats whose decoders only workers have are refused by name elsewhere, but can be copied",
    arguments: ["GIF", "BMP", "TIFF", "AVIF"])
  func unconfined(_ format: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      "Image.new('\(format == "AVIF" ? "RGB" : "P")', (3, 2)).save(sys.argv[1], '\(format)')",
      [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    let error = try #require(try fixture.error(of: bytes, limits: ImageLimits()))
    #expect(error.code == .unsupportedFormat)
    #expect(error.message == "\(format) is only decoded by confined workers (--isolation process)")
    let file = try ScratchFile()
    try file.write(bytes)
    #expect(try file.copied(.none).bytes == bytes)
  }

  @Test("random bytes are not a picture")
  func garbage() throws {
    let fixture = try PassFixture()
    for length in [1, 10, 1000, 100_000] {
      let code = try fixture.code(of: [0x07] + (1..<length).map { _ in UInt8.random(in: 0...255) })
      #expect(code == .notAnImage)
    }
  }

  @Test(
    "a picture of too many pixels is refused before memory is allocated",
    arguments: [
      (60000, 60000), (0x7FFF_FFFF, 0x7FFF_FFFF), (0x7FFF_FFFF, 1), (16384, 16384), (268_000_000, 1), (1, 1_000_001),
    ])
  func huge(_ width: Int, _ height: Int) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      "open(sys.argv[1], 'wb').write(SIGNATURE + chunk(b'IHDR', struct.pack('>IIBBBBB', \(width), \(height), 8, 2, 0, 0, 0))"
        + " + chunk(b'IDAT', zlib.compress(bytes(1000))) + chunk(b'IEND', b''))", [fixture.folder.file("in")])
    let error = try #require(try fixture.error(of: PassFixture.bytes(fixture.folder.file("in"))))
    #expect(error.code == .imageTooLarge)
    let isTooMany = width * height > 268_402_689
    #expect(
      error.message.hasPrefix(
        isTooMany
          ? "--max-pixels is 268.4 megapixels; the picture has more: \(width) × \(height), which is "
          : "a side may have 1000000 pixels; the picture has \(width) × \(height)"))
    #expect(throws: ImagingError.self) { try probe(fixture.folder.file("in")) }
  }

  @Test("the limit is exact", arguments: [("chelsea.jpg", 451 * 300), ("chelsea-small.png", 226 * 150)])
  func limit(_ name: String, _ pixels: Int) throws {
    let fixture = try PassFixture()
    let bytes = try PassFixture.bytes(PassFixture.sample(name))
    #expect(try fixture.code(of: bytes, limits: ImageLimits(maxPixels: pixels)) == nil)
    #expect(try fixture.code(of: bytes, limits: ImageLimits(maxPixels: pixels - 1)) == .imageTooLarge)
  }

  @Test("pictures that must be held whole are limited in bytes", arguments: ["progressive", "interlaced"])
  func whole(_ kind: String) throws {
    let fixture = try PassFixture()
    let script =
      kind == "progressive"
      ? "Image.new('RGB', (600, 500)).save(sys.argv[1], 'JPEG', progressive=True)"
      : "open(sys.argv[1], 'wb').write(png(np.zeros((500, 600, 3), int), 8, 2, True))"
    _ = try PassFixture.python(script, [fixture.folder.file("in")])
    let bytes = try PassFixture.bytes(fixture.folder.file("in"))
    #expect(
      try fixture.code(of: bytes, limits: ImageLimits(memory: WholePictureMemory(limit: 200_000))) == .imageTooLarge)
    #expect(try fixture.code(of: bytes, limits: ImageLimits(memory: WholePictureMemory(limit: 4_000_000))) == nil)
  }

  @Test("a JPEG's sides are limited by the format")
  func sides() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python("Image.new('L', (70000, 1)).save(sys.argv[1], 'PNG')", [fixture.folder.file("in")])
    let options = OutputOptions(format: .jpeg)
    #expect(throws: ImagingError.self) {
      try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"), options: options)
    }
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
  }

  @Test(
    "format and size are read from the header alone",
    arguments: [("rocket.jpg", ImageFormat.jpeg, 640, 427), ("chelsea-small.png", .png, 226, 150)])
  func probed(_ name: String, _ format: ImageFormat, _ width: Int, _ height: Int) throws {
    #expect(try probe(PassFixture.sample(name)) == ImageInfo(format: format, width: width, height: height))
  }

  private func probe(_ path: String) throws -> ImageInfo {
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    return try ImageInfo.probe(descriptor)
  }
}
