import Foundation
import TestSupport
import Testing

@testable import Imaging

/// What copies of TIFF cost that describe more than they have.
@Suite struct TIFFCopyLimitTests {
  private typealias Field = (tag: Int, type: Int, count: Int, value: Int)

  private func directory(_ fields: [Field], next: Int) -> [UInt8] {
    [UInt8](littleEndian: fields.count, count: 2)
      + fields.flatMap { field in
        [field.tag, field.type].flatMap { [UInt8](littleEndian: $0, count: 2) }
          + [field.count, field.value].flatMap { [UInt8](littleEndian: $0, count: 4) }
      } + [UInt8](littleEndian: next, count: 4)
  }

  /// Fields of a grey picture of 8 bits in one strip.
  private func picture(_ width: Int, _ height: Int, strip: Int) -> [Field] {
    [
      (256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, strip),
    ]
  }

  private static let header = Array("II*\0".utf8) + [8, 0, 0, 0]

  /// A picture with many fields of IPTC, and data sets: a copyright notice, and a title as large as may be.
  /// - Parameter shift: How far the values of a field begin behind those of the one before.
  private func picture(fields: Int, of bytes: Int, shift: Int) -> [UInt8] {
    let strip = 8 + 2 + 12 * (6 + fields) + 4
    let values = strip + 16
    let iptc = (0..<fields).map { Field(33723, 7, bytes - fields * shift, values + $0 * shift) }
    func dataSet(_ number: UInt8, _ text: [UInt8]) -> [UInt8] {
      [0x1C, 2, number] + [UInt8](bigEndian: text.count, count: 2) + text
    }
    let content = dataSet(116, Array("NOTICE".utf8)) + dataSet(5, Array("SECRET".utf8))
    return Self.header + directory(picture(4, 4, strip: strip) + iptc, next: 0) + [UInt8](repeating: 0x80, count: 16)
      + content + [UInt8](repeating: 0, count: bytes - content.count)
  }

  @Test func `IPTC that several fields share is shortened once, and its zeros are not held in memory`() throws {
    let file = try ScratchFile()
    let source = picture(fields: 50, of: 1 << 20, shift: 0)
    try file.write(source)
    let cut = try TIFFCut(TIFFContainer(FileReader(source), limits: ImageLimits()), .copyright)
    #expect(cut.changes.map(\.bytes.count) == [11] && cut.changes.first?.range.count == 1 << 20)
    let (copy, bytes) = try file.copied(.copyright)
    #expect(!copy.hasUnreadableMetadata && !copy.mayKeepMetadata)
    let title = try #require(source.firstRange(of: [0x1C, 2, 5, 0, 6] + Array("SECRET".utf8)))
    var expected = source
    expected.replaceSubrange(title, with: [UInt8](repeating: 0, count: title.count))
    // A difference of so many bytes takes minutes to be written.
    let isExpected = bytes == expected
    #expect(isExpected)
    try file.write(bytes)
    #expect(try file.copied(.copyright).copy.isWholeFile)
    try file.write(source)
    #expect(try file.copied(.none).bytes.firstRange(of: Array("NOTICE".utf8)) == nil)
  }

  @Test func `no more of IPTC is read than the file has, however its fields overlap`() throws {
    let source = picture(fields: 2000, of: 1 << 17, shift: 1)
    var reads = 0
    let file = FileReader(source) {
      reads += 1
      return false
    }
    let cut = try TIFFCut(TIFFContainer(file, limits: ImageLimits()), .copyright)
    #expect(cut.hasUnreadableMetadata)
    #expect(reads < 100, "\(reads)")
  }

  @Test func `strips of which only the places matter are not divided`() throws {
    let fields = picture(1000, 1000, strip: 8 + 2 + 12 * 6 + 4)
    let source = Self.header + directory(fields, next: 0) + [UInt8](repeating: 0, count: 1_000_000)
    let file = try TIFFFile(FileReader(source))
    let directory = try file.directory(at: 8)
    let limits = ImageLimits()
    #expect(try TIFFPicture(directory, file, limits: limits).strips.places.count == 16)
    #expect(try TIFFPicture(directory, file, limits: limits, dividesStrips: false).strips.places.count == 1)
  }

  /// Each would have a million parts: it took minutes.
  @Test(.timeLimit(.minutes(20)))
  func `pages that claim more than the file has cost nothing`() throws {
    let (count, strip) = (80_000, 8 + 2 + 12 * 6 + 4)
    var source = Self.header + directory(picture(4, 4, strip: strip), next: strip + 16)
    source += [UInt8](repeating: 0x80, count: 16)
    let page = directory(picture(65_536, 1_000_000, strip: 8), next: 0)
    for number in 1..<count {
      source += page.dropLast(4)
      source += [UInt8](littleEndian: number < count - 1 ? source.count + 4 : 0, count: 4)
    }
    let copy = try LosslessCopy(of: source, keeping: .none)
    #expect(copy.info == ImageInfo(format: .tiff, width: 4, height: 4, frames: count))
  }
}
