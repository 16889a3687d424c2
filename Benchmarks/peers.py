"""Measures sepia(0.8) over web-sized photographs, formats kept: `script/bench png`, `webp`, `mixed`, `avif`,
`heic`, `gif`, `tiff` and `bmp`.

Whole processes in turn: darkroom, the codecs alone at the same settings (one core, no filter; for a mixture the sum of
those for each format), Pillow and pyvips, for PNG with their defaults and at the same level. GIF, TIFF (LZW) and BMP become PNG, HEIC
becomes JPEG; no library reads BMP alone, and pyvips has none for it and for HEIC.
"""
import argparse, json, os, pathlib, random, sys, tempfile

from PIL import Image
import pillow_heif

import contest, png_pictures, processes

pillow_heif.register_heif_opener()

WORKLOADS = {"png": ["png"], "webp": ["webp"], "mixed": ["jpg", "png", "webp"],
             "avif": ["avif"], "heic": ["heic"], "gif": ["gif"], "tiff": ["tif"], "bmp": ["bmp"]}

# How many pictures, where it is not 100. Some encoders of AVIF take a second for each.
PICTURES = {"png": 200, "webp": 200, "mixed": 200, "avif": 40}

# What the program makes of sources, others as they are.
RESULTS = {"gif": "png", "tif": "png", "bmp": "png", "heic": "jpg"}

# How the sources are saved, and the arguments of the program in Benchmarks that decodes and encodes the format.
SOURCES = {"jpg": {"quality": 90}, "png": {}, "webp": {"quality": 90}, "avif": {"quality": 90},
           "heic": {"quality": 90}, "gif": {"interlace": False}, "tif": {"compression": "tiff_lzw"}, "bmp": {}}
CODECS = {"jpg": ["85"], "png": ["recode", "su", "2", "filtered"], "webp": ["85"], "avif": ["avif", "85"],
          "heic": ["jpg", "85"], "gif": ["2"], "tif": ["2"]}

PILLOW = r"""
import concurrent.futures as cf, json, os, sys
from PIL import Image
if ".heic" in sys.argv[3]: import pillow_heif; pillow_heif.register_heif_opener()
out, options, files = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
k = .2
M = [.393+.607*k,.769-.769*k,.189-.189*k,0,.349-.349*k,.686+.314*k,.168-.168*k,0,.272-.272*k,.534-.534*k,.131+.869*k,0]
def job(path):
    picture = Image.open(path).convert("RGB").convert("RGB", M)
    name, _, extension = os.path.basename(path).rpartition(".")
    extension = {"gif": "png", "tif": "png", "bmp": "png", "heic": "jpg"}.get(extension, extension)
    picture.save(os.path.join(out, name + "." + extension), **options[extension])
with cf.ThreadPoolExecutor(os.cpu_count()) as pool: list(pool.map(job, files))
"""

PYVIPS = r"""
import concurrent.futures as cf, json, os, sys, pyvips
out, options, files = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
pyvips.cache_set_max(0)
k = .2
M = [[.393+.607*k,.769-.769*k,.189-.189*k],[.349-.349*k,.686+.314*k,.168-.168*k],[.272-.272*k,.534-.534*k,.131+.869*k]]
def job(path):
    picture = pyvips.Image.new_from_file(path, access="sequential")[:3].recomb(M).rint().cast("uchar")
    name, _, extension = os.path.basename(path).rpartition(".")
    extension = {"gif": "png", "tif": "png"}.get(extension, extension)
    picture.write_to_file(os.path.join(out, name + "." + extension), **options[extension])
with cf.ThreadPoolExecutor(os.cpu_count()) as pool: list(pool.map(job, files))
"""

PEERS = {
    "Pillow": (PILLOW, {"jpg": {"quality": 85}, "png": {}, "webp": {"quality": 85}, "avif": {"quality": 85, "max_threads": 1}}),
    "Pillow, AVIF at speed 8": (PILLOW, {"avif": {"quality": 85, "speed": 8, "max_threads": 1}}),
    "Pillow, PNG at level 2": (PILLOW, {"jpg": {"quality": 85}, "png": {"compress_level": 2}, "webp": {"quality": 85}}),
    "pyvips": (PYVIPS, {"jpg": {"Q": 85}, "png": {}, "webp": {"Q": 85}, "avif": {"Q": 85}}),
    # The opposite of libheif's speed, from 0 to 9.
    "pyvips, AVIF at speed 8": (PYVIPS, {"avif": {"Q": 85, "effort": 1}}),
    "pyvips, PNG at level 2, sub and up":
        (PYVIPS, {"jpg": {"Q": 85}, "png": {"compression": 2, "filter": "sub|up"}, "webp": {"Q": 85}}),
}


def make_photographs(folder, extensions, count):
    """Crops of the samples, in sizes that the web has."""
    choice = random.Random(1)
    for number in range(count):
        image = png_pictures.photograph(png_pictures.PHOTOGRAPHS[number % len(png_pictures.PHOTOGRAPHS)])
        share, side = choice.uniform(.6, 1), choice.choice([640, 800, 1024])
        width, height = int(image.width * share), int(image.height * share)
        left, top = choice.randint(0, image.width - width), choice.randint(0, image.height - height)
        scale = side / max(width, height)
        image = image.crop((left, top, left + width, top + height))
        image = image.resize((int(width * scale), int(height * scale)), Image.LANCZOS)
        extension = extensions[number % len(extensions)]
        image.save(folder / f"{number:04}.{extension}", **SOURCES[extension])


def compare(workload, codecs, darkroom, count, rounds):
    extensions = WORKLOADS[workload]
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        pictures = work / "pictures"
        pictures.mkdir()
        make_photographs(pictures, extensions, count)
        files = sorted(pictures.iterdir())
        (work / "list.txt").write_text("".join(f"{path.name}\n" for path in files))

        def run_darkroom(out):
            return contest.measured(processes.darkroom(
                darkroom, out, work / "list.txt", "--file-root", pictures, "--filters", "sepia(0.8)", "--quality", "85"), out)

        def run_codecs(out):
            taken = [contest.measured([codecs / extension, *CODECS[extension], *pictures.glob("*." + extension)], out)
                     for extension in extensions]
            for path in pictures.glob("*.out"):
                source = pathlib.Path(path.stem)
                path.rename(out / source.with_suffix("." + RESULTS.get(source.suffix[1:], source.suffix[1:])))
            walls, seconds, peaks = zip(*taken)
            return sum(walls), sum(seconds), max(peaks)

        def run_peer(script, options):
            return lambda out: contest.measured([sys.executable, "-c", script, out, json.dumps(options), *files], out,
                                                VIPS_CONCURRENCY="1")

        contenders = {"darkroom": run_darkroom}
        if all(extension in CODECS for extension in extensions):
            contenders["codecs alone"] = run_codecs
        results = [RESULTS.get(extension, extension) for extension in extensions]
        contenders |= {label: run_peer(*peer) for label, peer in PEERS.items()
                       if ("png" in results or "PNG" not in label)
                       and ("AVIF" not in label or "avif" in extensions)
                       and (not {"bmp", "heic"} & set(extensions) or "pyvips" not in label)}
        contest.compare(workload, contenders, count, rounds, results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--pictures", type=int)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("workload", choices=WORKLOADS)
    parser.add_argument("codecs", type=pathlib.Path)
    parser.add_argument("darkroom")
    options = parser.parse_args()
    count = options.pictures or PICTURES.get(options.workload, 100)
    compare(options.workload, options.codecs.resolve(), options.darkroom, count, options.rounds)
