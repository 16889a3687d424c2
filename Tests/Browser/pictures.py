#!/usr/bin/python3
"""Compares how pictures are decoded with what Chromium shows: files of other encoders, on white, pixel by pixel. Opens results of all
formats in Chromium and in Pillow.

  Tests/Browser/pictures.py --program DARKROOM

Exit codes: 0 all is well, 1 something is wrong, 64 usage, 77 there is no Chromium, or not the Python packages.
"""
import argparse
import base64
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
try:
    import devtools
    import numpy as np
    from PIL import Image
except ImportError as error:
    print(f"pictures: script/bootstrap system installs what is missing: {error}", file=sys.stderr)
    sys.exit(77)

TYPES = {".gif": "image/gif", ".bmp": "image/bmp", ".avif": "image/avif", ".jpg": "image/jpeg", ".png": "image/png",
         ".webp": "image/webp"}
# The pixels of a picture on white, as text of base64; width and height before it.
PIXELS = """(async () => {
  const image = new Image();
  image.src = SOURCE;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, canvas.width, canvas.height).data;
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [canvas.width, canvas.height, btoa(text)];
})()"""


def shown(page, path):
    """The picture as Chromium shows it on white; AVIF with alpha as Pillow does. Chromium 156 takes alpha of the full range, which
    it has to have, for alpha of 16 to 235; libavif in Pillow, and libheif, do not."""
    with Image.open(path) as picture:
        if path.suffix == ".avif" and picture.mode == "RGBA":
            white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
            white.alpha_composite(picture)
            return np.asarray(white)[..., :3].astype(int)
    source = f"data:{TYPES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"
    width, height, text = page.run(PIXELS.replace("SOURCE", json.dumps(source)))
    return np.frombuffer(base64.b64decode(text), "u1").reshape(height, width, 4)[..., :3].astype(int)


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
    save("420.avif", photograph, 1.5, quality=90)
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


def run(program, folder, job, names, *words):
    """Makes the pictures of a job, and returns their folder."""
    (folder / "inbox").mkdir(exist_ok=True), (folder / "outbox").mkdir(exist_ok=True)
    manifest = folder / f"{job}.txt"
    manifest.write_text("".join(f"{name}\n" for name in names))
    subprocess.run([program, "run", manifest, "--inbox", folder / "inbox", "--outbox", folder / "outbox", "--file-root",
                    folder / "sources", "--filters", "none", "--quiet", *words], check=True, stdout=subprocess.DEVNULL)
    entries = json.loads((folder / f"outbox/{job}/report.json").read_text())["entries"]
    return {row["url"]: folder / "outbox" / job / row["output"]["file"] for row in entries}


def check_sources(page, program, folder):
    """What the program decodes is what Chromium shows."""
    bounds = make_sources(folder / "sources")
    made = run(program, folder, "decoded", bounds, "--format", "png")
    wrong = []
    for name, bound in bounds.items():
        expected, found = shown(page, folder / "sources" / name), shown(page, made[name])
        if expected.shape != found.shape:
            wrong.append(f"{name}: {found.shape}, shown as {expected.shape}")
        elif (difference := np.abs(expected - found).mean()) > bound:
            wrong.append(f"{name}: a mean difference of {difference:.2f}, allowed is {bound}")
    assert not wrong, "; ".join(wrong)
    return f"{len(bounds)} files are decoded as Chromium shows them"


def check_results(page, program, folder):
    """What the program writes is opened by others, and looks the same."""
    names = ["alpha.png", "turned-6.jpg", "444.avif"]
    count = 0
    for form in ("jpeg", "png", "webp", "avif"):
        for chroma in ("420", "444"):
            made = run(program, folder, f"{form}-{chroma}", names, "--format", form, "--quality", "95", "--chroma", chroma)
            for name in names:
                expected, found = shown(page, folder / "sources" / name), shown(page, made[name])
                with Image.open(made[name]) as picture:
                    picture.load()
                    assert picture.size == found.shape[1::-1], f"{made[name]}: {picture.size}"
                difference = np.abs(expected - found).mean()
                assert difference < 4, f"{made[name]}: a mean difference of {difference:.2f} from its source"
                count += 1
    return f"{count} results look like their sources"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    program = pathlib.Path(parser.parse_args().program).resolve()
    if not shutil.which("chromium"):
        print("pictures: there is no chromium; script/bootstrap system installs it", file=sys.stderr)
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="darkroom-pictures-") as name, devtools.Browser() as browser:
        folder = pathlib.Path(name)
        (folder / "sources").mkdir()
        page = browser.page()
        for check in (check_sources, check_results):
            try:
                print(check(page, program, folder), flush=True)
            except (AssertionError, RuntimeError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"{check.__name__}: {type(error).__name__}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
