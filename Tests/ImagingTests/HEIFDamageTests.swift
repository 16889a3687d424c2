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
}
