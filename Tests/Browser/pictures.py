#!/usr/bin/python3
"""Compares how pictures are decoded with what Chromium shows: files of other encoders, on white, pixel by pixel, and such files that
are damaged. Opens results of all formats in Chromium and in Pillow, which must see the same.

  Tests/Browser/pictures.py --program DARKROOM

Exit codes: 0 all is well, 1 something is wrong, 64 usage, 77 there is no Chromium, or not the Python packages.
"""
import argparse
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
try:
    import devtools
    import made_pictures
    import numpy as np
    from PIL import Image
except ImportError as error:
    print(f"pictures: script/bootstrap system installs what is missing: {error}", file=sys.stderr)
    sys.exit(77)

TYPES = {".gif": "image/gif", ".bmp": "image/bmp", ".avif": "image/avif", ".jpg": "image/jpeg", ".png": "image/png",
         ".webp": "image/webp"}
# The pixels of a picture on a colour, as text of base64; width and height before it. Null when none is shown.
PIXELS = """(async () => {
  const image = new Image();
  const isLoaded = await new Promise(end => {
    [image.onload, image.onerror] = [() => end(true), () => end(false)];
    image.src = SOURCE;
  });
  if (!isLoaded) return null;
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  const context = canvas.getContext('2d');
  context.fillStyle = COLOUR;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0);
  const bytes = context.getImageData(0, 0, canvas.width, canvas.height).data;
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [canvas.width, canvas.height, btoa(text)];
})()"""


def drawn(page, path, colour="#fff"):
    """What Chromium draws of a picture on a colour, as rows of columns of red, green, blue and alpha; None when it draws nothing."""
    source = f"data:{TYPES[path.suffix]};base64,{base64.b64encode(path.read_bytes()).decode()}"
    answer = page.run(PIXELS.replace("SOURCE", json.dumps(source)).replace("COLOUR", json.dumps(colour)))
    if not answer:
        return None
    width, height, text = answer
    return np.frombuffer(base64.b64decode(text), "u1").reshape(height, width, 4).astype(int)


def on_white(path):
    """A picture on white, as Pillow decodes it."""
    with Image.open(path) as picture:
        white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
        white.alpha_composite(picture.convert("RGBA"))
        return np.asarray(white)[..., :3].astype(int)


def shown(page, path):
    """The picture as Chromium shows it on white; AVIF with alpha as Pillow does. Chromium 156 takes alpha of the full range, which
    it has to have, for alpha of 16 to 235; libavif in Pillow, and libheif, do not."""
    if path.suffix == ".avif":
        with Image.open(path) as picture:
            if picture.mode == "RGBA":
                return on_white(path)
    pixels = drawn(page, path)
    assert pixels is not None, f"{path}: Chromium shows nothing"
    return pixels[..., :3]


def run(program, folder, job, names, *words, status=0):
    """Makes the pictures of a job, and returns its rows by URL."""
    (folder / "inbox").mkdir(exist_ok=True), (folder / "outbox").mkdir(exist_ok=True)
    manifest = folder / f"{job}.txt"
    manifest.write_text("".join(f"{name}\n" for name in names))
    done = subprocess.run([program, "run", manifest, "--inbox", folder / "inbox", "--outbox", folder / "outbox", "--file-root",
                           folder / "sources", "--filters", "none", "--quiet", *words], stdout=subprocess.DEVNULL)
    assert done.returncode == status, f"{job}: exit code {done.returncode}"
    entries = json.loads((folder / f"outbox/{job}/report.json").read_text())["entries"]
    for row in entries:
        if "output" in row:
            row["path"] = folder / "outbox" / job / row["output"]["file"]
    return {row["url"]: row for row in entries}


def check_sources(page, program, folder):
    """What the program decodes is what Chromium shows."""
    bounds = made_pictures.make_sources(folder / "sources")
    made = run(program, folder, "decoded", bounds, "--format", "png")
    wrong = []
    for name, bound in bounds.items():
        expected, found = shown(page, folder / "sources" / name), shown(page, made[name]["path"])
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
                expected, found = shown(page, folder / "sources" / name), shown(page, made[name]["path"])
                difference = np.abs(expected - found).mean()
                assert difference < 4, f"{made[name]['path']}: a mean difference of {difference:.2f} from its source"
                count += 1
    return f"{count} results look like their sources"


def check_codings(page, program, folder):
    """What the program writes is the same picture in Chromium and in Pillow, however it is coded."""
    made_pictures.make_more_sources(folder / "sources")
    wrong = []
    for name, coding in made_pictures.CODINGS.items():
        path = run(program, folder, f"coded-{name}", [coding.source], *coding.options)[coding.source]["path"]
        if not coding.is_used(path.read_bytes()):
            wrong.append(f"{name}: the file is not coded so")
            continue
        pixels = drawn(page, path)
        if pixels is None:
            wrong.append(f"{name}: Chromium shows nothing")
            continue
        expected = on_white(path)
        if pixels.shape[:2] != expected.shape[:2]:
            wrong.append(f"{name}: shown as {pixels.shape}")
        elif (difference := np.abs(pixels[..., :3] - expected).max()) > coding.most:
            wrong.append(f"{name}: a difference of {difference}, allowed is {coding.most}")
    assert not wrong, "; ".join(wrong)
    return f"{len(made_pictures.CODINGS)} ways to code results look alike in Chromium and Pillow"


def rows_read(row):
    """The complete rows in front of the damage, in the order of the file, as a row of a report says; all when it names a scan or a
    pass, as only what refines the picture is missing then."""
    if "output" not in row:
        return 0
    for warning in row.get("warnings", []):
        if found := re.search(r"after (\d+) of \d+ rows", warning["message"]):
            return int(found[1])
    return row["output"]["height"]


def damage_of(name, pixels, row):
    """What is wrong with the result of a damaged file, of which Chromium shows some pixels or None; None when nothing is."""
    kind = made_pictures.DAMAGED[name.split("-", 2)[2]]
    visible = np.zeros(1, bool) if pixels is None else (pixels[..., 3] == 255).all(axis=1)
    rows = rows_read(row)
    if rows == 0:
        return f"fails with {row['error']['code']}, {visible.sum()} rows are shown" if visible.any() else None
    if not visible.any():
        return f"{rows} rows are read, none is shown"
    with Image.open(row["path"]) as picture:
        difference = np.abs(np.asarray(picture.convert("RGBA")).astype(int) - pixels)[..., :3]
    if kind.is_bottom_up:
        difference, visible = difference[::-1], visible[::-1]
    if kind.is_refined:
        # Rows of a later pass may be there that are not shown, and the reverse.
        is_compared = kind.compares_flips or name.startswith("cut-")
        mean = difference[visible].mean()
        return f"a mean difference of {mean:.3f}" if is_compared and mean > kind.bound else None
    if abs(rows - visible.sum()) > kind.rows:
        return f"{rows} rows are read, {visible.sum()} are shown"
    most = difference[:min(rows, visible.sum())].max()
    return f"a difference of {most} in front of the damage" if most > kind.bound else None


def check_damage(page, program, folder):
    """What is read of damaged files is what Chromium shows of them."""
    names = made_pictures.make_damaged(folder / "sources")
    made = run(program, folder, "damaged", names, "--format", "png", "--damaged", "accept", status=1)
    wrong, read = [], 0
    for name in names:
        row = made[name]
        read += any(warning["code"] == "pixel-damage" for warning in row.get("warnings", []))
        if problem := damage_of(name, drawn(page, folder / "sources" / name, "#0000"), row):
            wrong.append(f"{name}: {problem}")
    assert not wrong, "; ".join(wrong)
    # Of the rest nothing is shown, or the damage cannot be noticed.
    assert read > len(names) / 2, f"only {read} of {len(names)} are read with a warning"
    return f"{read} of {len(names)} damaged files are read in part, as Chromium shows them"


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
        for check in (check_sources, check_results, check_codings, check_damage):
            try:
                print(check(page, program, folder), flush=True)
            except (AssertionError, RuntimeError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"{check.__name__}: {type(error).__name__}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
