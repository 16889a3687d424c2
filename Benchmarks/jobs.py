"""Measures what jobs and entries cost beside the pictures themselves: `script/bench jobs` and `entries`.

`jobs`: manifests of one small file: picture each. `entries`: one manifest of small file: pictures that are copied. Whole
processes, in turn with another program when one is given; medians of wall and CPU seconds, rates, peak memory, and, from one
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
    for name, text in manifests.items():
        path = root / "inbox" / name
        path.write_text(text)
        os.utime(path, (1.7e9, 1.7e9))


def command(program, root, kind):
    return [program, "run", "--quiet", "--inbox", f"{root}/inbox", "--outbox", f"{root}/outbox", "--file-root",
            f"{root}/sources"] + OPTIONS[kind]


def measure(program, root, kind, count):
    prepare(root, kind, count)
    os.sync()
    _, wall, cpu, peak, status = processes.measured(command(program, root, kind))
    if status:
        sys.exit(f"{program} ended with {status}")
    return wall, cpu, peak


def syncs(program, root, kind, count):
    prepare(root, kind, count)
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
                found[program].append(measure(program, root, kind, count))
        print(f"{'program':60} {'wall s':>8} {kind + '/s':>10} {'CPU ms each':>12} {'peak MiB':>9} {'syncs each':>10}")
        for program in programs:
            wall, cpu, memory = (statistics.median(column) for column in zip(*found[program]))
            each = syncs(program, root, kind, min(count, 300)) / min(count, 300)
            print(f"{program[-60:]:60} {wall:8.2f} {count / wall:10.1f} {1000 * cpu / count:12.2f} {memory:9.0f} {each:10.2f}")
        if len(programs) == 2:
            pairs = list(zip(found[programs[0]], found[programs[1]]))
            for name, column in (("wall", 0), ("CPU", 1)):
                ratios = sorted(b[column] / a[column] for a, b in pairs)
                print(f"{name}: the second takes {statistics.median(ratios):.2f} times the first "
                      f"({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
