import Foundation
import Testing

@testable import Imaging

@Suite struct DamageTests {
  @Test("a picture cut anywhere is truncated", arguments: ["baseline", "progressive", "sequential", "interlaced"])
  func truncated(_ name: String) throws {
    let rig = try Rig()
    let whole = try bytes(name, rig)
    let places =
      [2, 3, 4, 7, 8, 9, 20, 33, 40] + (1..<20).map { $0 * whole.count / 20 } + [whole.count - 2, whole.count - 1]
    for place in places {
      let code = try rig.code(of: whole.prefix(place))
      if name == "sequential" || name == "interlaced", place < 4 {
        #expect(code == .imageTruncated || code == .notAnImage, "\(place)")
      } else {
        #expect(code == .imageTruncated, "\(place)")
      }
    }
  }

  @Test("flipped bits are noticed in a PNG wherever they are", arguments: ["sequential", "interlaced"])
  func flippedPNG(_ name: String) throws {
    let rig = try Rig()
    let whole = try bytes(name, rig)
    for step in 0..<200 {
      var damaged = whole
      let place = step < 40 ? step : step * (whole.count - 1) / 199
      damaged[place] ^= 1 << UInt8(step % 8)
      #expect(try rig.code(of: damaged) != nil, "\(place)")
    }
  }

  @Test("flipped bits of a JPEG never do worse than spoil the picture", arguments: ["baseline", "progressive"])
  func flippedJPEG(_ name: String) throws {
    let rig = try Rig()
    let whole = try bytes(name, rig)
    var noticed = 0
    for step in 0..<200 {
      var damaged = whole
      damaged[step * (whole.count - 1) / 199] ^= 1 << UInt8(step % 8)
      let code = try rig.code(of: damaged, limits: ImageLimits(maxPixels: 1_000_000))
      if code != nil { noticed += 1 }
      #expect(code != .io && code != .filterFailed && code != .cancelled)
    }
    #expect(noticed > 0)
  }

  @Test(
    "a JPEG of very many scans is refused, one of many is read",
    arguments: [(11, ImagingError.Code.imageTooLarge), (2, nil)])
  func scans(_ planes: Int, _ expected: ImagingError.Code?) throws {
    let rig = try Rig()
    #expect(try rig.code(of: Self.manyScans(planes: planes), recipe: "invert(1)") == expected)
  }

  @Test("palette indices beyond the palette are black, as browsers have it")
  func palette() throws {
    let rig = try Rig()
    let printed = try rig.compare(
      make: """
        before = chunk(b'PLTE', bytes([200] * 6))
        open(sys.argv[1], 'wb').write(png(np.full((4, 4, 1), 9), 8, 3, before=before))
        """,
      recipe: "none", check: "print(np.asarray(Image.open(sys.argv[2])).max())")
    #expect(printed == "0")
  }

  /// A small photograph, stored in one of four ways.
  private func bytes(_ kind: String, _ rig: Rig) throws -> [UInt8] {
    _ = try Rig.python(
      """
      image = Image.open(sys.argv[1]).crop((60, 20, 141, 77))
      if sys.argv[3] in ('baseline', 'progressive'):
          image.save(sys.argv[2], 'JPEG', progressive=sys.argv[3] == 'progressive')
      else:
          pixels = np.asarray(image).astype(int)
          open(sys.argv[2], 'wb').write(png(pixels, 8, 2, sys.argv[3] == 'interlaced'))
      """, [Rig.sample("chelsea-small.png"), rig.folder.file("made"), kind])
    return try Rig.bytes(rig.folder.file("made"))
  }

  /// A grey progressive JPEG of one block that sends each coefficient in a scan of its own, bit plane by bit plane: 1 +
  /// 63 · planes scans, all of them correct and empty.
  private static func manyScans(planes: Int) -> [UInt8] {
    var file: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    file += [0xFF, 0xC2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]
    for table: UInt8 in [0x00, 0x10] {
      file += [0xFF, 0xC4, 0, 20, table, 1] + [UInt8](repeating: 0, count: 15) + [0]
    }
    file += [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0, 0, 0x7F]
    for plane in (0..<planes).reversed() {
      let approximation = plane == planes - 1 ? UInt8(plane) : UInt8((plane + 1) << 4 | plane)
      for coefficient: UInt8 in 1...63 {
        file += [0xFF, 0xDA, 0, 8, 1, 1, 0, coefficient, coefficient, approximation, 0x7F]
      }
    }
    return file + [0xFF, 0xD9]
  }
}
