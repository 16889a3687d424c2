"""How soon what is dropped is asked for: `script/bench drop`.

    drop.py [--drops N] [--jobs N] PROGRAM [OTHER_PROGRAM]

`watch` with its defaults works on --jobs jobs (3) of entries at 60 hosts on loopback, whose answers come after 100 ms, and
of which none ends while this measures. Every 0.3 s a manifest of one entry at another host is written beside the inbox and
renamed into it. What is measured: from the rename to the request, by the clock of the machine,
then again without other jobs.

Asked: a median below 50 ms.
"""
import argparse, os, pathlib, statistics, subprocess, tempfile, time

import photographs, processes, servers

ADDRESSES = [f"127.0.1.{number}" for number in range(1, 61)]
DROPPED = "127.0.2.1"


def drop(folder, name, text):
    (folder / f".{name}").write_text(text)
    renamed = time.time()
    os.rename(folder / f".{name}", folder / "inbox" / name)
    return renamed


def measure(program, drops, jobs, picture):
    def respond(asked):
        number = int(asked.target[3:9])
        return servers.Answer(body=photographs.numbered(picture, number), delay=0 if asked.host.startswith(DROPPED) else .1)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = processes.darkroom(program, folder)
        command[1] = "watch"
        with servers.Servers(respond, [*ADDRESSES, DROPPED]) as server, open(folder / "log", "wb") as log:
            url = lambda address, number: f"http://{address}:{server.port}/p/{number:06}.jpg\n"
            watch = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            for job in range(jobs):
                drop(folder, f"large{job}.txt", "".join(
                    url(ADDRESSES[number % len(ADDRESSES)], 200_000 * (job + 1) + number) for number in range(50_000)))
            # Until the queues are full, and their limits have grown.
            time.sleep(3)
            before, times = server.asked.value, []
            for number in range(drops):
                times.append(drop(folder, f"small{number}.txt", url(DROPPED, number)))
                time.sleep(.3)
            others = server.asked.value - before - drops
            time.sleep(1)
            watch.terminate()
            watch.wait()
        asked = {int(each.target[3:9]): each.time for each in server.served if each.host.startswith(DROPPED)}
    waits = sorted(1000 * (asked[number] - renamed) for number, renamed in enumerate(times) if number in asked)
    if len(waits) < drops:
        return f"{drops - len(waits)} of {drops} were not asked for"
    return (f"{statistics.median(waits):.1f} | {waits[int(.9 * len(waits))]:.1f} | {waits[-1]:.1f} "
            f"| {others / (.3 * drops):.0f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--drops", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    print("| program | other jobs | median, ms | 90 % | longest | other requests per second |\n|" + " --- |" * 6)
    for program in options.programs:
        for jobs in (options.jobs, 0):
            figures = measure(program, options.drops, jobs, photographs.thumbnail())
            print(f"| {program[-50:]} | {jobs} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
