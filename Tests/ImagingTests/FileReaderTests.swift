import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct FileReaderTests {
  @Test("all bytes are read of a file of which the system returns fewer at a time")
  func shortReads() throws {
    // Of this file the kernel returns whole lines, of at most a page.
    let path = "/proc/kallsyms"
    let whole = Array(try #require(try FileHandle(forReadingAtPath: path)?.readToEnd()).prefix(200_000))
    let descriptor = open(path, O_RDONLY)
    defer { close(descriptor) }
    var page = [UInt8](repeating: 0, count: 4096)
    let first = pread(descriptor, &page, page.count, 0)
    try #require(first < page.count && whole.count > 100_000)
    for (offset, count) in [(first, 10), (0, 4096), (0, 50_000), (100, 4000), (9000, 20_000), (199_000, 1000)] {
      let bytes = try FileReader(descriptor).bytes(count, at: Int64(offset))
      let areSame = bytes == Array(whole[offset...].prefix(count))
      #expect(areSame, "\(count) bytes at \(offset)")
    }
    let file = FileReader(descriptor)
    #expect(try file.bytes(16, at: 0).count == 16 && file.bytes(10, at: Int64(first)).count == 10)
    var reader = SequentialReader(file)
    for start in stride(from: 0, to: whole.count - 1000, by: 1000) {
      guard try reader.next(1000)?.elementsEqual(whole[start..<(start + 1000)]) == true else {
        Issue.record("other bytes at \(start)")
        break
      }
    }
  }

  /// Saves the photograph `p` as `path`.
  static let kinds: [(name: String, script: String)] = [
    ("jpeg", "p.save(path, 'JPEG', quality=95)"), ("progressive", "p.save(path, 'JPEG', quality=95, progressive=True)"),
    ("png", "p.save(path, 'PNG')"), ("webp", "p.save(path, 'WEBP', quality=98)"),
    ("lossless", "p.save(path, 'WEBP', lossless=True)"), ("gif", "p.quantize(200).save(path, 'GIF')"),
    ("bmp", "p.save(path, 'BMP')"), ("tiff", "p.save(path, 'TIFF')"),
    ("tiff deflate", "p.save(path, 'TIFF', compression='tiff_adobe_deflate')"),
    ("avif", "p.save(path, 'AVIF', quality=95)"),
  ]

  @Test(
    "a file that becomes shorter while it is read is an error of the picture", arguments: kinds, DamagePolicy.allCases)
  func shrinking(_ kind: (name: String, script: String), _ damaged: DamagePolicy) throws {
    let fixture = try PassFixture()
    let (source, out) = (fixture.folder.file("source"), fixture.folder.file("out"))
    _ = try PassFixture.python(
      "path = sys.argv[1]; p = Image.open(sys.argv[2]).resize((400, 300)); \(kind.script)",
      [source, PassFixture.sample("coffee.jpg")])
    let whole = try PassFixture.bytes(source)
    #expect(whole.count > 40_000)
    let options = OutputOptions(format: .png, damaged: damaged)
    let calls = try shorten(source, at: .max, to: 0, fixture, options).calls
    let result = try PassFixture.bytes(out)
    var codes: Set<ImagingError.Code?> = []
    for call in [1, calls / 3] {
      for length in [10, whole.count / 3] {
        _ = try fixture.write(whole)
        let code = try shorten(source, at: call, to: length, fixture, options).code
        codes.insert(code)
        if code == nil, damaged == .fail {
          let isSame = try PassFixture.bytes(out) == result
          #expect(isSame, "call \(call), \(length) bytes")
        }
      }
    }
    let allowed: Set<ImagingError.Code?> = [nil, .imageTruncated, .imageCorrupt, .notAnImage]
    #expect(codes.isSubset(of: allowed) && codes != [nil], "\(codes)")
  }

  /// Runs a pass that shortens its source when it asks for the given time whether it is cancelled.
  private func shorten(
    _ source: String, at call: Int, to length: Int, _ fixture: PassFixture, _ options: OutputOptions
  ) throws -> (calls: Int, code: ImagingError.Code?) {
    var calls = 0
    do {
      try fixture.pass(source, to: fixture.folder.file("out"), options: options) {
        calls += 1
        if calls == call { truncate(source, off_t(length)) }
        return false
      }
      return (calls, nil)
    } catch let error as ImagingError {
      return (calls, error.code)
    }
  }
}
