import CWebP
import Foundation
import TestSupport
import Testing

@testable import Imaging

/// The header of a picture that is copied is read without the format's library, and the verdict is the library's.
@Suite struct HeaderTests {
  private let file: ScratchFile

  init() throws { file = try ScratchFile() }

  /// What is known of a picture, or the error with its message.
  private func verdict(_ read: () throws -> ImageInfo) -> String {
    do {
      return "\(try read())"
    } catch {
      return "\(error)"
    }
  }

  /// Compares both ways to read the header of the file.
  private func compare(_ limits: ImageLimits, _ what: @autoclosure () -> String) {
    let library = verdict { try ImageFormat.open(file.descriptor, limits: limits).info }
    let own = verdict { try ImageInfo.probe(file.descriptor, limits: limits) }
    #expect(own == library, "\(what())")
  }

  private static let limits: [ImageLimits] = {
    var small = ImageLimits.confined
    (small.maxPixels, small.minPixels) = (100, 10)
    return [.confined, small]
  }()

  @Test(
    "samples have the header that their library reads",
    arguments: PassFixture.jpegSamples + ["chelsea-small.png", "CREDITS.md"])
  func samples(_ name: String) throws {
    try file.write(try PassFixture.bytes(PassFixture.sample(name)))
    for limits in Self.limits { compare(limits, name) }
  }

  @Test(
    "a picture that ends too early fails as it does in its library, wherever it ends", arguments: CorpusPictures.names)
  func truncated(_ name: String) throws {
    let bytes = try CorpusPictures.bytes(name)
    for count in 0...bytes.count {
      try file.write(Array(bytes.prefix(count)))
      compare(Self.limits[count % 2], "\(count) bytes of \(name)")
    }
  }

  /// How many changed pictures are tried of each picture of the corpus.
  private static let changes = ProcessInfo.processInfo.environment["DARKROOM_TEST_CHANGES"].flatMap { Int($0) } ?? 300

  @Test("a changed header has the verdict of its library", arguments: CorpusPictures.names)
  func changed(_ name: String) throws {
    let bytes = try CorpusPictures.bytes(name)
    var generator = SplitMix64(seed: 18)
    for number in 0..<Self.changes {
      try file.write(CorpusPictures.changed(bytes, by: &generator))
      compare(Self.limits[number % 4 / 3], "change \(number) of \(name)")
    }
  }

  @Test(
    "colour types and depths of PNG are those that there are",
    arguments: [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 8, 15, 16])
  func kinds(_ colourType: UInt8, _ depth: UInt8) throws {
    var bytes = try CorpusPictures.bytes("png-8")
    (bytes[24], bytes[25]) = (depth, colourType)
    try file.write(CorpusPictures.withRightChecksums(bytes))
    compare(ImageLimits(), "\(colourType) \(depth)")
  }

  @Test(
    "sizes of PNG and JPEG beyond all limits have the verdict of their library",
    arguments: [0, 1, 2, 65_500, 65_501, 65_535, 1_000_000, 1_000_001, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF],
    [0, 1, 3, 65_500, 65_535, 0x7FFF_FFFF, 0xFFFF_FFFF])
  func sizes(_ width: Int, _ height: Int) throws {
    var bytes = try CorpusPictures.bytes("png-8")
    bytes.replaceSubrange(16..<24, with: [UInt8](bigEndian: width, count: 4) + [UInt8](bigEndian: height, count: 4))
    try file.write(CorpusPictures.withRightChecksums(bytes))
    compare(ImageLimits(), "PNG \(width) \(height)")
    bytes = try CorpusPictures.bytes("jpeg-420")
    let frame = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
    bytes.replaceSubrange(
      (frame + 5)..<(frame + 9), with: [UInt8](bigEndian: height, count: 2) + [UInt8](bigEndian: width, count: 2))
    try file.write(bytes)
    compare(ImageLimits(), "JPEG \(width) \(height)")
  }
}

/// The header of a WebP bit stream is read without libwebp, also for decoding.
@Suite struct WebPStreamHeaderTests {
  @Test(
    "a changed bit stream has the header that libwebp reads",
    arguments: [("webp-lossy", 12), ("webp-lossless", 12), ("webp-lossless-alpha", 12)])
  func changed(_ name: String, _ start: Int) throws {
    let bytes = Array(try CorpusPictures.bytes(name)[start...])
    let isLossless = bytes.starts(with: "VP8L".utf8)
    let count = bytes[4..<8].littleEndianInteger
    var generator = SplitMix64(seed: 19)
    for _ in 0..<3000 {
      var head = Array(bytes.prefix(Int.random(in: 8...20, using: &generator)))
      for _ in 0..<Int.random(in: 0...2, using: &generator) where head.count > 8 {
        head[Int.random(in: 8..<head.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      var features = WebPBitstreamFeatures()
      let isValid = WebPGetFeatures(head, head.count, &features) == VP8_STATUS_OK
      let chunk = WebPChunk(name: isLossless ? "VP8L" : "VP8 ", start: 12, count: count)
      let header =
        isLossless
        ? WebPStreamHeader(lossless: head.dropFirst(8)) : WebPStreamHeader(lossy: head.dropFirst(8), of: chunk)
      #expect((header != nil) == isValid, "\(head)")
      guard let header, isValid else { continue }
      #expect(header.width == features.width && header.height == features.height, "\(head)")
      #expect(!isLossless || header.hasAlpha == (features.has_alpha != 0), "\(head)")
    }
  }
}
