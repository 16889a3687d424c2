"""A job in pieces: `script/bench restart`.

    restart.py [--entries N] [--seconds S] PROGRAM [OTHER_PROGRAM]

Starts `run --max-duration S` again and again, as a crontab would, until it does not end with 75. 40 hosts on loopback, whose
answers come after 100 ms, so that each start ends while downloads are running. The servers count what each URL was asked.

Asked: nothing twice, each start ends about when it should, no picture missing.
"""
import argparse, os, pathlib, tempfile

import photographs, processes, servers

ADDRESSES = [f"127.0.1.{number}" for number in range(1, 41)]


def measure(program, options, picture):
    def respond(asked):
        return servers.Answer(body=photographs.numbered(picture, int(asked.target[3:9])), delay=.1)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = processes.darkroom(program, folder, "--max-duration", f"{options.seconds:g}")
        starts = []
        with servers.Servers(respond, ADDRESSES) as server:
            manifest = folder / "inbox" / "restart.txt"
            manifest.write_text("".join(
                f"http://{ADDRESSES[number % len(ADDRESSES)]}:{server.port}/p/{number:06}.jpg\n"
                for number in range(options.entries)))
            os.utime(manifest, (1.7e9, 1.7e9))
            while len(starts) < 100 and (not starts or starts[-1].status == 75):
                starts.append(processes.run(command, folder))
        states, pictures = processes.outcomes(folder, "restart"), len(processes.picture_times(folder))
        twice = sum(count > 1 for count in server.targets.values())
        pieces = [each.wall for each in starts[:-1]]
        print(f"| {program[-50:]} | {len(starts)} | {max(pieces, default=0):.2f} | {starts[-1].status} "
              f"| {processes.words(states)} | {pictures} | {server.asked.value} | {twice} |", flush=True)
        if not states:
            print(f"\n{starts[-1].errors[:2000]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    print("| program | starts | longest but the last, s | last exit code | rows | pictures | requests | URLs asked twice |\n|"
          + " --- |" * 8)
    for program in options.programs:
        measure(program, options, photographs.thumbnail())


if __name__ == "__main__":
    main()
