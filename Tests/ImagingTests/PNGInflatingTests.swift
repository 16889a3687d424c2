import Foundation
import Testing

@testable import Imaging

/// Pictures whose pixels are inflated at once when there is no error in them. A window of 16 KiB makes libpng inflate the same
/// contents row by row.
@Suite struct PNGInflatingTests {
  /// Defines `contents(window, change)`: the zlib stream of a picture with 32 × 100 pixels, and `file(parts)`: one with chunks of
  /// pixels.
  private static let script = """
    rng = np.random.default_rng(1)
    samples = np.cumsum(rng.integers(-3, 4, (100, 32, 3)), 1) % 256
    rows = scanlines(samples, 8)
    def contents(window, change=lambda rows: rows, level=6):
        packer = zlib.compressobj(level, wbits=window)
        return packer.compress(change(rows)) + packer.flush()
    def file(*parts, after=chunk(b'IEND', b'')):
        header = struct.pack('>IIBBBBB', 32, 100, 8, 2, 0, 0, 0)
        return SIGNATURE + chunk(b'IHDR', header) + b''.join(chunk(b'IDAT', part) for part in parts) + after
    def save(name, data): open(f'{sys.argv[1]}/{name}', 'wb').write(data)

    """

  @Test("chunks of pixels have any lengths, and contents any blocks")
  func whole() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.script + """
        for window in (14, 15):
            for level in (0, 1, 9):
                packed = contents(window, level=level)
                for step in (1, 7, 4096, len(packed)):
                    parts = [packed[at:at + step] for at in range(0, len(packed), step)]
                    save(f'{window}-{level}-{step}.png', file(*parts))
                    save(f'{window}-{level}-{step}-empty.png', file(b'', *parts[:2], b'', *parts[2:], b''))
        """, [fixture.folder.path])
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
    #expect(names.count == 48)
    for name in names { try fixture.pass(fixture.folder.file(name), to: fixture.folder.file(name + ".out")) }
    let printed = try PassFixture.python(
      Self.script + """
        import glob
        results = [np.asarray(Image.open(name)) for name in glob.glob(sys.argv[1] + '/*.out')]
        print(len(results), all((result == samples).all() for result in results))
        """, [fixture.folder.path])
    #expect(printed == "48 True")
  }

  @Test("damage has the same error, and the same rows where it is accepted")
  func damaged() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.script + """
        assert contents(14)[2:] == contents(15)[2:]
        for window in (14, 15):
            packed = contents(window)
            half = len(packed) // 2
            def changed(at, bits): return packed[:at] + bytes([packed[at] ^ bits]) + packed[at + 1:]
            whole = file(packed)
            for name, data in {
                'checksum-of-chunk': whole[:-13] + b'?' + whole[-12:], 'checksum-of-contents': file(changed(-1 + len(packed), 9)),
                'first-half': file(packed[:half]), 'second-half': file(packed[half:]), 'no-contents': file(b''),
                'cut': whole[:half], 'cut-behind-chunk': file(packed, after=b''), 'no-checksum': file(packed[:-4]),
                'bytes-behind': file(packed + b'more'), 'chunk-behind': file(packed, b'more'),
                'row-more': file(contents(window, lambda rows: rows + rows[:97])),
                'row-less': file(contents(window, lambda rows: rows[:-97])),
                'byte-more': file(contents(window, lambda rows: rows + b'0')),
                'filter': file(contents(window, lambda rows: rows[:970] + b'\\x09' + rows[971:])),
                'kind-of-block': file(changed(2, 7)), 'codes': file(changed(6, 255)), 'bits': file(changed(half, 255)),
                'apart': file(packed[:half], after=chunk(b'teXt', b'') + chunk(b'IDAT', packed[half:]) + chunk(b'IEND', b'')),
            }.items(): save(f'{name}.{window}', data)
        """, [fixture.folder.path])
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
      .filter { $0.hasSuffix(".15") }.map { $0.dropLast(3) }
    #expect(names.count == 18)
    for name in names {
      for accepts in [false, true] {
        var limits = ImageLimits.confined
        limits.damaged = accepts ? .accept : .fail
        let results = try ["15", "14"].map { window in
          let out = fixture.folder.file("\(name).\(window).out")
          do {
            let result = try fixture.pass(fixture.folder.file("\(name).\(window)"), to: out, limits: limits)
            return "\(String(describing: result.damage)) \(try PassFixture.bytes(out).hashValue)"
          } catch let error as ImagingError {
            return "\(error)"
          }
        }
        #expect(results[0] == results[1], "\(name)")
      }
    }
  }
}
