"""The files that pictures.py compares: of Pillow, avifenc and ImageMagick, whole and damaged."""
import dataclasses
import pathlib
import subprocess
import typing

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Words for ImageMagick. Chromium takes a gamma of 1/2.2 for what it says, the program for sRGB.
WITHOUT_CHUNKS = ("-define", "png:exclude-chunks=all")


def bitmap(width, height, bits, rows, compression=0, masks=b"", colours=b""):
    """A BMP with the header of Windows 5 or, without masks, of Windows 3."""
    head = (124 if masks else 40, width, height, 1, bits, compression, 0, 2835, 2835, len(colours) // 4, 0)
    header = np.array(head[:3], "<i4").tobytes() + np.array(head[3:5], "<u2").tobytes() + np.array(head[5:], "<i4").tobytes()
    header += (masks + b"BGRs" + bytes(48 + 16))[:84] if masks else b""
    offset = 14 + len(header) + len(colours)
    return b"BM" + np.array([offset + len(rows), 0, offset], "<u4").tobytes() + header + colours + rows


def make_sources(folder):
    """Files by name, with the largest mean difference of a sample from what Chromium shows."""
    photograph = Image.open(ROOT / "Samples/chelsea.jpg").resize((150, 100), Image.BICUBIC)
    translucent = photograph.copy()
    translucent.putalpha(Image.linear_gradient("L").resize(photograph.size))
    few = photograph.quantize(60)
    bounds = {}

    def save(name, picture, bound=0.0, **options):
        picture.save(folder / name, **options)
        bounds[name] = bound

    def write(name, content):
        (folder / name).write_bytes(content)
        bounds[name] = 0.0

    save("plain.gif", few)
    save("interlaced.gif", few, interlace=True)
    save("transparent.gif", few, transparency=3)
    save("animated.gif", few, save_all=True, append_images=[few.rotate(90)], loop=0)
    small = (folder / "plain.gif").read_bytes()
    write("larger-screen.gif", small[:6] + np.array([170, 120], "<u2").tobytes() + small[10:])
    write("smaller-screen.gif", small[:6] + np.array([20, 10], "<u2").tobytes() + small[10:])
    write("without-colours.gif", b"GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2\x44\1\0;")

    save("plain.bmp", photograph)
    save("palette.bmp", few)
    save("grey.bmp", photograph.convert("L"))
    save("two.bmp", photograph.convert("1"))
    masks = np.array([0xFF0000, 0xFF00, 0xFF, 0xFF000000], "<u4").tobytes()
    pixels = np.asarray(translucent)[::-1, :, [2, 1, 0, 3]].copy()
    write("alpha.bmp", bitmap(*photograph.size, 32, pixels.tobytes(), 3, masks))
    pixels[..., 3] = 0
    write("alpha-of-zero.bmp", bitmap(*photograph.size, 32, pixels.tobytes(), 3, masks))
    write("without-mask.bmp", bitmap(*photograph.size, 32, pixels.tobytes()))

    save("444.avif", photograph, 0.6, subsampling="4:4:4", quality=90)
    save("420.avif", photograph, 0.6, quality=90)
    save("limited.avif", photograph, 0.8, subsampling="4:4:4", quality=90, range="limited")
    save("grey.avif", photograph.convert("L"), 0.6, subsampling="4:0:0", quality=90)
    save("alpha.avif", translucent, 0.8, subsampling="4:4:4", quality=90)
    for orientation in range(2, 9):
        exif = Image.Exif()
        exif[0x112] = orientation
        save(f"turned-{orientation}.avif", photograph, 0.6, subsampling="4:4:4", quality=90, exif=exif.tobytes())
        save(f"turned-{orientation}.jpg", photograph, 0.6, subsampling=0, quality=90, exif=exif.tobytes())
    photograph.save(folder / "source.png")
    for name, words in {"10-bits": ["-d", "10"], "12-bits": ["-d", "12"], "grid": ["--grid", "2x1"],
                        "premultiplied": ["-p"]}.items():
        source = folder / "source.png"
        if name in ("premultiplied", "grid"):
            source = folder / f"{name}.source.png"
            (translucent if name == "premultiplied" else photograph.resize((256, 128))).save(source)
        subprocess.run(["avifenc", "-s", "9", "-y", "444", "--min", "0", "--max", "10", *words, source,
                        folder / f"{name}.avif"], check=True, stdout=subprocess.DEVNULL)
        bounds[f"{name}.avif"] = 1.0
    save("alpha.png", translucent, 0.5)
    save("alpha.webp", translucent, 0.5, lossless=True)
    return bounds


@dataclasses.dataclass(frozen=True)
class Coding:
    """A way in which the program codes results."""
    source: str
    options: tuple
    # Whether the bytes of a file are coded in this way.
    is_used: typing.Callable
    # The largest difference of a sample between Chromium and Pillow: of rounding, where alpha is laid on white.
    most: int = 0


def frame(code):
    """Whether a JPEG has a frame of this kind (ITU-T T.81 table B.1), of grey or of colour."""
    return lambda data: any(bytes([0xFF, code, 0, length, 8]) in data for length in (11, 17))


def optimized(data):
    """Whether a JPEG has other Huffman tables than those of T.81 annex K.3.3, of which this is the beginning of one."""
    return frame(0xC0)(data) and bytes([0x10, 0, 2, 1, 3, 3, 2, 4]) not in data


def header(depth, kind):
    """Whether a PNG has samples of this depth and kind of colour."""
    return lambda data: data[24:26] == bytes([depth, kind])


def sampling(horizontal, vertical):
    """Whether a baseline or progressive JPEG has luma of these sampling factors."""
    def has(data):
        start = max(data.find(b"\xFF\xC0\0\x11"), data.find(b"\xFF\xC2\0\x11"))
        return data[start + 11] == horizontal << 4 | vertical
    return has


JPEG, PNG = ("--format", "jpeg", "--quality", "90"), ("--format", "png")
CODINGS = {
    "baseline": Coding("photograph.png", JPEG, frame(0xC0)),
    "progressive": Coding("photograph.png", (*JPEG, "--jpeg-coding", "progressive"), frame(0xC2)),
    "optimized": Coding("photograph.png", (*JPEG, "--jpeg-coding", "optimized"), optimized),
    "444": Coding("photograph.png", (*JPEG, "--chroma", "444"), sampling(1, 1)),
    "progressive-444": Coding(
        "photograph.png", (*JPEG, "--chroma", "444", "--jpeg-coding", "progressive"), sampling(1, 1)),
    "grey": Coding("grey.png", JPEG, frame(0xC0)),
    "progressive-grey": Coding("grey.png", (*JPEG, "--jpeg-coding", "progressive"), frame(0xC2)),
    "png": Coding("photograph.png", PNG, header(8, 2)),
    "png-alpha": Coding("translucent.png", PNG, header(8, 6)),
    "png-16": Coding("deep.png", PNG, header(16, 2)),
    "png-16-alpha": Coding("deep-alpha.png", PNG, header(16, 6)),
    "png-grey-alpha": Coding("grey-alpha.png", PNG, header(8, 4)),
    "palette": Coding("few.png", (*PNG, "--png-palette", "lossless"), header(8, 3)),
    "palette-of-9": Coding("nine.png", (*PNG, "--png-palette", "lossless"), header(4, 3)),
    "palette-alpha": Coding("few-alpha.png", (*PNG, "--png-palette", "lossless"), header(8, 3)),
    "webp": Coding("photograph.png", ("--format", "webp"), lambda data: data[12:16] == b"VP8 "),
    "webp-alpha": Coding("translucent.png", ("--format", "webp"), lambda data: b"ALPH" in data, 1),
    "webp-lossless": Coding("lossless.webp", ("--format", "webp", "--filters", "flop()"), lambda data: b"VP8L" in data),
    "avif": Coding("photograph.png", ("--format", "avif"), lambda data: b"av01" in data),
    "avif-444": Coding("photograph.png", ("--format", "avif", "--chroma", "444"), lambda data: b"av01" in data),
}


def make_more_sources(folder):
    """The sources of `CODINGS`."""
    photograph = Image.open(ROOT / "Samples/coffee.jpg").resize((211, 141), Image.BICUBIC)
    ramp = Image.linear_gradient("L").resize(photograph.size)
    few = photograph.quantize(200)

    def with_alpha(picture, alpha):
        picture = picture.copy()
        picture.putalpha(alpha)
        return picture

    photograph.save(folder / "photograph.png")
    photograph.convert("L").save(folder / "grey.png")
    with_alpha(photograph, ramp).save(folder / "translucent.png")
    with_alpha(photograph.convert("L"), ramp).save(folder / "grey-alpha.png")
    photograph.save(folder / "lossless.webp", lossless=True)
    few.convert("RGB").save(folder / "few.png")
    photograph.quantize(9).convert("RGB").save(folder / "nine.png")
    few_alpha = photograph.quantize(50).convert("RGB")
    few_alpha.putalpha(ramp.point(lambda level: level // 64 * 80))
    few_alpha.save(folder / "few-alpha.png")
    # Pillow writes no colour of 16 bits.
    for source, name in [("photograph", "deep"), ("translucent", "deep-alpha")]:
        subprocess.run(["convert-im6", folder / f"{source}.png", "-depth", "16", "-evaluate", "multiply", "0.937",
                        *WITHOUT_CHUNKS, f"PNG{64 if source == 'translucent' else 48}:{folder / name}.png"], check=True)


@dataclasses.dataclass(frozen=True)
class Damaged:
    """A kind of picture that is damaged, and how close what is read of it has to be to what Chromium shows."""
    # Words for Pillow.
    options: dict = dataclasses.field(default_factory=dict)
    mode: str = "RGB"
    # Whether ImageMagick makes an interlaced PNG of it.
    is_interlaced: bool = False
    # Whether each part of the file refines the whole picture.
    is_refined: bool = False
    is_bottom_up: bool = False
    # How many complete rows more or fewer there may be.
    rows: int = 0
    # The largest difference of a sample in complete rows; of a picture that is refined, the mean of all.
    bound: float = 0
    # Whether pictures are compared after a wrong byte.
    compares_flips: bool = True


# Of 4:2:0 Chromium does not show the last row of a row of blocks, whose chroma depends on the next, nor the one before it.
DAMAGED = {
    "plain.jpg": Damaged(dict(quality=90), rows=2),
    "444.jpg": Damaged(dict(quality=90, subsampling=0)),
    "grey.jpg": Damaged(dict(quality=90), mode="L"),
    "restarts.jpg": Damaged(dict(quality=90, restart_marker_rows=1), rows=2),
    # Chromium smoothes the blocks of scans that are incomplete.
    "progressive.jpg": Damaged(dict(quality=90, progressive=True), is_refined=True, bound=0.1),
    "plain.png": Damaged(),
    "palette.png": Damaged(mode="P"),
    # Of broken data in a pass Chromium shows the passes before it, the program what libpng decodes; of a GIF the decoders continue
    # with other pixels.
    "interlaced.png": Damaged(is_interlaced=True, is_refined=True, compares_flips=False),
    "plain.gif": Damaged(dict(interlace=False), mode="P", rows=1),
    "interlaced.gif": Damaged(dict(interlace=True), mode="P", is_refined=True, bound=0.1, compares_flips=False),
    "plain.bmp": Damaged(is_bottom_up=True),
    "lossy.webp": Damaged(dict(quality=80)),
    "lossless.webp": Damaged(dict(lossless=True)),
}
# Of the file, in thousandths.
CUTS = (20, 200, 370, 500, 630, 810, 950, 999)
FLIPS = (400, 500, 600)


def make_damaged(folder):
    """Writes each picture whole, cut off and with a wrong byte, and returns the names of those that are damaged."""
    photograph = Image.open(ROOT / "Samples/chelsea.jpg").resize((163, 219), Image.BICUBIC)
    names = []
    for name, kind in DAMAGED.items():
        picture = photograph.quantize(60) if kind.mode == "P" else photograph.convert(kind.mode)
        path = folder / f"damaged-{name}"
        picture.save(path, **kind.options)
        if kind.is_interlaced:
            subprocess.run(["convert-im6", path, "-interlace", "PNG", *WITHOUT_CHUNKS, path], check=True)
        whole = path.read_bytes()
        for cut in CUTS:
            (folder / f"cut-{cut}-{name}").write_bytes(whole[:len(whole) * cut // 1000])
            names.append(f"cut-{cut}-{name}")
        for flip in FLIPS:
            wrong = bytearray(whole)
            wrong[len(whole) * flip // 1000] ^= 0x15
            (folder / f"flipped-{flip}-{name}").write_bytes(wrong)
            names.append(f"flipped-{flip}-{name}")
    return names
