/// Python for comparisons: the CSS formulas in numpy, written independently of the module, and PNG files of any kind.
enum Reference {
  static let prelude = #"""
    import io, json, math, re, struct, sys, zlib
    import numpy as np
    from PIL import Image

    def css(recipe, rgb):
        """Filter Effects Module Level 1 on an array of (rows, columns, 3), 0...1."""
        for name, argument in re.findall(r'([a-z-]+)\(([-+0-9.e]+)(?:deg)?\)', recipe):
            a = float(argument)
            if name == 'grayscale':
                m = (1 - a) * np.eye(3) + a * np.array([[.2126, .7152, .0722]] * 3)
            elif name == 'sepia':
                m = (1 - a) * np.eye(3) + a * np.array(
                    [[.393, .769, .189], [.349, .686, .168], [.272, .534, .131]])
            elif name == 'saturate':
                m = a * np.eye(3) + (1 - a) * np.array([[.213, .715, .072]] * 3)
            elif name == 'hue-rotate':
                c, s = math.cos(math.radians(a)), math.sin(math.radians(a))
                m = (np.array([[.213, .715, .072]] * 3)
                     + c * np.array([[.787, -.715, -.072], [-.213, .285, -.072], [-.213, -.715, .928]])
                     + s * np.array([[-.213, -.715, .928], [.143, .140, -.283], [-.787, .715, .072]]))
            else:
                m = None
            if m is not None:
                rgb = rgb @ m.T
            elif name == 'invert':
                rgb = rgb * (1 - a) + (1 - rgb) * a
            elif name == 'brightness':
                rgb = rgb * a
            elif name == 'contrast':
                rgb = (rgb - .5) * a + .5
            rgb = np.clip(rgb, 0, 1)
        return rgb

    def rounded(values):
        return np.floor(values * 255 + .5)

    def psnr(a, b):
        error = np.mean((np.asarray(a, float) - np.asarray(b, float)) ** 2)
        return 99 if error == 0 else 10 * math.log10(255 ** 2 / error)

    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))

    SIGNATURE = b'\x89PNG\r\n\x1a\n'
    CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

    def scanlines(samples, depth):
        rows = samples.reshape(samples.shape[0], -1)
        out = b''
        for row in rows:
            if depth == 16:
                body = row.astype('>u2').tobytes()
            elif depth == 8:
                body = row.astype('u1').tobytes()
            else:
                bits = ((row[:, None] >> np.arange(depth - 1, -1, -1)) & 1).astype('u1').reshape(-1)
                body = np.packbits(bits).tobytes()
            out += b'\0' + body
        return out

    def png(samples, depth, kind, interlaced=False, before=b'', after=b''):
        """A PNG file of samples (rows, columns, channels) as they are stored."""
        h, w = samples.shape[:2]
        if interlaced:
            data = b''
            for x, y, dx, dy in [(0,0,8,8),(4,0,8,8),(0,4,4,8),(2,0,4,4),(0,2,2,4),(1,0,2,2),(0,1,1,2)]:
                part = samples[y::dy, x::dx]
                if part.size:
                    data += scanlines(part, depth)
        else:
            data = scanlines(samples, depth)
        header = struct.pack('>IIBBBBB', w, h, depth, kind, 0, 0, int(interlaced))
        return (SIGNATURE + chunk(b'IHDR', header) + before + chunk(b'IDAT', zlib.compress(data)) + after
                + chunk(b'IEND', b''))

    def stored_rows(data):
        """Rows of bytes, the filter's number first, and depth and colour type of a PNG file that is not interlaced."""
        at, idat = 8, b''
        while at < len(data):
            size, name = struct.unpack('>I4s', data[at:at + 8])
            body = data[at + 8:at + 8 + size]
            if name == b'IHDR':
                w, h, depth, kind, _, _, lace = struct.unpack('>IIBBBBB', body)
            if name == b'IDAT':
                idat += body
            at += size + 12
        assert lace == 0 and depth in (8, 16)
        return np.frombuffer(zlib.decompress(idat), 'u1').reshape(h, 1 + w * CHANNELS[kind] * depth // 8), depth, kind

    def row_filters(data):
        return set(stored_rows(data)[0][:, 0].tolist())

    def read_png(data):
        """Samples (rows, columns, channels), depth and colour type of a PNG file that is not interlaced."""
        raw, depth, kind = stored_rows(data)
        pixel, (h, w) = CHANNELS[kind] * depth // 8, raw.shape
        w = (w - 1) // pixel
        rows, above = [], np.zeros(w * pixel, int)
        for row in raw:
            filter, line = row[0], row[1:].astype(int)
            if filter == 1:
                line = (line.reshape(w, pixel).cumsum(0) % 256).reshape(-1)
            elif filter == 2:
                line = (line + above) % 256
            else:
                assert filter == 0, filter
            rows.append(line)
            above = line
        whole = np.array(rows).astype('u1').tobytes()
        return np.frombuffer(whole, '>u2' if depth == 16 else 'u1').reshape(h, w, CHANNELS[kind]).astype(int), depth, kind

    """#
}
