"""Measures what jobs and entries cost beside the pictures themselves: `script/bench jobs` and `entries`.

`jobs`: manifests of one small file: picture each. `entries`: one manifest of small file: pictures that are copied, and the
same manifest again. Whole processes, in turn with another program when one is given; medians of wall and CPU seconds, rates, peak memory, and, from one
more run under strace, the syncs of each job.

    jobs.py jobs|entries COUNT ROUNDS PROGRAM [OTHER_PROGRAM]

Folders are made in TMPDIR.
"""
import collections, json, os, pathlib, re, shutil, statistics, subprocess, sys, tempfile

import processes

SAMPLE = pathlib.Path(__file__).resolve().parent.parent / "Samples" / "chelsea.jpg"
OPTIONS = {"jobs": [], "entries": ["--filters", "none"]}


def prepare(root, kind, count):
    shutil.rmtree(root, ignore_errors=True)
    for name in ("inbox", "outbox", "sources"):
        (root / name).mkdir(parents=True)
    small = root / "sources" / "small.jpg"
    pixels = subprocess.run(["djpeg", "-scale", "1/8", SAMPLE], stdout=subprocess.PIPE, check=True).stdout
    encoded = subprocess.run(["cjpeg", "-quality", "85"], input=pixels, stdout=subprocess.PIPE, check=True).stdout
    small.write_bytes(encoded)
    if kind == "jobs":
        manifests = {f"job{n:06}.json": json.dumps([{"url": f"file://{small}", "name": f"p{n}"}]) for n in range(count)}
    else:
        lines = (json.dumps({"url": f"file://{small}", "name": f"{n % 1000}/p{n}"}) + "\n" for n in range(count))
        manifests = {"entries.jsonl": "".join(lines)}
    return manifests


def drop(manifests, root):
    for name, text in manifests.items():
        path = root / "inbox" / name
        path.write_text(text)
        os.utime(path, (1.7e9, 1.7e9))


def command(program, root, kind):
    return [program, "run", "--quiet", "--inbox", f"{root}/inbox", "--outbox", f"{root}/outbox", "--file-root",
            f"{root}/sources"] + OPTIONS[kind]


def measure(program, root, kind, count):
    """Wall and CPU seconds and peak memory by pass: the first and, of entries, another of the same manifest."""
    manifests = prepare(root, kind, count)
    found = {}
    for label in ["first", "again"] if kind == "entries" else ["first"]:
        drop(manifests, root)
        os.sync()
        _, wall, cpu, peak, status = processes.measured(command(program, root, kind))
        if status:
            sys.exit(f"{program} ended with {status}")
        found[label] = wall, cpu, peak
    return found


def syncs(program, root, kind, count):
    drop(prepare(root, kind, count), root)
    log = root / "strace"
    subprocess.run(["strace", "-f", "-c", "-e", "trace=fsync,fdatasync,syncfs,sync", "-o", log]
                   + command(program, root, kind), stdout=subprocess.DEVNULL, check=True)
    return sum(int(match.group(1)) for match in re.finditer(r"(\d+)\s+(?:\d+\s+)?(?:fsync|fdatasync|syncfs|sync)$",
                                                            log.read_text(), re.M))


def main(kind, count, rounds, programs):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "bench"
        found = collections.defaultdict(list)
        for _ in range(rounds):
            for program in programs:
                for label, figures in measure(program, root, kind, count).items():
                    found[program, label].append(figures)
        each = {program: syncs(program, root, kind, min(count, 300)) / min(count, 300) for program in programs}
        labels = list(dict.fromkeys(label for _, label in found))
        print(f"{'program':60} {'':5} {'wall s':>8} {kind + '/s':>10} {'CPU ms each':>12} {'peak MiB':>9} {'syncs each':>10}")
        for (program, label), rows in found.items():
            wall, cpu, memory = (statistics.median(column) for column in zip(*rows))
            synced = f"{each[program]:10.2f}" if label == "first" else ""
            print(f"{program[-60:]:60} {label:5} {wall:8.2f} {count / wall:10.1f} {1000 * cpu / count:12.3f} {memory:9.0f} {synced}")
        for label in labels if len(programs) == 2 else []:
            pairs = list(zip(*(found[program, label] for program in programs)))
            for name, column in (("wall", 0), ("CPU", 1)):
                ratios = sorted(b[column] / a[column] for a, b in pairs)
                print(f"{label}, {name}: the second program takes {statistics.median(ratios):.2f} times the first "
                      f"({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
