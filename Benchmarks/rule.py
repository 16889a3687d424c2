"""A host that allows 45 requests a minute: `script/bench rule`.

    rule.py [--entries N] [--without-rule] PROGRAM [OTHER_PROGRAM]

The configuration file has a rule for the host, an interval of 1.34 s. The host answers 429 to a request when it had 45 within
the last 60 s, also those that it answered so. One host on loopback, without delays.

Asked: never a 429, and at least 90 % of what is allowed. 500 entries take eleven minutes, the default of 60 eighty seconds.
"""
import argparse, collections, json, pathlib, tempfile

import photographs, processes, servers

ALLOWED, WINDOW, INTERVAL = 45, 60.0, 1.34


def respond_with(picture):
    recent = collections.deque()

    def respond(asked):
        while recent and recent[0] <= asked.time - WINDOW:
            recent.popleft()
        recent.append(asked.time)
        if len(recent) > ALLOWED:
            return servers.Answer(429)
        return servers.Answer(body=photographs.numbered(picture, int(asked.target[3:9])))
    return respond


def measure(program, options, picture):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        rules = {} if options.without_rule else {"hosts": {"127.0.0.1": {"interval": INTERVAL}}}
        (folder / "config.json").write_text(json.dumps(rules))
        with servers.Servers(respond_with(picture)) as server:
            (folder / "rule.txt").write_text("".join(
                f"http://127.0.0.1:{server.port}/p/{number:06}.jpg\n" for number in range(options.entries)))
            command = processes.darkroom(program, folder, "rule.txt", "--config", "config.json")
            ended = processes.run(command, folder, limit=1800)
        states = processes.outcomes(folder, "rule")
        refused = sum(each.status == 429 for each in server.served)
        times = [each.time for each in server.served if each.status == 200]
        rate = (len(times) - 1) / (times[-1] - times[0]) * WINDOW / ALLOWED if len(times) > 1 else 0
        print(f"| {program[-50:]} | {ended.wall:.1f} | {ended.status} | {processes.words(states)} | {refused} "
              f"| {100 * rate:.0f} % |", flush=True)
        if not states:
            print(f"\n{ended.errors[:2000]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=60)
    parser.add_argument("--without-rule", action="store_true")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    print("| program | wall, s | exit code | rows | answers 429 | of the allowed rate |\n|" + " --- |" * 6)
    for program in options.programs:
        measure(program, options, photographs.thumbnail())


if __name__ == "__main__":
    main()
