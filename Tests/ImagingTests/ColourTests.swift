import Foundation
import TestSupport
import Testing

@testable import Imaging

/// Other colour spaces are converted to sRGB as by Pillow's ImageCms, which uses littleCMS, with perceptual intent.
@Suite struct ColourTests {
  /// Python that makes profiles (ICC.1:2022 § 7 to 10) and pictures.
  static let prelude = #"""
    from PIL import ImageCms
    fixed = lambda v: struct.pack('>i', round(v * 65536))
    def icc(kind, space, pcs, tags):
        head, body = b'', b''
        for name, data in tags:
            data += b'\0' * (-len(data) % 4)
            head += name + struct.pack('>II', 132 + 12 * len(tags) + len(body), len(data)); body += data
        size = 132 + len(head) + len(body)
        top = struct.pack('>I4sI', size, b'\0' * 4, 0x04200000) + kind + space + pcs + bytes(12) + b'acsp' + bytes(28)
        return top + fixed(0.9642) + fixed(1) + fixed(0.8249) + bytes(48) + struct.pack('>I', len(tags)) + head + body
    xyz = lambda *v: b'XYZ ' + bytes(4) + b''.join(map(fixed, v))
    power = lambda g: b'curv' + bytes(4) + struct.pack('>IH', 1, round(g * 256))
    srgb_curve = b'para' + bytes(4) + struct.pack('>HH', 3, 0) + b''.join(map(fixed, [2.4, 1/1.055, .055/1.055, 1/12.92, .04045]))
    def matrix(red, green, blue, curve):
        return icc(b'mntr', b'RGB ', b'XYZ ', [(b'wtpt', xyz(.9642, 1, .8249)), (b'rXYZ', xyz(*red)), (b'gXYZ', xyz(*green)),
          (b'bXYZ', xyz(*blue)), (b'rTRC', curve), (b'gTRC', curve), (b'bTRC', curve)])
    def cmyk():
        nodes = b''
        for c in range(3):
          for m in range(3):
            for y in range(3):
              for k in range(3):
                light = (1 - k / 2 * .9)
                l = 100 * light * (1 - .12 * c / 2) * (1 - .2 * m / 2) * (1 - .03 * y / 2)
                a, b = light * (35 * m - 17 * c), light * (45 * y - 22 * c - 2 * m)
                nodes += bytes([round(l * 2.55), round(min(max(a + 128, 0), 255)), round(min(max(b + 128, 0), 255))])
        ramp = bytes(range(256))
        unit = b''.join(fixed(v) for v in (1, 0, 0, 0, 1, 0, 0, 0, 1))
        lut = b'mft1' + bytes(4) + bytes([4, 3, 3, 0]) + unit + ramp * 4 + nodes + ramp * 3
        return icc(b'prtr', b'CMYK', b'Lab ', [(b'A2B0', lut)])
    profiles = {
        'p3': matrix((.51512, .2412, -.00105), (.29198, .69225, .04189), (.1571, .06657, .78407), srgb_curve),
        'adobe': matrix((.60974, .31111, .01947), (.20528, .62567, .06087), (.14919, .06322, .74457), power(2.19921875)),
        'prophoto': matrix((.79767, .28804, 0), (.13519, .71188, 0), (.03134, .00009, .82491), power(1.8)),
        'grey': icc(b'mntr', b'GRAY', b'XYZ ', [(b'wtpt', xyz(.9642, 1, .8249)), (b'kTRC', power(1.8))]),
        'srgb-grey': icc(b'mntr', b'GRAY', b'XYZ ', [(b'wtpt', xyz(.9642, 1, .8249)), (b'kTRC', srgb_curve)]),
        'cmyk': cmyk(),
        'srgb': ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes(),
    }
    def picture(mode, w=96, h=64):
        n = len(mode)
        y, x = np.mgrid[0:h, 0:w]
        p = np.stack([128 + 127 * np.sin(x / (9 + 4 * i) + y / (7 + 3 * i) + i) for i in range(n)], -1).round().astype('u1')
        return Image.fromarray(p[:, :, 0] if n == 1 else p, mode)
    def converted(image, profile):
        if image.mode == 'RGBA':
            result = converted(image.convert('RGB'), profile); result.putalpha(image.getchannel('A')); return result
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        return ImageCms.profileToProfile(image, source, ImageCms.createProfile('sRGB'), renderingIntent=0, outputMode='RGB')
    def worst(a, b): return int(np.abs(np.asarray(a).astype(int) - np.asarray(b).astype(int)).max())

    """#

  @Test(
    "a profile is applied within 2, and not written",
    arguments: [
      ("p3", "RGB", "PNG"), ("adobe", "RGB", "PNG"), ("prophoto", "RGB", "PNG"), ("p3", "RGBA", "PNG"),
      ("adobe", "RGB", "JPEG"), ("prophoto", "RGBA", "WEBP"), ("p3", "RGB", "WEBP"), ("cmyk", "CMYK", "JPEG"),
      ("cmyk", "CMYK", "TIFF"), ("adobe", "RGBA", "TIFF"),
    ])
  func profiles(_ profile: String, _ mode: String, _ format: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.prelude + """
        picture('\(mode)').save(sys.argv[1], '\(format)', icc_profile=profiles['\(profile)'], **({'quality': 95} if '\(format)' == 'JPEG' else {'lossless': True}))
        """, [fixture.folder.file("in")])
    for format in ImageFormat.allCases where format.isWritable {
      try fixture.pass(
        fixture.folder.file("in"), to: fixture.folder.file(format.rawValue), options: OutputOptions(format: format))
    }
    let printed = try PassFixture.python(
      Self.prelude + """
        a, b = (Image.open(p) for p in sys.argv[1:3])
        print(worst(converted(a, profiles['\(profile)']), b) <= 2, worst(a.convert(b.mode), b) > 12)
        print([p for p in sys.argv[2:] if 'icc_profile' in Image.open(p).info])
        """, ["in", "png", "jpeg", "webp"].map(fixture.folder.file))
    #expect(printed == "True True\n[]")
  }

  @Test("grey with a profile stays grey, or is coloured by colour filters", arguments: ["L", "LA"], ["PNG", "TIFF"])
  func grey(_ mode: String, _ format: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.prelude + "picture('\(mode)').save(sys.argv[1], '\(format)', icc_profile=profiles['grey'])",
      [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("sepia"), recipe: "sepia(1)")
    let printed = try PassFixture.python(
      Self.prelude + """
        a, b, c = (Image.open(p) for p in sys.argv[1:4])
        wanted = converted(a.convert('L'), profiles['grey'])
        print(b.mode == a.mode, worst(wanted, b.convert('RGB')) <= 2, worst(a.convert('L'), b.convert('L')) > 12)
        toned = rounded(css('sepia(1)', np.asarray(wanted) / 255.0))
        print(worst(toned, np.asarray(c.convert('RGB'))) <= 3, [x for x in (b, c) if 'icc_profile' in x.info])
        """, ["in", "out", "sepia"].map(fixture.folder.file))
    #expect(printed == "True True True\nTrue []")
  }

  @Test("16 bits are converted as 16 bits")
  func deep() throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.prelude + """
        p = np.asarray(picture('RGB')).astype(int) * 257
        p[0, :] = 20000 + np.arange(96)[:, None]
        chunk_ = chunk(b'iCCP', b'x\\0\\0' + zlib.compress(profiles['adobe']))
        open(sys.argv[1], 'wb').write(png(p, 16, 2, before=chunk_))
        """, [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    let printed = try PassFixture.python(
      Self.prelude + """
        a, b = (read_png(open(p, 'rb').read()) for p in sys.argv[1:3])
        a, b = (np.asarray(x[0] if isinstance(x, tuple) else x) for x in (a, b))
        eight = Image.fromarray((a.reshape(64, 96, 3) / 257).round().astype('u1'))
        b = b.reshape(64, 96, 3)
        print(worst(converted(eight, profiles['adobe']), (b / 257).round()) <= 2, len(np.unique(b[0, :, 0])) > 80)
        """, ["in", "out"].map(fixture.folder.file))
    #expect(printed == "True True")
  }

  @Test(
    "an sRGB profile changes nothing and is kept; one for other pixels or an invalid one is left out",
    arguments: [
      ("RGB", "profiles['srgb']", ImageFormat.png, true), ("RGB", "profiles['cmyk']", .png, false),
      ("RGB", "bytes(200)", .png, false), ("L", "profiles['srgb']", .jpeg, false),
      ("L", "profiles['srgb-grey']", .jpeg, true), ("L", "profiles['srgb-grey']", .png, true),
      ("L", "profiles['srgb-grey']", .webp, false),
      ("RGB", "profiles['srgb-grey']", .webp, false),
    ])
  func standard(_ mode: String, _ profile: String, _ format: ImageFormat, _ stays: Bool) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.prelude + """
        picture('\(mode)').save(sys.argv[1], 'PNG', icc_profile=\(profile))
        """, [fixture.folder.file("in")])
    try fixture.pass(
      fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(format: format, quality: 100))
    let printed = try PassFixture.python(
      Self.prelude + """
        a, b = (Image.open(p) for p in sys.argv[1:3])
        kept = b.info.get('icc_profile')
        print(psnr(a.convert('RGB'), b.convert('RGB')) > 35, kept is None or kept == a.info['icc_profile'], kept is not None)
        """, ["in", "out"].map(fixture.folder.file))
    #expect(printed == "True True \(stays ? "True" : "False")")
  }

  @Test("stored planes are filtered only in sRGB", arguments: ["adobe", "srgb"])
  func planes(_ profile: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.prelude + "picture('RGB').save(sys.argv[1], 'JPEG', quality=95, icc_profile=profiles['\(profile)'])",
      [fixture.folder.file("in")])
    try fixture.pass(
      fixture.folder.file("in"), to: fixture.folder.file("out"), recipe: "grayscale(0.6)",
      options: OutputOptions(quality: 95))
    let printed = try PassFixture.python(
      Self.prelude + """
        a, b = (Image.open(p) for p in sys.argv[1:3])
        wanted = rounded(css('grayscale(0.6)', np.asarray(converted(a, profiles['\(profile)'])) / 255.0))
        print(psnr(Image.fromarray(wanted.astype('u1')), b) > 38, 'icc_profile' in b.info)
        """, ["in", "out"].map(fixture.folder.file))
    #expect(printed == "True \(profile == "srgb" ? "True" : "False")")
  }

  @Test(
    "PNG's chunks count in their order: iCCP, sRGB, gAMA and cHRM",
    arguments: [
      ("iCCP sRGB gAMA cHRM", "icc"), ("sRGB gAMA cHRM", "as is"), ("gAMA cHRM", "linear adobe"),
      ("gAMA", "linear"), ("cHRM", "as is"), ("gAMA0", "as is"), ("gAMA2.2", "as is"),
    ], [0, 2])
  func chunks(_ order: (chunks: String, meaning: String), _ kind: Int) throws {
    let (chunks, meaning) = order
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.prelude + """
        points = [31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000]
        all = {'iCCP': chunk(b'iCCP', b'x\\0\\0' + zlib.compress(profiles['grey' if \(kind) == 0 else 'p3'])), 'sRGB': chunk(b'sRGB', b'\\0'),
          'gAMA': chunk(b'gAMA', struct.pack('>I', 100000)), 'cHRM': chunk(b'cHRM', struct.pack('>8I', *points)),
          'gAMA0': chunk(b'gAMA', bytes(4)), 'gAMA2.2': chunk(b'gAMA', struct.pack('>I', 45455))}
        p = np.asarray(picture('L' if \(kind) == 0 else 'RGB'))
        open(sys.argv[1], 'wb').write(png(p.reshape(64, 96, -1).astype(int), 8, \(kind), before=b''.join(all[c] for c in '\(chunks)'.split())))
        """, [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"))
    let printed = try PassFixture.python(
      Self.prelude + """
        p = picture('L' if \(kind) == 0 else 'RGB'); meaning = '\(meaning)'
        if meaning == 'icc': wanted = np.asarray(converted(p, profiles['grey' if \(kind) == 0 else 'p3']))
        elif meaning == 'as is': wanted = np.asarray(p.convert('RGB'))
        else:
            v = np.asarray(p.convert('RGB')) / 255.0
            def to_xyz(g):
                primaries = np.array([[x / y, 1, (1 - x - y) / y] for x, y in ((.64, .33), g, (.15, .06))]).T
                white = np.array([.3127 / .329, 1, (1 - .3127 - .329) / .329])
                return primaries * np.linalg.solve(primaries, white)
            if 'adobe' in meaning and \(kind) == 2: v = np.clip(v @ (np.linalg.inv(to_xyz((.3, .6))) @ to_xyz((.21, .71))).T, 0, 1)
            wanted = 255 * np.where(v <= .0031308, 12.92 * v, 1.055 * v ** (1 / 2.4) - .055)
        b = Image.open(sys.argv[2])
        changed = meaning != 'as is'
        print(worst(np.round(wanted), b.convert('RGB')) <= (2 if changed else 0))
        # What was converted says nothing any more.
        names = open(sys.argv[2], 'rb').read()
        print([n for n in ('iCCP', 'sRGB', 'gAMA', 'cHRM') if changed and n.encode() in names])
        """, ["in", "out"].map(fixture.folder.file))
    #expect(printed == "True\n[]")
  }

  @Test("CMYK without a profile is multiplied, and assumed to be inverted", arguments: ["adobe", "plain"])
  func cmyk(_ kind: String) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.prelude + """
        f = io.BytesIO(); picture('CMYK').save(f, 'JPEG', quality=95); data = f.getvalue()
        if '\(kind)' == 'plain':
            at = data.index(b'\\xff\\xee'); data = data[:at] + data[at + 16:]
        open(sys.argv[1], 'wb').write(data)
        """, [fixture.folder.file("in")])
    try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("out"), options: OutputOptions(format: .png))
    let printed = try PassFixture.python(
      Self.prelude + "a, b = (Image.open(p) for p in sys.argv[1:3]); print(a.mode, worst(a.convert('RGB'), b))",
      ["in", "out"].map(fixture.folder.file))
    let parts = printed.split(separator: " ")
    #expect(parts.first == "CMYK" && (0...2).contains(Int(parts.last ?? "") ?? -1), "\(printed)")
  }
}
