import Foundation
import Testing

@testable import Imaging

@Suite struct MultiPictureTests {
  private let fixture: PassFixture
  private let file: ScratchFile

  init() throws {
    fixture = try PassFixture()
    file = try ScratchFile()
  }

  /// A file of three pictures of other colours and sizes, as Pillow writes it.
  private func picture() throws -> [UInt8] {
    let path = fixture.folder.file("in")
    _ = try PassFixture.python(
      """
      pictures = [Image.new('RGB', (40 + 8 * n, 30), (80 * n, 10, 200)) for n in range(3)]
      pictures[0].save(sys.argv[1], 'MPO', save_all=True, append_images=pictures[1:])
      """, [path])
    return try PassFixture.bytes(path)
  }

  @Test("the pictures are counted, and the first is used")
  func counted() throws {
    let (source, out) = (try fixture.write(picture()), fixture.folder.file("out"))
    let result = try fixture.pass(source, to: out, recipe: "invert(1)", options: OutputOptions(format: .png))
    #expect(result.source == ImageInfo(format: .jpeg, width: 40, height: 30, frames: 3))
    #expect(result.output == ImageInfo(format: .png, width: 40, height: 30))
    let printed = try PassFixture.python(
      "print(np.abs(np.array(Image.open(sys.argv[1]).getpixel((9, 9))) - (255, 245, 55)).max() < 4)", [out])
    #expect(printed == "True")
  }

  @Test("a copy has the first picture alone, and says so", arguments: MetadataPolicy.allCases)
  func copied(_ policy: MetadataPolicy) throws {
    try file.write(picture())
    let (copy, bytes) = try file.copied(policy)
    #expect(copy.info == ImageInfo(format: .jpeg, width: 40, height: 30, frames: 3))
    #expect(copy.copiedInfo == ImageInfo(format: .jpeg, width: 40, height: 30))
    try file.write(bytes)
    let again = try file.copied(policy).copy
    #expect(again.isWholeFile && again.info == copy.copiedInfo && again.copiedInfo == copy.copiedInfo)
    #expect(try ImageFormat.open(file.descriptor, limits: .confined).info == copy.copiedInfo)
    let path = try fixture.write(bytes, as: "copy")
    let printed = try PassFixture.python("p = Image.open(sys.argv[1]); print(p.format, p.size)", [path])
    #expect(printed == "JPEG (40, 30)")
  }

  /// An index of one field, in big-endian order.
  private func index(tag: [UInt8] = [0xB0, 0x01], type: UInt8 = 4, count: [UInt8], directory: UInt8 = 8) -> [UInt8] {
    MultiPictureIndex.identifier + [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, directory, 0, 1] + tag + [0, type, 0, 0, 0, 1] + count
      + [0, 0, 0, 0]
  }

  @Test("an invalid index counts no pictures, and is no error")
  func invalid() throws {
    let valid = index(count: [0, 0, 0, 2])
    let cases: [(index: [UInt8], frames: Int)] = [
      (valid, 2), (index(count: [0xFF, 0xFF, 0xFF, 0xFF]), 0xFFFF_FFFF), (index(count: [0, 0, 0, 0]), 1),
      (index(tag: [0xB0, 0x02], count: [0, 0, 0, 2]), 1), (index(type: 3, count: [0, 0, 0, 2]), 1),
      (index(count: [0, 0, 0, 2], directory: 250), 1), (Array(valid.prefix(20)), 1), (Array(valid.prefix(9)), 1),
      (MultiPictureIndex.identifier, 1),
      (MultiPictureIndex.identifier + Array("II*\0".utf8) + [8, 0, 0, 0, 255, 255], 1),
    ]
    let plain = try PassFixture.bytes(PassFixture.sample("rocket.jpg"))
    for (index, frames) in cases {
      let segment = [0xFF, 0xE2] + [UInt8](bigEndian: index.count + 2, count: 2) + index
      try file.write(plain.prefix(2) + segment + plain.dropFirst(2))
      let info = ImageInfo(format: .jpeg, width: 640, height: 427, frames: frames)
      #expect(try ImageFormat.open(file.descriptor, limits: .confined).info == info)
      #expect(try file.copied(.all).copy.info == info)
    }
  }

  @Test(
    "what follows the first picture may be anything",
    arguments: [
      "b''", "bytes(5000)", "rng.bytes(5000)", "whole[first:first + 300]", "b'\\xff\\xd8\\xff'", "whole + whole",
      "b'\\xff\\xd9' * 100", "whole[:-100]",
    ], MetadataPolicy.allCases)
  func others(_ script: String, _ policy: MetadataPolicy) throws {
    let whole = try picture()
    let path = try fixture.write(whole)
    // An index whose entries are of places that are not in the file.
    let printed = try PassFixture.python(
      """
      rng = np.random.default_rng(1)
      whole = open(sys.argv[1], 'rb').read()
      first = whole.rindex(b'\\xff\\xd8\\xff', 0, whole.rindex(b'\\xff\\xd8\\xff'))
      made = bytearray(whole[:first] + \(script))
      entries = made.index(b'MPF\\0') + 4 + 8 + 2 + 3 * 12 + 4
      made[entries + 4:entries + 12] = made[entries + 20:entries + 28] = b'\\xff' * 8
      open(sys.argv[1], 'wb').write(made)
      print(first)
      """, [path])
    let (first, bytes) = (try #require(Int(printed)), try PassFixture.bytes(path))
    try file.write(bytes)
    let (copy, copied) = try file.copied(policy)
    #expect(copy.info == ImageInfo(format: .jpeg, width: 40, height: 30, frames: 3))
    #expect(copied.count <= first && copied.suffix(200) == bytes[..<first].suffix(200))
    let result = try fixture.pass(path, to: fixture.folder.file("out"), recipe: "invert(1)")
    #expect(result.source == copy.info && result.damage == nil)
  }
}
