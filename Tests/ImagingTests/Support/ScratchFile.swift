import Foundation
import TestSupport
import Testing

@testable import Imaging

/// An open file without a name, which is given one content after another.
final class ScratchFile {
  let descriptor: Int32

  init() throws {
    var path = Array((TemporaryFolder.parent + "/darkroom-test-XXXXXX").utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    unlink(path)
  }

  deinit { close(descriptor) }

  func write(_ bytes: [UInt8]) throws {
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
  }

  /// What a copy of the content consists of, and the copy itself, which is the same when the content is in memory.
  func copied(
    _ policy: MetadataPolicy, limits: ImageLimits = ImageLimits()
  ) throws -> (copy: LosslessCopy, bytes: [UInt8]) {
    let copy = try LosslessCopy(of: descriptor, keeping: policy, limits: limits)
    let bytes = try self.bytes(of: copy)
    let content = try FileReader(descriptor).bytes(Int(lseek(descriptor, 0, SEEK_END)), at: 0)
    let other = try LosslessCopy(of: content, keeping: policy, limits: limits)
    #expect(other.parts == copy.parts && other.info == copy.info)
    #expect(try other.copied(from: content) == bytes)
    return (copy, bytes)
  }

  /// The bytes of a copy.
  func bytes(of copy: LosslessCopy) throws -> [UInt8] {
    let file = FileReader(descriptor)
    return try copy.parts.flatMap { part in
      switch part {
      case .range(let range): try file.bytes(range.count, at: range.lowerBound)
      case .bytes(let bytes): bytes
      case .zeros(let count): [UInt8](repeating: 0, count: count)
      }
    }
  }
}

/// The pictures of the fuzzers' corpus, and changed ones.
enum CorpusPictures {
  static let folder = packageRoot + "/Tests/Fuzz/Corpus/pictures/"
  /// Without those that fuzzers have found and that are no pictures.
  static let names =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { !$0.hasPrefix(".") && !$0.hasPrefix("damaged-") }.sorted()

  static func bytes(_ name: String) throws -> [UInt8] { try PassFixture.bytes(folder + name) }

  /// A picture with some bytes changed, mostly in its header, or with segments or chunks in another order, twice, or missing.
  static func changed(_ picture: [UInt8], by generator: inout SplitMix64) -> [UInt8] {
    var bytes = picture
    if Int.random(in: 0..<3, using: &generator) == 0 {
      var pieces = Self.pieces(bytes)
      for _ in 0...Int.random(in: 0...1, using: &generator) {
        let (one, other) = (
          Int.random(in: 1..<pieces.count, using: &generator), Int.random(in: 1..<pieces.count, using: &generator)
        )
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: pieces.swapAt(one, other)
        case 1: pieces.insert(pieces[one], at: other)
        default: if pieces.count > 3 { pieces.remove(at: one) }
        }
      }
      bytes = Array(pieces.joined())
    }
    for _ in 0..<Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
      let most = min(bytes.count, Bool.random(using: &generator) ? 64 : 400)
      let place = Int.random(in: 0..<most, using: &generator)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: bytes.remove(at: place)
      case 1: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
      case 2: bytes[place] = 0xFF
      case 3: bytes[place] = 0
      case 4: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
      default: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      }
    }
    // Otherwise a PNG would fail at a checksum every time.
    return Bool.random(using: &generator) ? withRightChecksums(bytes) : bytes
  }

  /// The signature, then chunks or segments; the last piece is the rest.
  static func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
    let isJPEG = bytes.starts(with: [0xFF, 0xD8])
    var (place, pieces) = (isJPEG ? 2 : bytes.first == 0x89 ? 8 : 12, [[UInt8]]())
    pieces.append(Array(bytes.prefix(place)))
    while bytes.count - place > 12 {
      let head = bytes[place..<(place + 12)]
      var length: Int
      if isJPEG {
        if head[place + 1] == 0xDA { break }
        length = 2 + head[(place + 2)..<(place + 4)].bigEndianInteger
      } else if bytes.first == 0x89 {
        length = 12 + head[place..<(place + 4)].bigEndianInteger
      } else {
        length = head[(place + 4)..<(place + 8)].littleEndianInteger
        length += 8 + length % 2
      }
      length = min(length, bytes.count - place)
      pieces.append(Array(bytes[place..<(place + length)]))
      place += length
    }
    return pieces + [Array(bytes[place...])]
  }

  /// A PNG whose chunks' checksums are right; other bytes as they are.
  static func withRightChecksums(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.first == 0x89, bytes.count > 8 else { return bytes }
    return pieces(bytes).enumerated().flatMap { index, piece in
      guard index > 0, piece.count >= 12, piece[..<4].bigEndianInteger == piece.count - 12 else { return piece }
      return PNGChunk.encoded(Array(piece[4..<8]), Array(piece[8..<(piece.count - 4)]))
    }
  }
}
