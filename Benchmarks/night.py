"""A list that is processed each night: `script/bench night`.

    night.py [--entries N] PROGRAM [OTHER_PROGRAM]

The second night all links are signed anew (`?sig=2`), and entries have a `cache-key` instead; the server has nothing new and answers
304; the same 3 % of the entries are dead, as they were in the first night. One server on loopback, without delays; pictures of
1 KB, recipe `none`: what is measured is the cost of a row. Not simulated: distance, changed pictures.

Asked of the second night: no body, exit code 0 with `--accept-failures known`, nothing on standard error, at most 0.4 ms of CPU
for each row.
"""
import argparse, collections, json, pathlib, sys, tempfile

import photographs, processes, servers


def is_dead(number):
    return number % 100 in (3, 27, 64)


def respond_with(picture):
    def respond(asked):
        number = int(asked.target[3:].partition(".")[0])
        if is_dead(number):
            return servers.Answer(404)
        tag = f'"{number}"'
        if asked.headers.get("if-none-match") == tag:
            return servers.Answer(304, headers=f"ETag: {tag}\r\n")
        return servers.Answer(body=photographs.numbered(picture, number), headers=f"ETag: {tag}\r\n")
    return respond


def write_manifest(path, entries, port, night):
    path.write_text("".join(json.dumps({
        "url": f"http://127.0.0.1:{port}/p/{number}.jpg?sig={night}", "cache-key": str(number),
        "name": f"{number % 1000:03}/{number}"}) + "\n" for number in range(entries)))


def measure(program, entries, picture):
    port = servers.free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for night in (1, 2):
            write_manifest(folder / "night.jsonl", entries, port, night)
            command = processes.darkroom(program, folder, "night.jsonl", "--filters", "none", "--accept-failures", "known")
            with servers.Servers(respond_with(picture), port=port) as server:
                ended = processes.run(command, folder)
            statuses = collections.Counter(each.status for each in server.served)
            states = processes.outcomes(folder, "night")
            if not states:
                sys.exit(f"{program} ended with {ended.status}, without a report: {ended.errors[:2000]}")
            print(f"| {program[-50:]} | {night} | {ended.wall:.1f} | {1000 * ended.cpu / entries:.3f} | {ended.peak:.0f} "
                  f"| {ended.status} | {len(ended.errors)} | {processes.words(statuses)} | {processes.words(states)} |",
                  flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_intermixed_args()
    print("| program | night | wall, s | CPU of a row, ms | peak memory, MiB | exit code | bytes on standard error "
          "| answers by status: 200 has a body | rows |\n|" + " --- |" * 9)
    for program in options.programs:
        measure(program, options.entries, photographs.thumbnail())


if __name__ == "__main__":
    main()
