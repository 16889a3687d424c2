"""Measures PNG to PNG: `script/bench png-settings` and `script/bench png`.

settings    every filter set, level and strategy of libpng over pictures of each kind: CPU time and bytes
peers       sepia(0.8) over web-sized photographs, whole processes in turn: darkroom, libpng alone at the same settings
            (no filter, one core), Pillow and pyvips with their defaults and at the same level
"""
import collections, os, pathlib, random, statistics, subprocess, sys, tempfile

from PIL import Image

import png_pictures

PILLOW = r"""
import concurrent.futures as cf, os, sys
from PIL import Image
out, level, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
k = .2
M = [.393+.607*k,.769-.769*k,.189-.189*k,0,.349-.349*k,.686+.314*k,.168-.168*k,0,.272-.272*k,.534-.534*k,.131+.869*k,0]
def job(path):
    picture = Image.open(path).convert("RGB").convert("RGB", M)
    picture.save(os.path.join(out, os.path.basename(path)), compress_level=level)
with cf.ThreadPoolExecutor(os.cpu_count()) as pool: list(pool.map(job, files))
"""

PYVIPS = r"""
import concurrent.futures as cf, os, sys, pyvips
out, level, filter, files = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
pyvips.cache_set_max(0)
k = .2
M = [[.393+.607*k,.769-.769*k,.189-.189*k],[.349-.349*k,.686+.314*k,.168-.168*k],[.272-.272*k,.534-.534*k,.131+.869*k]]
def job(path):
    picture = pyvips.Image.new_from_file(path, access="sequential").recomb(M).rint().cast("uchar")
    picture.pngsave(os.path.join(out, os.path.basename(path)), compression=level, filter=filter)
with cf.ThreadPoolExecutor(os.cpu_count()) as pool: list(pool.map(job, files))
"""


def settings(codec):
    with tempfile.TemporaryDirectory() as name:
        png_pictures.make(pathlib.Path(name))
        files = sorted(str(path) for path in pathlib.Path(name).iterdir())
        printed = subprocess.run([codec, "settings", *files], check=True, capture_output=True, text=True).stdout
    sums = collections.defaultdict(lambda: [0.0, 0])
    for line in printed.splitlines():
        path, filters, level, strategy, seconds, count = line.split("\t")
        name = pathlib.Path(path).stem
        kind = "photographs" if name.startswith("photo-") and name != "photo-noisy" else name
        entry = sums[kind, filters, level, strategy]
        entry[0] += float(seconds)
        entry[1] += int(count)
    for kind in dict.fromkeys(key[0] for key in sums):
        default = sums[kind, "nsuap", "6", "filtered"][1]
        print(f"\n{kind}: filters, level, strategy, ms of CPU, bytes, bytes of libpng's defaults = 1")
        for key, (seconds, count) in sorted(sums.items(), key=lambda item: item[1][0]):
            if key[0] == kind:
                print(f"{key[1]:6} {key[2]} {key[3]:9}{seconds * 1000:8.1f} {count:9} {count / default:6.2f}")


def make_photographs(folder, count):
    """Crops of the samples, in sizes that the web has."""
    choice = random.Random(1)
    for number in range(count):
        image = png_pictures.photograph(png_pictures.PHOTOGRAPHS[number % len(png_pictures.PHOTOGRAPHS)])
        share, side = choice.uniform(.6, 1), choice.choice([640, 800, 1024])
        width, height = int(image.width * share), int(image.height * share)
        left, top = choice.randint(0, image.width - width), choice.randint(0, image.height - height)
        scale = side / max(width, height)
        image = image.crop((left, top, left + width, top + height))
        image.resize((int(width * scale), int(height * scale)), Image.LANCZOS).save(folder / f"{number:04}.png")


# A small process starts the contender: a child's peak begins with what its parent had in memory.
MEASURE = r"""
import os, sys, time
began = time.monotonic()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                        file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
_, status, usage = os.wait4(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, (sys.argv[1], status)
print(time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def measured(command, **variables):
    """Runs a command; wall seconds, CPU seconds, peak KiB."""
    printed = subprocess.run([sys.executable, "-S", "-c", MEASURE, *map(str, command)], check=True,
                             env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True).stdout
    return tuple(float(word) for word in printed.split())


def peers(codec, darkroom, count=200, rounds=3):
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        pictures = work / "pictures"
        pictures.mkdir()
        make_photographs(pictures, count)
        files = sorted(pictures.iterdir())
        (work / "list.txt").write_text("".join(f"{path.name}\n" for path in files))

        def run(label, out):
            out.mkdir()
            if label == "darkroom":
                (out / "inbox").mkdir(), (out / "outbox").mkdir()
                taken = measured([darkroom, "run", work / "list.txt", "--inbox", out / "inbox", "--outbox", out / "outbox",
                                  "--file-root", pictures, "--filters", "sepia(0.8)", "--quiet"])
            elif label == "libpng":
                taken = measured([codec, "recode", "su", "2", "filtered", *files])
                for path in pictures.glob("*.out"):
                    path.rename(out / (path.stem.removesuffix(".png") + ".png"))
            else:
                script = PILLOW if label.startswith("Pillow") else PYVIPS
                options = {"Pillow": ["6"], "Pillow, level 2": ["2"], "pyvips": ["6", "none"],
                           "pyvips, level 2, sub and up": ["2", "sub|up"]}[label]
                taken = measured([sys.executable, "-c", script, out, *options, *files],
                                 VIPS_CONCURRENCY="1")
            made = list(out.rglob("*.png"))
            assert len(made) == count, (label, len(made))
            return *taken, sum(path.stat().st_size for path in made)

        labels = ["darkroom", "libpng", "Pillow", "Pillow, level 2", "pyvips", "pyvips, level 2, sub and up"]
        results = collections.defaultdict(list)
        for number in range(rounds):
            for label in labels:
                results[label].append(run(label, work / f"{number}-{label}"))
    medians = {label: [statistics.median(column) for column in zip(*rows)] for label, rows in results.items()}
    ours = medians["darkroom"]
    print("| contender | pictures a second | CPU | peak memory | MB written | time, ours = 1 | CPU, ours = 1 |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for label, (wall, cpu, peak, written) in medians.items():
        print(f"| {label} | {count / wall:.0f} | {cpu:.2f} s | {peak / 1024:.0f} MiB | {written / 1e6:.1f} "
              f"| {wall / ours[0]:.2f} | {cpu / ours[1]:.2f} |")


if __name__ == "__main__":
    if sys.argv[1] == "settings":
        settings(sys.argv[2])
    else:
        peers(sys.argv[2], sys.argv[3])
