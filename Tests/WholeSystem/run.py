"""Runs the parts of script/test-system: one that computes beside one that waits. The output of a part is printed when it
ends, and is kept in .build/test-system/NAME.log; what failed is printed once more at the end. Ends all processes that the
parts have left.
"""
import argparse
import concurrent.futures
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

from parts import PARTS

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOGS = ROOT / ".build/test-system"
SKIPPED = 77
TIMED_OUT = "timed out"
PR_SET_CHILD_SUBREAPER = 36
# How many last lines of a failed part are printed again.
LINES = 40


class Runner:
    def __init__(self, options, seed):
        self.options, self.seed = options, seed
        self.program = os.path.abspath(options.program)
        self.failed, self.skipped = [], []
        self.running, self.is_stopping = set(), False
        self.printing = threading.Lock()

    def run(self, parts):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            lanes = [pool.submit(self.run_lane, parts, waits) for waits in (True, False)]
            try:
                for lane in lanes:
                    lane.result()
            except BaseException:
                self.is_stopping = True
                for process in list(self.running):
                    process.send_signal(signal.SIGINT)  # so that it removes its folders
                concurrent.futures.wait(lanes, 10)
                end_descendants()
                raise

    def run_lane(self, parts, waits):
        for part in parts:
            if part.waits == waits and not self.is_stopping:
                self.run_part(part)

    def run_part(self, part):
        began = time.monotonic()
        limit = part.all_limit if self.options.all else part.limit
        log = LOGS / f"{part.name}.log"
        with open(log, "wb") as file:
            status = 0
            for command in (self.options.all and part.all_commands) or part.commands:
                code = self.call(self.words(command), file, began + limit - time.monotonic())
                status = status or code
                if code is TIMED_OUT:
                    file.write(f"did not end within {limit} s\n".encode())
                if code not in (0, 1):
                    break
        verdict = {0: "all is well", SKIPPED: "SKIPPED"}.get(status, "FAILED")
        text = log.read_text(encoding="utf-8", errors="replace")
        with self.printing:
            print(f"\n== {part.name}: {part.title}: {verdict}, {time.monotonic() - began:.0f} s\n{text}", end="", flush=True)
            if status == SKIPPED:
                self.skipped.append(part)
            elif status != 0:
                self.failed.append(part)

    def words(self, command):
        """A command's words. Python's scripts are run by this interpreter, which has what the tests need; what is not in the
        repository is a program of the system."""
        words = [{"PROGRAM": self.program, "SEED": str(self.seed)}.get(word, word) for word in command]
        if not (ROOT / words[0]).is_file():
            return words
        with open(ROOT / words[0], "rb") as file:
            is_shell = file.readline() == b"#!/usr/bin/env bash\n"
        return words if is_shell else [sys.executable, *words]

    def call(self, words, output, seconds):
        """Runs a command, and returns its exit code."""
        try:
            process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        except OSError as error:
            output.write(f"{error}\n".encode())
            return 1
        self.running.add(process)
        try:
            return process.wait(max(0, seconds))
        except subprocess.TimeoutExpired:
            started = descendants(process.pid)
            process.send_signal(signal.SIGINT)  # so that it removes its folders
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                started += descendants(process.pid) + [process.pid]
            end(started)
            process.wait()
            return TIMED_OUT
        finally:
            self.running.discard(process)


def parents():
    """The parent of each process that has not ended."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text(errors="replace").rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue  # It has ended.
        if state not in "ZX":
            found[int(path.parent.name)] = int(parent)
    return found


def descendants(ancestor):
    """All processes that a process has started, and those that they have started, as far as they are its own."""
    parent_of, found = parents(), [ancestor]
    for process in found:
        found += [child for child, parent in parent_of.items() if parent == process]
    return found[1:]


def end(processes):
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_descendants():
    """Ends what the parts have left. Processes whose parents have ended are children of this one."""
    while left := descendants(os.getpid()):
        end(left)
        time.sleep(0.01)


def main():
    names = [part.name for part in PARTS]
    parser = argparse.ArgumentParser(prog="script/test-system", usage="%(prog)s [--all] [--seed N] [PART…]")
    parser.add_argument("parts", nargs="*", metavar="PART", help="default: all but soak; " + ", ".join(names))
    parser.add_argument("--all", action="store_true", help="all calls and many more sequences: hours")
    parser.add_argument("--seed", type=int, help="of what is chosen at random; default: another each time")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(names):
        print(f"test-system: unknown part {min(unknown)}; known are {', '.join(names)}", file=sys.stderr)
        return 64
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"test-system: --seed {seed}", flush=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it for what runs in the background
    began, runner = time.monotonic(), Runner(options, seed)
    try:
        runner.run([part for part in PARTS
                    if part.name in options.parts or not options.parts and (options.all or not part.is_long)])
    finally:
        end_descendants()
    for part in runner.failed:
        lines = (LOGS / f"{part.name}.log").read_text(encoding="utf-8", errors="replace").splitlines()
        print(f"\n== {part.name} FAILED; the last lines of .build/test-system/{part.name}.log:", *lines[-LINES:], sep="\n")
    print()
    for part in runner.skipped:
        print(f"test-system: SKIPPED: {part.name}: {part.title}")
    for part in runner.failed:
        print(f"test-system: FAILED: {part.name}: {part.title}")
    print(f"test-system: {'FAILED' if runner.failed else 'all is well'}, {time.monotonic() - began:.0f} s, --seed {seed}")
    return 1 if runner.failed else 0


if __name__ == "__main__":
    sys.exit(main())
