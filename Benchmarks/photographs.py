"""Small photographs for the benchmarks of transfers: those of Samples/, scaled and encoded by libjpeg's own programs."""
import pathlib, subprocess

SAMPLES = pathlib.Path(__file__).resolve().parent.parent / "Samples"


def encoded(sample, eighths, *options):
    pixels = subprocess.run(["djpeg", "-scale", f"{eighths}/8", sample], stdout=subprocess.PIPE, check=True).stdout
    return subprocess.run(["cjpeg", *options], input=pixels, stdout=subprocess.PIPE, check=True).stdout


def thumbnail():
    """About 1 KB."""
    return encoded(SAMPLES / "chelsea.jpg", 1, "-quality", "75")


def photographs(smallest=20_000, largest=60_000):
    """JPEGs of this many bytes, a fifth of them progressive."""
    made = [encoded(sample, eighths, "-quality", str(quality), *(["-progressive"] if quality == 84 else []))
            for sample in sorted(SAMPLES.glob("*.jpg")) for eighths in (4, 5, 6, 7, 8) for quality in (72, 76, 80, 84, 88)]
    return [picture for picture in made if smallest <= len(picture) <= largest]


def numbered(picture, number):
    """The same picture as another file: with its number as a comment."""
    comment = b"%08d" % number
    return picture[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2, "big") + comment + picture[2:]
