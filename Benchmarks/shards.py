"""A manifest in shards, done by several processes: `script/bench shards`.

    shards.py [--only processors|hosts] [--rounds N] [--pictures N] [--shards N] [--processes N] PROGRAM

processors: pictures of this machine, done by one process on one processor, and by two on two. How many times as fast are two?
What does it cost to have shards, beside a plain run on one processor?

hosts: a simulated web (see simulated_web.py) of 200 hosts, one of which has half of all pictures; sizes of the others follow Zipf's
law. Eight processes do the shards. Nobody is faster than the largest host allows: its pictures, 0.2 s for each, 6 at once. How
close do they come? And how long does img2dataset take with as many processes, and as many threads as there are connections? It has
no limit for a host, so that it asks the largest one 48 times at once.
"""
import argparse, math, os, pathlib, shutil, subprocess, sys, tempfile, time

import photographs, processes, simulated_web

TOOLS = pathlib.Path(sys.executable).parent
PER_HOST = 6


def split(program, folder, count, source):
    subprocess.run([program, "shard", "split", "--shards", str(count), source, folder / "shards"], check=True,
                   stdout=subprocess.DEVNULL, cwd=folder)


def together(commands, folder):
    """Runs commands at once, with their standard error in a file of the folder, and returns the seconds until all have ended; all
    must succeed."""
    environment = {**os.environ, "NO_ALBUMENTATIONS_UPDATE": "1"}  # img2dataset: no request for a newer version of a library
    log = folder / "errors.log"
    with open(log, "wb") as errors:
        began = time.monotonic()
        started = [subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=errors, env=environment)
                   for command in commands]
        codes = [process.wait() for process in started]
        seconds = time.monotonic() - began
    if any(codes):
        sys.exit(f"{started[0].args[0]} failed: {log.read_text(errors='replace')[-2000:]}")
    return seconds


def workers(program, folder, count, *options):
    """Commands of processes that do all shards."""
    plain = processes.darkroom(program, folder, *options)
    return [[program, "shard", "run", folder / "shards", *plain[2:]]] * count


def processors(options):
    """The ratio for two processors."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "pictures").mkdir()
        made = photographs.photographs()
        for number in range(options.pictures):
            (root / f"pictures/{number}.jpg").write_bytes(photographs.numbered(made[number % len(made)], number))
        source = root / "list.txt"
        source.write_text("".join(f"{number}.jpg\n" for number in range(options.pictures)))

        def on(processors, in_shards=True):
            folder = root / "work"
            folder.mkdir()
            given = ["--file-root", root / "pictures", "--filtrations", "1"]
            commands = [processes.darkroom(options.program, folder, source, *given)]
            if in_shards:
                split(options.program, folder, options.shards, source)
                commands = workers(options.program, folder, processors, *given)
            seconds = together((["taskset", "-c", str(number), *command] for number, command in enumerate(commands)), folder)
            shutil.rmtree(folder)
            return seconds

        for _ in range(options.rounds):
            one, two, plain = on(1), on(2), on(1, in_shards=False)
            print(f"one process {one:.2f} s, two {two:.2f} s: {one / two:.2f} times as fast; "
                  f"one run without shards {plain:.2f} s, two take {2 * two / plain:.2f} times a half of it", flush=True)


def hosts(options):
    """What the largest host allows is the least time."""
    count, most = 200, options.pictures // 2
    found = simulated_web.make_hosts(count, options.pictures - most)
    for host in found:
        host.kind = "answering"
    found[0].pictures += most
    urls = simulated_web.make_urls(found)
    least = found[0].pictures * simulated_web.DISTANCE / PER_HOST

    def shards(folder, source):
        split(options.program, folder, options.shards, source)
        return workers(options.program, folder, options.processes, "--filtrations", "1", "--per-host", str(PER_HOST))

    def img2dataset(folder, source):
        return [[TOOLS / "img2dataset", f"--url_list={source}", "--input_format=txt", f"--output_folder={folder}/out",
                 "--output_format=files", "--resize_mode=no", "--encode_quality=85",
                 f"--processes_count={options.processes}", f"--thread_count={PER_HOST}",
                 f"--number_sample_per_shard={math.ceil(len(urls) / options.shards)}"]]

    def plain(folder, source):
        return [processes.darkroom(options.program, folder, source, "--per-host", str(PER_HOST))]

    print(f"{len(urls)} pictures of {count} hosts; the largest has {found[0].pictures}, and takes {least:.1f} s at least")
    with tempfile.TemporaryDirectory() as name:
        simulated_web.prepare_network(pathlib.Path(name))
        for _ in range(options.rounds):
            contenders = [(f"{options.processes} processes, {options.shards} shards", shards), ("one run", plain),
                          (f"img2dataset, {options.processes} processes", img2dataset)]
            for label, contender in contenders:
                folder = pathlib.Path(name) / "work"
                folder.mkdir()
                source = folder / "list.txt"
                source.write_text("".join(url + "\n" for url in urls))
                with simulated_web.Web(found):
                    seconds = together(contender(folder, source), folder)
                pictures = len(processes.picture_times(folder))
                shutil.rmtree(folder)
                print(f"{label}: {seconds:.1f} s, {seconds / least:.2f} times the largest host's; {pictures} pictures", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=["processors", "hosts"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pictures", type=int)
    parser.add_argument("--shards", type=int)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("program", type=pathlib.Path)
    given = parser.parse_args()
    given.program = given.program.resolve()
    # In the namespaces this program begins again.
    if given.only != "hosts" and "BENCHMARK_NAMESPACES" not in os.environ:
        processors(argparse.Namespace(**{**vars(given), "pictures": given.pictures or 12_000, "shards": given.shards or 16}))
    if given.only != "processors":
        simulated_web.enter_namespaces()
        hosts(argparse.Namespace(**{**vars(given), "pictures": given.pictures or 2_000, "shards": given.shards or 64}))


if __name__ == "__main__":
    main()
