import Foundation
import TestSupport
import Testing

@testable import Imaging

/// AVIF and HEIC whose pictures are not all there, or very often.
@Suite struct HEIFDamageTests {
  private let fixture: PassFixture

  init() throws { fixture = try PassFixture() }

  /// Makes a file with a script that saves it as `sys.argv[1]`.
  private func make(_ script: String) throws -> [UInt8] {
    _ = try PassFixture.python(
      HEIFTests.encoders + script, [fixture.folder.file("in"), packageRoot + "/Samples"])
    return try PassFixture.bytes(fixture.folder.file("in"))
  }

  // MARK: Pixels

  @Test(
    arguments: [
      "picture(301, 200).save(path, 'HEIF', quality=90)",
      "picture(301, 200).convert('L').save(path, 'HEIF', quality=90)",
      """
      deep = np.asarray(picture(301, 200)).astype('<u2') * 257
      pillow_heif.encode('RGB;16', (301, 200), deep.tobytes(), path, format='HEIF', quality=90, chroma=444)
      """,
    ])
  func `a HEIC whose coded data say too early that they end is damaged, and shows no memory`(_ script: String) throws {
    var bytes = try make("path = sys.argv[1]\n" + script)
    #expect(try fixture.code(of: bytes) == nil)
    let data = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
    // These bits end a slice with the next block.
    for index in (data + bytes.count) / 2..<bytes.count { bytes[index] = 0xFF }
    #expect(try fixture.code(of: bytes) == .imageCorrupt)
  }

  // MARK: Grids

  /// Where the size of a picture is among its properties.
  private func place(ofSize size: [UInt8], in bytes: [UInt8]) throws -> Int {
    try #require(bytes.firstRange(of: Array("ispe".utf8) + [0, 0, 0, 0] + size)).upperBound - 8
  }

  private func size(_ width: Int, _ height: Int) -> [UInt8] {
    [UInt8](bigEndian: width, count: 4) + [UInt8](bigEndian: height, count: 4)
  }

  /// A grid of two pictures of 64 × 64, with another size, and its pictures with another, too.
  private func grid(_ width: Int, of tile: (Int, Int)) throws -> [UInt8] {
    var bytes = try make("avifenc(picture(128, 64), sys.argv[1], '--grid', '2x1')")
    let content = try #require(bytes.firstRange(of: [0, 0, 0, 1, 0, 128, 0, 64]))
    bytes.replaceSubrange(
      content.lowerBound + 4..<content.upperBound, with: [UInt8(width >> 8), UInt8(width & 255), 0, 64])
    var start = try place(ofSize: size(128, 64), in: bytes)
    bytes.replaceSubrange(start..<start + 8, with: size(width, 64))
    start = try place(ofSize: size(64, 64), in: bytes)
    bytes.replaceSubrange(start..<start + 8, with: size(tile.0, tile.1))
    return bytes
  }

  @Test(
    arguments: [
      (128, (64, 64), ImagingError.Code?.none), (129, (64, 64), .imageCorrupt), (300, (64, 64), .imageCorrupt),
      // The size of its pictures is another one than they are coded with.
      (160, (80, 64), .imageCorrupt), (128, (64, 80), .imageCorrupt), (128, (80, 64), .imageCorrupt),
    ])
  func `a grid is covered by the pictures that it is made of`(
    _ width: Int, _ tile: (Int, Int), _ code: ImagingError.Code?
  ) throws {
    #expect(try fixture.code(of: grid(width, of: tile)) == code)
  }

  @Test func `a grid of pictures that are the same, whose data libavif writes once, is read`() throws {
    let bytes = try make("avifenc(Image.new('RGB', (512, 512), 'white'), sys.argv[1], '--grid', '2x2')")
    #expect(bytes.count < 2000, "they have their data together")
    #expect(try fixture.code(of: bytes) == nil)
  }

  private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    [UInt8](bigEndian: 8 + content.count, count: 4) + Array(type.utf8) + content
  }

  private func full(_ type: String, version: UInt8 = 0, _ content: [UInt8]) -> [UInt8] {
    box(type, [version, 0, 0, 0] + content)
  }

  private func short(_ numbers: Int...) -> [UInt8] { numbers.flatMap { [UInt8](bigEndian: $0, count: 2) } }

  @Test func `data of a picture count once, however often a grid refers to it`() throws {
    let (columns, rows, parts) = (200, 100, 1000)
    let references = Array(repeatElement(short(2), count: columns * rows).joined())
    func entry(_ number: Int, _ type: String) -> [UInt8] {
      full("infe", version: 2, short(number, 0) + Array(type.utf8) + [0])
    }
    let information = short(2) + entry(1, "grid") + entry(2, "hvc1")
    let sizes = full("ispe", size(1600, 800)) + full("ispe", size(8, 8))
    let associations: [UInt8] = [0, 0, 0, 2, 0, 1, 1, 1, 0, 2, 1, 2]
    var places = short(0x0400, 2) + short(1, 1, 0, 1)
    places += [0, 0, 0, 8] + short(2, 1, 0, parts) + [UInt8](repeating: 0, count: 4 * parts)
    let grid = [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + short(1600, 800)
    var meta = full("pitm", short(1)) + full("iinf", information)
    meta += full("iref", box("dimg", short(1, columns * rows) + references))
    meta += box("iprp", box("ipco", sizes) + full("ipma", associations))
    meta += full("iloc", version: 1, places) + box("idat", grid)
    let file = FileReader(box("ftyp", Array("heic".utf8) + [0, 0, 0, 0]) + full("meta", meta))
    let container = try HEIFContainer(file, limits: ImageLimits())
    #expect(container.items.items[2]?.extents.count == parts && container.dataBytes == 8)
    #expect(try CodedPicture(1, container.items, ImageLimits(), file).items == [1, 2])
  }

  /// A grid of 2 × 1 pictures of these sizes, each with a transformation, without their data.
  private func grid(of tiles: [(Int, Int)], _ transformation: [UInt8]) -> FileReader {
    func entry(_ number: Int, _ type: String) -> [UInt8] {
      full("infe", version: 2, short(number, 0) + Array(type.utf8) + [0])
    }
    let sizes = ([(128, 64)] + tiles).map { full("ispe", size($0.0, $0.1)) }
    let last = UInt8(sizes.count + 1)
    var associations: [UInt8] = [0, 0, 0, 3, 0, 1, 1, 1]
    for number in 2...3 as ClosedRange<UInt8> {
      associations += transformation.isEmpty ? [0, number, 1, number] : [0, number, 2, number, last]
    }
    let places = short(0x4400, 3) + (1...3).flatMap { short($0, 1, 0, 1, 0, 8 * ($0 - 1), 0, 8) }
    var meta = full("pitm", short(1)) + full("iinf", short(3) + entry(1, "grid") + entry(2, "hvc1") + entry(3, "hvc1"))
    meta += full("iref", box("dimg", short(1, 2, 2, 3)))
    meta += box("iprp", box("ipco", sizes.flatMap { $0 } + transformation) + full("ipma", associations))
    meta +=
      full("iloc", version: 1, places) + box("idat", [0, 0, 0, 1] + short(128, 64) + [UInt8](repeating: 0, count: 16))
    return FileReader(box("ftyp", Array("heic".utf8) + [0, 0, 0, 0]) + full("meta", meta))
  }

  @Test(
    arguments: [
      ([(64, 64), (64, 64)], "", nil), ([(64, 64), (100, 64)], "", .imageCorrupt),
      ([(100, 64), (64, 64)], "", .imageCorrupt),
      ([(64, 64), (64, 100)], "", .imageCorrupt), ([(64, 64), (64, 64)], "clap", .imageCorrupt),
      ([(64, 64), (64, 64)], "irot", nil), ([(128, 64), (128, 64)], "irot", .imageCorrupt),
    ] as [([(Int, Int)], String, ImagingError.Code?)])
  func `the pictures of a grid have one size, also after their transformations`(
    _ tiles: [(Int, Int)], _ transformation: String, _ code: ImagingError.Code?
  ) throws {
    let content = ["clap": [UInt8](repeating: 0, count: 32), "irot": [1]][transformation]
    let file = grid(of: tiles, content.map { box(transformation, $0) } ?? [])
    var found: ImagingError?
    do throws(ImagingError) { _ = try HEIFContainer(file, limits: ImageLimits()) } catch { found = error }
    #expect(found?.code == code, "\(found?.message ?? "")")
  }

  // MARK: Copies

  @Test(arguments: ["avif-420", "heic-420", "heic-alpha", "avif-grid"], MetadataPolicy.allCases)
  func `data that no item refers to are no part of a copy`(_ name: String, _ policy: MetadataPolicy) throws {
    let picture = Array(try CorpusPictures.bytes(name).dropLast())
    let rest = Array(repeatElement(Array("SECRET".utf8), count: 100_000).joined())
    let file = try ScratchFile()
    try file.write(picture + box("mdat", rest))
    let (copy, bytes) = try file.copied(policy)
    // A difference of so many bytes takes minutes to be written.
    let isExpected = bytes == picture + box("mdat", policy == .all ? rest : [UInt8](repeating: 0, count: rest.count))
    #expect(isExpected)
    #expect(!copy.mayKeepMetadata && copy.isWholeFile == (policy == .all))
    // They are not held in memory.
    let last = try #require(copy.parts.last)
    #expect(policy == .all || last == .zeros(rest.count))
    try file.write(bytes)
    #expect(try file.copied(policy).copy.isWholeFile)
  }

  @Test(arguments: [MetadataPolicy.none, .copyright])
  func `a copy of a film keeps data that are not those of items, and says so`(_ policy: MetadataPolicy) throws {
    let picture = Array(try CorpusPictures.bytes("avif-420").dropLast())
    let file = try ScratchFile()
    try file.write(picture + box("moov", []) + box("mdat", Array("FRAMES".utf8)))
    let copy = try file.copied(policy).copy
    #expect(copy.isWholeFile && copy.mayKeepMetadata)
  }
}
