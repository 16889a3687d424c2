import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct TIFFTests {
  /// Makes TIFF without compression; tiffcp (libtiff), ImageMagick and Pillow make others of it.
  static let encoders = """
    import subprocess

    SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 13: 4, 16: 8}

    def values(kind, numbers, order):
        if isinstance(numbers, bytes):
            return numbers
        return b''.join((n % (1 << 64)).to_bytes(SIZES[kind], 'little' if order == '<' else 'big') for n in numbers)

    def directory(fields, at, next=0, order='<', big=False):
        '''A directory for an offset, its values after it; `next` is True for the place behind both.'''
        out, room = b'', 8 if big else 4
        head = 8 if big else 2
        place = at + head + len(fields) * (20 if big else 12) + room
        rest = b''
        for tag in sorted(fields):
            kind, numbers = fields[tag]
            v = values(kind, numbers, order)
            out += struct.pack(order + ('HHQ' if big else 'HHI'), tag, kind, len(v) // SIZES[kind])
            if len(v) > room:
                out += struct.pack(order + ('Q' if big else 'I'), place + len(rest))
                rest += v + b'\\0' * (len(v) % 2)
            else:
                out += v.ljust(room, b'\\0')
        end = place + len(rest)
        return (struct.pack(order + ('Q' if big else 'H'), len(fields)) + out
                + struct.pack(order + ('Q' if big else 'I'), end if next is True else next) + rest)

    def header(order='<', big=False, first=None):
        mark = b'II' if order == '<' else b'MM'
        if big:
            return mark + struct.pack(order + 'HHHQ', 43, 8, 0, first or 16)
        return mark + struct.pack(order + 'HI', 42, first or 8)

    def packed(a, bits, order):
        if bits == 16:
            return a.astype(order + 'u2').tobytes()
        rows = a.reshape(a.shape[0], -1)
        digits = (rows[:, :, None] >> np.arange(bits - 1, -1, -1)) & 1
        return np.packbits(digits.reshape(len(rows), -1).astype('u1'), axis=1).tobytes()

    def fields_of(a, bits, kind, extra=(), colours=None):
        h, w, n = a.shape
        fields = {256: (4, [w]), 257: (4, [h]), 258: (3, [bits] * n), 259: (3, [1]), 262: (3, [kind]),
                  277: (3, [n]), 278: (4, [h]), 284: (3, [1])}
        if extra: fields[338] = (3, list(extra))
        if colours is not None: fields[320] = (3, colours.T.reshape(-1).tolist())
        return fields

    def tiff(a, bits, kind, extra=(), colours=None, more={}, order='<', big=False, planes=False):
        '''The pixels first, as libtiff writes them.'''
        parts = [packed(a[..., n:n + 1], bits, order) for n in range(a.shape[2])] if planes else [packed(a, bits, order)]
        head, n = 16 if big else 8, len(parts)
        fields = {**fields_of(a, bits, kind, extra, colours), 284: (3, [2 if planes else 1]),
                  273: (4, [head + i * len(parts[0]) for i in range(n)]), 279: (4, [len(parts[0])] * n), **more}
        data = b''.join(parts)
        data += b'\\0' * (len(data) % 2)
        fields = {tag: value for tag, value in fields.items() if value is not None}
        at = head + len(data)
        return header(order, big, at) + data + directory(fields, at, 0, order, big)

    def noise(w, h, n, bits, seed=1):
        return np.random.default_rng(seed).integers(0, 1 << bits, (h, w, n))

    def deep(a, bits):
        '''Samples of 8 or 16 bits.'''
        most, wanted = (1 << bits) - 1, 65535 if bits > 8 else 255
        return (a * wanted + most // 2) // most

    def divided(a, bits):
        most = (1 << bits) - 1
        alpha = a[..., 3:]
        c = np.where(alpha > 0, (a[..., :3] * most + alpha // 2) // np.maximum(alpha, 1), 0)
        return np.concatenate([np.minimum(c, most), alpha], 2)

    def rgb(cmyk):
        inks = 255 - cmyk
        return (inks[..., :3] * inks[..., 3:4] + 127) // 255

    def run(*words):
        subprocess.run(words, check=True)

    """

  struct Kind: Sendable, CustomTestStringConvertible {
    let name: String
    /// The samples `a` of a file, its words for `tiff`, and what is expected.
    let script: String
    /// Whether tiffcp can make tiles and planes of it, and predict samples.
    var isWhole = true
    var isByte: Bool { isWhole && !name.contains("16") }

    var testDescription: String { name }
  }

  static let kinds =
    [1, 2, 4, 8, 16].flatMap { bits in
      [
        Kind(
          name: "grey, \(bits) bits", script: "a = noise(w, h, 1, \(bits)); f = (a, \(bits), 1); e = deep(a, \(bits))"),
        Kind(
          name: "white is 0, \(bits) bits",
          script: "a = noise(w, h, 1, \(bits)); f = (a, \(bits), 0); e = deep((1 << \(bits)) - 1 - a, \(bits))"),
      ].map { Kind(name: $0.name, script: $0.script, isWhole: bits >= 8) }
    }
    + [1, 2, 4, 8].map { bits in
      Kind(
        name: "palette, \(bits) bits",
        script: """
          a = noise(w, h, 1, \(bits)); c = noise(3, 1 << \(bits), 1, 16)[..., 0]
          f = (a, \(bits), 3, (), c); e = (c // 256)[a[..., 0]]
          """, isWhole: bits >= 8)
    }
    + [8, 16].flatMap { bits in
      [
        Kind(name: "RGB, \(bits) bits", script: "a = noise(w, h, 3, \(bits)); f = (a, \(bits), 2); e = a"),
        Kind(
          name: "grey and alpha, \(bits) bits", script: "a = noise(w, h, 2, \(bits)); f = (a, \(bits), 1, (2,)); e = a"),
        Kind(
          name: "RGB and alpha, \(bits) bits", script: "a = noise(w, h, 4, \(bits)); f = (a, \(bits), 2, (2,)); e = a"),
        Kind(
          name: "multiplied by alpha, \(bits) bits",
          script: """
            a = noise(w, h, 4, \(bits)); a[..., :3] = a[..., :3] * a[..., 3:] // ((1 << \(bits)) - 1)
            f = (a, \(bits), 2, (1,)); e = divided(a, \(bits))
            """),
        Kind(
          name: "RGB and something else, \(bits) bits",
          script: "a = noise(w, h, 4, \(bits)); f = (a, \(bits), 2, (0,)); e = a[..., :3]"),
        Kind(
          name: "something else before alpha, \(bits) bits",
          script: "a = noise(w, h, 5, \(bits)); f = (a, \(bits), 2, (0, 2)); e = a[..., [0, 1, 2, 4]]"),
        Kind(
          name: "CMYK, \(bits) bits",
          script:
            "a = noise(w, h, 4, \(bits)); f = (a, \(bits), 5); e = rgb(a if \(bits) == 8 else (a * 255 + 32767) // 65535)"
        ),
      ]
    }
    + [
      Kind(name: "grey, 12 bits", script: "a = noise(w, h, 1, 12); f = (a, 12, 1); e = deep(a, 12)", isWhole: false),
      Kind(name: "RGB, 10 bits", script: "a = noise(w, h, 3, 10); f = (a, 10, 2); e = deep(a, 10)", isWhole: false),
      Kind(name: "RGB, 4 bits", script: "a = noise(w, h, 3, 4); f = (a, 4, 2); e = deep(a, 4)", isWhole: false),
      Kind(
        name: "CMYK and alpha",
        script: "a = noise(w, h, 5, 8); f = (a, 8, 5, (2,)); e = np.concatenate([rgb(a), a[..., 4:]], 2)"),
    ]

  @Test("every kind of samples is read as it was written, however libtiff has stored it", arguments: kinds)
  func samples(_ kind: Kind) throws {
    let fixture = try PassFixture()
    let names = try PassFixture.python(
      Self.encoders
        + """
        WAYS = [['-c', 'none', '-r', '3'], ['-c', 'lzw'], ['-c', 'zip', '-r', '5', '-B'], ['-c', 'packbits', '-8'],
                ['-c', 'zstd', '-r', '7'], ['-c', 'lzma'], ['-f', 'lsb2msb', '-c', 'none']]
        WHOLE = [['-t', '-w', '16', '-l', '32', '-c', 'none'], ['-t', '-w', '64', '-l', '16', '-c', 'lzw', '-B'],
                 ['-c', 'zip:2', '-8', '-B']]
        PLANES = [['-c', 'none', '-r', '4'], ['-c', 'lzw:2', '-r', '9', '-B'], ['-t', '-w', '32', '-l', '16', '-c', 'zip']]
        WHOLE += [['-p', 'separate', *way] for way in PLANES if \(kind.isByte ? 1 : 0)]
        for w, h in [(1, 1), (7, 3), (33, 40), (301, 20)]:
            \(kind.script.replacing("\n", with: "\n    "))
            for n, (order, big, planes) in enumerate(
                    [('<', False, False), ('>', False, True), ('<', True, True), ('>', True, False)]):
                path = f'{sys.argv[1]}/{w}x{h}-{n}'
                open(path, 'wb').write(tiff(*f, order=order, big=big, planes=planes))
                np.save(path + '.npy', e)
                print(path.split('/')[-1])
            for n, way in enumerate(WAYS + (WHOLE if \(kind.isWhole ? 1 : 0) else [])):
                path = f'{sys.argv[1]}/{w}x{h}-tiffcp-{n}'
                run('tiffcp', *way, f'{sys.argv[1]}/{w}x{h}-0', path)
                np.save(path + '.npy', e)
                print(path.split('/')[-1])
        """, [fixture.folder.path]
    ).split(separator: "\n").map(String.init)
    #expect(names.count == (44 + (kind.isWhole ? 12 : 0) + (kind.isByte ? 12 : 0)))
    for name in names {
      let result = try fixture.pass(fixture.folder.file(name), to: fixture.folder.file(name + ".out"))
      #expect(result.source.format == .tiff && result.output.format == .png && result.source.frames == 1)
    }
    let printed = try PassFixture.python(
      """
      import glob
      for result in sorted(glob.glob(sys.argv[1] + '/*.out')):
          a, (b, depth, kind) = np.load(result[:-3] + 'npy'), read_png(open(result, 'rb').read())
          assert a.shape == b.shape and (a == b).all(), (result, a.shape, b.shape, depth, np.abs(a - b).max())
      print('same')
      """, [fixture.folder.path])
    #expect(printed == "same")
  }

  static let encoded = [
    ("Pillow 1", "p.convert('1').save(path, 'TIFF')"), ("Pillow L", "p.convert('L').save(path, 'TIFF')"),
    ("Pillow P", "p.convert('P').save(path, 'TIFF')"), ("Pillow RGBA", "p.save(path, 'TIFF')"),
    ("Pillow LA", "p.convert('LA').save(path, 'TIFF', compression='tiff_lzw')"),
    ("Pillow CMYK", "p.convert('CMYK').save(path, 'TIFF', compression='tiff_adobe_deflate')"),
    ("Pillow group 3", "p.convert('1').save(path, 'TIFF', compression='group3')"),
    ("Pillow group 4", "p.convert('1').save(path, 'TIFF', compression='group4')"),
    ("Pillow packbits", "p.convert('RGB').save(path, 'TIFF', compression='packbits')"),
    ("Pillow deflate", "p.convert('RGB').save(path, 'TIFF', compression='tiff_deflate')"),
    ("Pillow lzma", "p.convert('RGB').save(path, 'TIFF', compression='lzma')"),
    ("Pillow zstd", "p.convert('RGB').save(path, 'TIFF', compression='zstd')"),
    (
      "tiffcp WebP",
      "p.convert('RGB').save(path + 'x', 'TIFF'); run('tiffcp', '-c', 'webp', path + 'x', path); run('tiffcp', '-c', 'none', path, path + '.ref')"
    ),
    ("Pillow JPEG", "p.convert('RGB').save(path, 'TIFF', compression='jpeg', quality=90)"),
    ("Pillow JPEG grey", "p.convert('L').save(path, 'TIFF', compression='jpeg', quality=90)"),
    ("Pillow BigTIFF", "p.convert('RGB').save(path, 'TIFF', big_tiff=True)"),
    ("tiffcp Huffman", "p.convert('1').save(path + 'x', 'TIFF'); run('tiffcp', '-c', 'g3:2d:fill', path + 'x', path)"),
    (
      "tiffcp group 4",
      "p.convert('1').save(path + 'x', 'TIFF'); run('tiffcp', '-c', 'g4', '-r', '9', path + 'x', path)"
    ),
    (
      "tiffcp JPEG",
      "p.convert('RGB').save(path + 'x', 'TIFF'); run('tiffcp', '-c', 'jpeg:90', '-r', '16', path + 'x', path)"
    ),
    (
      "tiffcp JPEG in tiles",
      "p.convert('RGB').save(path + 'x', 'TIFF'); run('tiffcp', '-t', '-w', '64', '-l', '32', '-c', 'jpeg:90', path + 'x', path)"
    ),
    ("ImageMagick JPEG", "p.convert('RGB').save(path + '.png'); convert('-compress', 'JPEG', '-quality', '90')"),
    ("ImageMagick LZW", "p.convert('RGB').save(path + '.png'); convert('-compress', 'LZW')"),
    ("ImageMagick alpha", "p.save(path + '.png'); convert('-define', 'tiff:alpha=associated')"),
    ("ImageMagick grey", "p.convert('L').save(path + '.png'); convert('-endian', 'MSB', '-depth', '4')"),
    ("ImageMagick tiles", "p.convert('RGB').save(path + '.png'); convert('-define', 'tiff:tile-geometry=32x32')"),
    ("ImageMagick planes", "p.convert('RGB').save(path + '.png'); convert('-interlace', 'Plane', '-compress', 'Zip')"),
    ("ImageMagick palette", "p.convert('P').save(path + '.png'); convert('-type', 'Palette')"),
    ("ImageMagick facsimile", "p.convert('1').save(path + '.png'); convert('-compress', 'Group4')"),
  ]

  @Test("files of Pillow, ImageMagick and tiffcp are read as Pillow reads them", arguments: encoded)
  func decoded(_ name: String, _ script: String) throws {
    let fixture = try PassFixture()
    let names = try PassFixture.python(
      Self.encoders
        + """
        def convert(*words):
            run('convert-im6', path + '.png', *words, 'TIFF:' + path)

        for w, h in [(1, 1), (65, 33), (301, 200)]:
            path = f'{sys.argv[1]}/{w}x{h}'
            p = Image.open(f'{sys.argv[2]}/chelsea.jpg').resize((w, h), Image.BICUBIC).convert('RGBA')
            p.putalpha(Image.linear_gradient('L').resize(p.size))
            \(script)
            print(path.split('/')[-1])
        """, [fixture.folder.path, packageRoot + "/Samples"]
    ).split(separator: "\n").map(String.init)
    for name in names { try fixture.pass(fixture.folder.file(name), to: fixture.folder.file(name + ".out")) }
    let printed = try PassFixture.python(
      """
      import glob
      for result in sorted(glob.glob(sys.argv[1] + '/*.out')):
          # Pillow's libtiff has no WebP.
          known = glob.glob(result[:-4] + '.ref') or [result[:-4]]
          a, b = Image.open(known[0]), Image.open(result)
          if a.mode == 'CMYK':
              a = 255 - np.asarray(a).astype(int)
              a = (a[..., :3] * a[..., 3:] + 127) // 255
          a, b = (np.asarray(i.convert('RGBA') if isinstance(i, Image.Image) else np.dstack([i, 255 + 0 * i[..., 0]])).astype(int)
                  for i in (a, b))
          d = np.abs(a - b)[a[..., 3] > 16]
          assert a.shape == b.shape and (not d.size or d.max() <= \(name.hasSuffix("alpha") ? 1 : 0)), (result, d.max())
      print('same', len(glob.glob(sys.argv[1] + '/*.out')))
      """, [fixture.folder.path])
    #expect(printed == "same 3")
  }
}
