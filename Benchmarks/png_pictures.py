"""Pictures for the benchmarks: photographs of Samples/ as PNG, and drawn ones of every other kind."""
import pathlib, struct, sys, zlib

import numpy as np
from PIL import Image, ImageDraw

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "Samples"
PHOTOGRAPHS = ["astronaut", "chelsea", "coffee", "hubble-deep-field", "rocket"]


def sepia(image):
    k = 0.2
    matrix = [.393 + .607 * k, .769 - .769 * k, .189 - .189 * k, 0, .349 - .349 * k, .686 + .314 * k,
              .168 - .168 * k, 0, .272 - .272 * k, .534 - .534 * k, .131 + .869 * k, 0]
    return image.convert("RGB").convert("RGB", matrix)


def photograph(name):
    return Image.open(SAMPLES / f"{name}.jpg").convert("RGB")


def screenshot():
    """Flat areas, thin lines and text, as a window of an editor has them."""
    image = Image.new("RGB", (1280, 800), (246, 246, 246))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 1280, 28), (60, 60, 64))
    draw.rectangle((0, 28, 240, 800), (228, 230, 234))
    for line in range(48):
        draw.text((256, 36 + 16 * line), f"{line:4d}   let value{line % 7} = rows[{line}].map {{ $0 + {line * 37 % 101} }}",
                  (30 + line * 5 % 90, 30, 120))
        draw.text((12, 36 + 16 * line), f"Sources/File{line * 13 % 50}.swift", (40, 40, 40))
        draw.line((240, 34 + 16 * line, 1280, 34 + 16 * line), (238, 238, 238))
    return image


def gradient():
    y, x = np.mgrid[0:768, 0:1024] / 1024
    return Image.fromarray((np.stack([x, y, 1 - (x + y) / 2], -1) * 255 + .5).astype("u1"))


def noisy(name):
    """A photograph as a camera's sensor gives it, which no JPEG encoder has smoothed yet."""
    image = photograph(name)
    image = image.resize((image.width * 2, image.height * 2), Image.BICUBIC)
    noise = np.random.default_rng(1).normal(0, 2.5, (image.height, image.width, 3))
    return Image.fromarray((np.asarray(image) + noise).clip(0, 255).astype("u1"))


def translucent():
    image = photograph("astronaut").convert("RGBA")
    y, x = np.mgrid[0:image.height, 0:image.width]
    distance = np.hypot(x / image.width - .5, y / image.height - .5)
    image.putalpha(Image.fromarray(((.55 - distance) * 1020).clip(0, 255).astype("u1")))
    return image


def write_deep(path):
    """16 bits for a sample, which Pillow does not write in colour."""
    noise = np.random.default_rng(2).normal(0, 60, (300, 451, 3))
    samples = (np.asarray(photograph("chelsea")).astype(float) * 257 + noise).clip(0, 65535).astype(">u2")

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + row.tobytes() for row in samples)
    header = struct.pack(">IIBBBBB", samples.shape[1], samples.shape[0], 16, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make(folder):
    """Writes the pictures into a folder, filtered already: what an encoder gets."""
    for name in PHOTOGRAPHS:
        sepia(photograph(name)).save(folder / f"photo-{name}.png")
    sepia(noisy("coffee")).save(folder / "photo-noisy.png")
    photograph("coffee").convert("L").save(folder / "grey-coffee.png")
    screenshot().save(folder / "screenshot.png")
    gradient().save(folder / "gradient.png")
    photograph("coffee").quantize(64).save(folder / "palette-coffee.png")
    screenshot().quantize(32).save(folder / "palette-screenshot.png")
    translucent().save(folder / "alpha-astronaut.png")
    write_deep(folder / "deep-chelsea.png")


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
