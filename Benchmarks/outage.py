"""A network outage in the middle of a job: `script/bench outage`.

    outage.py [--entries N] [--seconds S] [--silent] PROGRAM [OTHER_PROGRAM]

When half of the entries were requested, all 50 hosts fail at once: connections are reset and new ones refused, or, with
`--silent`, nothing is answered. Then all work again. Hosts are addresses on loopback, answers come after 20 ms, pictures have
1 KB. Not simulated: names that fail to resolve, hosts that recover one by one. Work goes on when a picture is written after
the end; silent servers answer then what they were asked before.

Asked: no row failed, and work goes on at most 30 s after the end of the outage.
"""
import argparse, contextlib, os, pathlib, signal, tempfile, threading, time

import photographs, processes, servers

ADDRESSES = [f"127.0.1.{number}" for number in range(1, 51)]


@contextlib.contextmanager
def failing(server, silent):
    """No server answers while the context lasts."""
    if silent:
        os.kill(server.process.pid, signal.SIGSTOP)
    else:
        server.close()
    yield
    if silent:
        os.kill(server.process.pid, signal.SIGCONT)
    else:
        server.open()


def measure(program, options, picture):
    def respond(asked):
        if not asked.target.startswith("/p/"):
            return servers.Answer(status=404)  # a probe of the network
        return servers.Answer(body=photographs.numbered(picture, int(asked.target[3:9])), delay=.02)

    def interrupt():
        while server.asked.value < options.entries / 2:
            if ended.wait(.01):
                return
        with failing(server, options.silent):
            ended.wait(options.seconds)
        times.append(time.time())

    ended, times = threading.Event(), []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with servers.Servers(respond, ADDRESSES) as server:
            (folder / "outage.txt").write_text("".join(
                f"http://{ADDRESSES[number % len(ADDRESSES)]}:{server.port}/p/{number:06}.jpg\n"
                for number in range(options.entries)))
            outage = threading.Thread(target=interrupt)
            outage.start()
            result = processes.run(processes.darkroom(program, folder, "outage.txt"), folder)
            ended.set()
            outage.join()
        states = processes.outcomes(folder, "outage")
        later = [each - times[0] for each in processes.picture_times(folder) if times and each > times[0]]
        goes_on = f"{later[0]:.1f}" if later else "never"
        print(f"| {program[-50:]} | {result.wall:.1f} | {result.cpu:.1f} | {result.status} | {processes.words(states)} "
              f"| {goes_on} | {server.asked.value} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--silent", action="store_true")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    print("| program | wall, s | CPU, s | exit code | rows | goes on after, s | requests |\n|" + " --- |" * 7)
    for program in options.programs:
        measure(program, options, photographs.thumbnail())


if __name__ == "__main__":
    main()
