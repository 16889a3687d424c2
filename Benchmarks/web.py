"""Downloads and makes sepia the pictures of a simulated web, beside what users would take instead: `script/bench web`.

    web.py [--limit SECONDS] [--only WORD] [--hosts N] [--pictures N] PROGRAM [OTHER_PROGRAM]

simulated_web.py says what is simulated. All contenders have their default options, but for the number of places that the
table names, and the addresses that darkroom is allowed: requests with 16 threads, a session each, and Pillow; img2dataset,
which decodes and encodes without a filter, with as many processes as processors and 32 and 64 threads in all; aria2c, which
only downloads. A contender is stopped after `limit` seconds; aria2c waits a minute for a silent host, five times.

A picture's time is that of its file. For the ceiling darkroom runs once more over a web without delays, whose hosts all answer.
"""
import argparse, collections, math, os, pathlib, shutil, sys, tempfile

import processes, simulated_web

TOOLS = pathlib.Path(sys.executable).parent


def contenders(programs, urls):
    """Functions of a folder and the list, which return a command."""
    def darkroom(program):
        return lambda folder, source: processes.darkroom(program, folder, source)

    def img2dataset(threads):
        cores = os.cpu_count()
        return lambda folder, source: [
            TOOLS / "img2dataset", f"--url_list={source}", "--input_format=txt", f"--output_folder={folder}/out",
            "--output_format=files", "--resize_mode=no", "--encode_quality=85", f"--processes_count={cores}",
            f"--thread_count={threads // cores}", f"--number_sample_per_shard={math.ceil(len(urls) / cores)}"]

    def requests(folder, source):
        return [sys.executable, pathlib.Path(__file__).with_name("web_requests.py"), source, folder]

    def aria2(folder, source):
        return ["aria2c", "-q", "-j16", "-x1", "-i", source, "-d", folder]

    labels = ["darkroom", "darkroom, the other"]
    return {label: darkroom(program) for label, program in zip(labels, programs)} | {
        "requests and Pillow, 16 threads": requests, "img2dataset, 32 threads": img2dataset(32),
        "img2dataset, 64 threads": img2dataset(64), "aria2c, 16 places": aria2}


def measure(work, label, contender, hosts, urls, limit, delays=True):
    folder = work / label
    folder.mkdir()
    source = folder / "list.txt"
    source.write_text("".join(url + "\n" for url in urls))
    with simulated_web.Web(hosts, delays) as servers:
        ended = processes.run(contender(folder, source), folder, limit)
    times = [time - ended.began for time in processes.picture_times(folder)]
    if not times:
        sys.exit(f"{label} made no picture, and ended with {ended.status}: {ended.errors[-2000:]}")
    shutil.rmtree(folder)
    return ended, times, servers


def questions(servers, kind, hosts):
    return sum(count for (_, each), count in servers.counted[0].items() if each == kind) / len(hosts)


def row(label, ended, times, servers, hosts):
    last, almost = times[-1], times[math.ceil(len(times) * .99) - 1]
    print(f"| {label} | {ended.wall:.1f}{' (stopped)' if ended.status is None else ''} | {len(times)} "
          f"| {len(times) / last:.0f} | {len(times) / ended.wall:.0f} | {last:.1f} | {100 * (last - almost) / ended.wall:.0f} % "
          f"| {ended.wall - last:.1f} | {'' if ended.status is None else f'{ended.cpu:.1f}'} "
          f"| {questions(servers, 1, hosts):.2f} + {questions(servers, 28, hosts):.2f} | {servers.connections} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=150)
    parser.add_argument("--only", default="", help="contenders whose label has this word")
    parser.add_argument("--hosts", type=int, default=500)
    parser.add_argument("--pictures", type=int, default=5000)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    simulated_web.enter_namespaces()
    hosts = simulated_web.make_hosts(options.hosts, options.pictures)
    urls = simulated_web.make_urls(hosts)
    kinds = collections.Counter()
    for host in hosts:
        kinds[host.kind] += host.pictures
    print(f"{len(urls)} pictures of {len(hosts)} hosts, of the largest {hosts[0].pictures}; of hosts that do not exist "
          f"{kinds['missing']}, of silent ones {kinds['unanswering'] + kinds['unreachable']}.\n")
    print("| contender | wall, s | pictures | a second, until the last | a second, of the wall time | last picture, s "
          "| last hundredth, of the wall time | end after the last, s | CPU, s | A and AAAA questions for each host "
          "| connections |\n|" + " --- |" * 11)
    speed = {}
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        simulated_web.prepare_network(work)
        answering = [host for host in hosts if host.kind == "answering"]
        for label, contender in contenders(options.programs, urls).items():
            if options.only not in label:
                continue
            ended, times, servers = measure(work, label, contender, hosts, urls, options.limit)
            row(label, ended, times, servers, hosts)
            speed[label] = len(times) / times[-1]
        ceilings(work, options, answering, speed)


def ceilings(work, options, answering, speed):
    """What could be reached: by the program over loopback, and by 6 connections with the largest host."""
    largest = answering[0].pictures * simulated_web.DISTANCE / 6
    urls = simulated_web.make_urls(answering)
    for label, contender in contenders(options.programs, urls).items():
        if label not in speed or "darkroom" not in label:
            continue
        ended, times, servers = measure(work, label, contender, answering, urls, options.limit, delays=False)
        allowed = min(len(times) / times[-1], len(times) / largest)
        print(f"\n{label}: without delays {len(times) / times[-1]:.0f} pictures a second, {ended.cpu / len(times) * 1000:.2f} ms "
              f"of CPU each (the servers: {servers.cpu / len(times) * 1000:.2f} ms); the largest host allows "
              f"{len(times) / largest:.0f}. {100 * speed[label] / allowed:.0f} % of the lesser is reached.")
    for label in ("img2dataset, 64 threads", "darkroom, the other"):
        if label in speed and "darkroom" in speed:
            print(f"darkroom makes {speed['darkroom'] / speed[label]:.2f} times the pictures of {label}.")


if __name__ == "__main__":
    main()
