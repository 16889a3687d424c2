import Glibc
import System
import TestSupport
import Testing

/// A file is copied whole or in ranges, in the kernel or by hand.
@Suite struct FileCopyTests {
  private let folder: TemporaryFolder
  private let source: OpenFile

  /// Longer than two of the pieces in which it is copied.
  private static let size = 40 << 20

  init() throws {
    folder = try TemporaryFolder()
    source = try OpenFile(creating: folder.file("source"))
    try source.truncate(to: Self.size)
  }

  /// What may be copied: all of the file, or a range.
  private static let ranges: [Range<Int>?] = [nil, 1..<(size - 1)]

  /// An empty file. The kernel copies into none that is open for appending (`copy_file_range`).
  private func target(isByHand: Bool) throws -> OpenFile {
    try isByHand ? OpenFolder(folder.path).open(appending: "copy") : OpenFile(creating: folder.file("copy"))
  }

  private func copy(_ range: Range<Int>?, to target: OpenFile, isCancelled: () -> Bool) throws(SystemError) {
    if let range {
      try source.copy(range, to: target, isCancelled: isCancelled)
    } else {
      try source.copy(to: target, isCancelled: isCancelled)
    }
  }

  @Test("copying is given up between two pieces of a file", arguments: ranges, [false, true])
  func cancelled(_ range: Range<Int>?, _ isByHand: Bool) throws {
    let target = try target(isByHand: isByHand)
    var count = 0
    do throws(SystemError) {
      try copy(range, to: target) {
        count += 1
        return count > 2
      }
      // Where blocks can be shared nothing is copied.
      #expect(range == nil && !isByHand && count == 0)
    } catch {
      #expect(error.code == ECANCELED)
      #expect(count == 3)
      #expect(try target.status().size < Self.size - 2)
    }
  }

  @Test("what is copied in pieces is complete", arguments: ranges, [false, true])
  func complete(_ range: Range<Int>?, _ isByHand: Bool) throws {
    let places = [1, 256 << 10, 16 << 20, (16 << 20) + 1, (32 << 20) - 1, Self.size - 2]
    for place in places { #expect(pwrite(source.descriptor, "x", 1, off_t(place)) == 1) }
    let target = try target(isByHand: isByHand)
    try copy(range, to: target) { false }
    let whole = 0..<Self.size
    #expect(try target.status().size == (range ?? whole).count)
    let copied = try OpenFile(reading: folder.file("copy"))
    for place in places {
      var byte: UInt8 = 0
      #expect(pread(copied.descriptor, &byte, 1, off_t(place - (range ?? whole).lowerBound)) == 1)
      #expect(byte == UInt8(ascii: "x"), "\(place)")
    }
  }

  @Test("a range beyond the file's end is an error", arguments: [false, true])
  func beyond(_ isByHand: Bool) throws {
    let target = try target(isByHand: isByHand)
    let error = #expect(throws: SystemError.self) { try source.copy((Self.size - 5)..<(Self.size + 1), to: target) }
    #expect(error?.code == EIO)
  }
}
