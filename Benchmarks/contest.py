"""Runs the contenders of a workload as whole processes, in turn, and shows the medians of all rounds: as a table, and as JSON for
chart.py, in .build/bench.
"""
import collections, json, pathlib, statistics, tempfile

import processes

RESULTS = pathlib.Path(__file__).resolve().parent.parent / ".build" / "bench"


def measured(command, folder, **variables):
    """Runs a command of a contender in its folder: seconds of wall time and CPU, peak MiB."""
    ended = processes.run(command, folder, **variables)
    assert ended.status == 0, (command[0], ended.status, ended.errors[-2000:])
    return ended.wall, ended.cpu, ended.peak


def compare(workload, contenders, count, rounds, extensions):
    """
    `contenders`: functions by label, which make `count` pictures with these extensions in a new folder, and return what `measured`
    does. The first is darkroom.
    """
    rows = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        for number in range(rounds):
            for label, contender in contenders.items():
                folder = pathlib.Path(name) / f"{number}-{label}"
                folder.mkdir()
                taken = contender(folder)
                made = [path for extension in extensions for path in folder.rglob("*." + extension)
                        if "previews" not in path.parts]
                assert len(made) == count, (label, len(made))
                rows[label].append((*taken, sum(path.stat().st_size for path in made)))
    columns = ("seconds", "cpu", "peak_mib", "bytes")
    medians = {label: dict(zip(columns, map(statistics.median, zip(*each)))) for label, each in rows.items()}
    result = {"workload": workload, "pictures": count, "rounds": rounds, "contenders": medians}
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{workload}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


def table(result):
    """A table of Markdown."""
    ours = next(iter(result["contenders"].values()))
    lines = ["| contender | pictures a second | CPU | peak memory | MB written | time, darkroom = 1 | CPU, darkroom = 1 |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for label, each in result["contenders"].items():
        lines.append(
            f"| {label} | {result['pictures'] / each['seconds']:.0f} | {each['cpu']:.2f} s | {each['peak_mib']:.0f} MiB "
            f"| {each['bytes'] / 1e6:.1f} | {each['seconds'] / ours['seconds']:.2f} | {each['cpu'] / ours['cpu']:.2f} |")
    return "\n".join(lines)
