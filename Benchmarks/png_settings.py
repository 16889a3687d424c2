"""Every filter set, level and strategy of libpng over pictures of each kind, CPU time and bytes: `script/bench png-settings`."""
import collections, pathlib, subprocess, sys, tempfile

import png_pictures


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


if __name__ == "__main__":
    settings(sys.argv[1])
