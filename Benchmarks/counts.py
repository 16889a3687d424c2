"""Counts what fixed small jobs cost: `script/bench counts`.

    counts.py [--record] PROGRAM [WORKLOAD…]

For each workload: instructions in user space (valgrind's callgrind), calls of functions that allocate memory, and system calls
(strace). Counts hardly depend on the machine and on what else runs on it, as times do. The smallest of some runs is compared with
counts.json, which has the median of as many: 5 % more is a failure, and the functions that take more instructions than recorded are
printed. (One program's runs differ by 3 % in instructions and by 9 % in system calls, as batches depend on time.)

--record writes what was counted to counts.json. Do so only in a commit that says why more or less is right.

Pictures are decoded in the process itself (--isolation none), because valgrind cannot run a confined worker. System calls that wait
(futex, poll and others) are not counted: their number depends on time.
"""
import argparse, collections, json, pathlib, statistics, subprocess, sys, tempfile

import photographs, processes, servers

RECORDED = pathlib.Path(__file__).resolve().with_name("counts.json")
TOLERANCE = 1.05
# How often a workload is counted: no more often than it takes to be within the tolerance. Beside other work the system calls of one in
# a few runs are beyond it.
ROUNDS = 8
# How many functions of a workload are recorded, those with the most instructions, and how many are printed.
FUNCTIONS, SHOWN = 80, 10
ALLOCATING = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
WAITING = ("futex", "poll", "ppoll", "epoll_wait", "epoll_pwait", "select", "nanosleep", "clock_nanosleep", "sched_yield",
           "restart_syscall")
PHOTOGRAPHS = ("chelsea.jpg", "coffee.jpg", "rocket.jpg")


class Workload:
    """A job in a folder of its own. `run` runs its command with a measuring program before it."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, *measuring):
        self.measure(measuring, "--version")

    def measure(self, measuring, *words):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "TZ": "UTC"}
        ended = subprocess.run([*map(str, measuring), str(self.program), *map(str, words)], env=environment, cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            sys.exit(f"counts: exit code {ended.returncode} of {self.program}:\n{ended.stderr[-2000:]}")

    def run_job(self, measuring, *options):
        self.measure(measuring, *processes.darkroom(self.program, self.folder, *options)[1:], "--isolation", "none")

    def write(self, files):
        """Writes source files, and a manifest of them in their order."""
        sources = self.folder / "sources"
        sources.mkdir(exist_ok=True)
        for name, content in files.items():
            (sources / name).write_bytes(content)
        (self.folder / "job.txt").write_text("".join(f"{name}\n" for name in files))
        return "job.txt", "--file-root", sources


class Tiny(Workload):
    """200 files of 1 KB that are copied."""
    options = ("--filters", "none")

    def run(self, *measuring):
        picture = photographs.thumbnail()
        self.operands = self.write({f"{number:03}.jpg": photographs.numbered(picture, number) for number in range(200)})
        self.run_job(measuring, *self.operands, *self.options)


class Again(Tiny):
    """The same manifest a second time."""

    def run(self, *measuring):
        super().run()
        self.run_job(measuring, *self.operands, *self.options)


class Download(Workload):
    """100 pictures of 1 KB from a server, copied."""

    def run(self, *measuring):
        picture = photographs.thumbnail()
        with servers.Servers(lambda asked: servers.Answer(body=photographs.numbered(picture, int(asked.target[1:])))) as server:
            urls = "".join(f"http://127.0.0.1:{server.port}/{number}\n" for number in range(100))
            (self.folder / "job.txt").write_text(urls)
            self.run_job(measuring, "job.txt", "--filters", "none")


class Photographs(Workload):
    """Three photographs through a recipe."""
    recipe = "sepia(0.8)"

    def run(self, *measuring):
        operands = self.write({name: (photographs.SAMPLES / name).read_bytes() for name in PHOTOGRAPHS})
        self.run_job(measuring, *operands, "--filters", self.recipe)


class Resize(Photographs):
    """Three photographs made smaller."""
    recipe = "resize(fit 256 256)"


class PNG(Workload):
    """A PNG that is decoded, filtered and encoded again."""

    def run(self, *measuring):
        small = "chelsea-small.png"
        operands = self.write({small: (photographs.SAMPLES / small).read_bytes()})
        self.run_job(measuring, *operands, "--filters", "sepia(0.8)")


WORKLOADS = {"start": Workload, "tiny": Tiny, "again": Again, "download": Download, "sepia": Photographs, "resize": Resize,
             "png": PNG}


class Callgrind:
    """The output of callgrind: instructions of each function, without those that it calls, and the number of allocations."""

    def __init__(self, path):
        self.instructions, self.allocations, self.names = collections.Counter(), 0, {}
        function, callee, is_call, library = "", "", False, ""
        for line in path.read_text(errors="replace").splitlines():
            key, _, value = line.partition("=")
            if key in ("ob", "cob"):
                name = self.name("ob", value)
                library = pathlib.Path(name).name if key == "ob" else library
            elif key == "fn":
                name = self.name("fn", value)
                function = library if name.startswith("0x") else name
            elif key == "cfn":
                callee = self.name("fn", value)
            elif key == "calls":
                self.allocations += int(value.split()[0]) if callee in ALLOCATING else 0
                is_call = True
            elif line[:1] in tuple("+-*0123456789"):
                # The line after that of a call has what the callee took.
                if not is_call:
                    self.instructions[function] += int(line.split()[1])
                is_call = False

    def name(self, kind, value):
        """`(7) name` gives a name a number, `(7)` is a name that has one."""
        number, _, name = value.partition(" ")
        return self.names.setdefault((kind, number), name)


def count(kind, program):
    """One run of a workload in valgrind and one in strace: its figures, and its instructions by function."""
    def run(*measuring):
        with tempfile.TemporaryDirectory() as folder:
            kind(program, pathlib.Path(folder)).run(*measuring)

    with tempfile.TemporaryDirectory() as name:
        (calls, profile) = (pathlib.Path(name) / "calls", pathlib.Path(name) / "profile")
        run("strace", "-f", "-qq", "-e", "signal=none", "-e", "trace=!" + ",".join(WAITING), "-o", calls)
        run("valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}")
        counted = Callgrind(profile)
        lines = sum("resumed>" not in line for line in calls.read_text(errors="replace").splitlines())
    return {"instructions": sum(counted.instructions.values()), "allocations": counted.allocations,
            "system calls": lines}, counted.instructions


def figures_of(runs, choose):
    return {name: int(choose(figures[name] for figures, _ in runs)) for name in runs[0][0]}


def measured(kind, program, limits):
    """The smallest figures of some runs, no more than it takes to be within the limits; without limits, their medians.
    And the functions of the run with the fewest instructions."""
    runs, choose = [], min if limits else statistics.median
    while len(runs) < ROUNDS:
        runs.append(count(kind, program))
        figures = figures_of(runs, choose)
        if limits and all(figures[name] <= limit for name, limit in limits.items()):
            break
    functions = min(runs, key=lambda run: run[0]["instructions"])[1]
    return figures, dict(functions.most_common(FUNCTIONS))


def demangled(names):
    ended = subprocess.run(["swift", "demangle", "--simplified", "--compact"], input="\n".join(names), text=True, check=True,
                           stdout=subprocess.PIPE)
    return ended.stdout.splitlines()


def explain(functions, recorded):
    """Prints the functions that take more instructions than recorded."""
    least = min(recorded.values(), default=0)
    growth = {name: value - recorded.get(name, min(value, least)) for name, value in functions.items()}
    grown = sorted((name for name in growth if growth[name] > 0), key=growth.get, reverse=True)[:SHOWN]
    for name, shown in zip(grown, demangled(grown)):
        print(f"    {growth[name]:+,} instructions in {shown}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", action="store_true")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="default: all; " + ", ".join(WORKLOADS))
    options = parser.parse_args()
    if unknown := set(options.workloads) - set(WORKLOADS):
        parser.error(f"unknown workload {min(unknown)}; known are {', '.join(WORKLOADS)}")
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    failed = []
    print("| workload | what | recorded | now | ratio |\n|" + " --- |" * 5, flush=True)
    with tempfile.TemporaryDirectory() as name:
        # Valgrind cannot read the debug information that lld writes; symbols stay.
        program = pathlib.Path(name) / "darkroom"
        subprocess.run(["objcopy", "--strip-debug", options.program.resolve(), program], check=True)
        for name in options.workloads or WORKLOADS:
            before = recorded.get(name, {"figures": {}, "functions": {}})
            limits = {} if options.record else {what: TOLERANCE * value for what, value in before["figures"].items()}
            figures, functions = measured(WORKLOADS[name], program, limits)
            for what, value in figures.items():
                was = before["figures"].get(what)
                print(f"| {name} | {what} | {was or '':,} | {value:,} | {value / was:.3f} |" if was
                      else f"| {name} | {what} | | {value:,} | |", flush=True)
            if options.record:
                recorded[name] = {"figures": figures, "functions": functions}
            elif not limits or any(figures[what] > limit for what, limit in limits.items()):
                failed.append(name)
                explain(functions, before["functions"])
    if options.record:
        RECORDED.write_text(json.dumps(recorded, indent=1) + "\n")
    for name in failed:
        print(f"counts: {name} costs more than {TOLERANCE} times what {RECORDED.name} has for it", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
