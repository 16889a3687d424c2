"""hangs.py --program PROGRAM: `watch` on a disk that does not answer from some call on ends after a signal, by that signal if it
cannot stop, and the next start does the rest. Exit codes: 0 all is well, 1 something is wrong."""
import argparse
import concurrent.futures
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "Tests/Chaos"), os.path.join(ROOT, "Tests/Model")]
from memory import memory_folder  # noqa: E402
from trial import build_library, read_calls  # noqa: E402

GRACE, CLOSING = 1, 30
# What a busy machine may need in addition.
SLACK = 30
PICTURES = 40
# The calls from which on a disk hangs, by their names, and the first one's numbers: for removals all do, as of the last thing that a
# program does.
TRIALS = (("fsync fdatasync", (1, 4, 8, 16, 24, 32)), ("fsync fdatasync unlink", (5, 20)))
OPTIONS = ["--settle", "0", "--poll-interval", "0.05", "--min-free", "0", "--filters", "none",
           "--file-root", os.path.join(ROOT, "Samples"), "--grace", str(GRACE)]


def fresh(folder):
    for name in ("inbox", "outbox"):
        os.makedirs(f"{folder}/{name}")
    with open(folder + "/inbox/job.jsonl", "w", encoding="utf-8") as manifest:
        for index in range(PICTURES):
            manifest.write(json.dumps({"name": f"p{index}", "url": "coffee.jpg"}) + "\n")
    return folder


def variables(folder, library, calls, number):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("DARKROOM_", "CHAOS_"))}
    # A call that hangs is followed by others that do.
    return kept | {
        "LD_PRELOAD": library, "CHAOS_ROOT": folder, "CHAOS_MAP": folder + ".calls", "CHAOS_CALLS": f" {calls} ",
        "CHAOS_FAULT": "hang", "CHAOS_AT": str(number), "CHAOS_TIMES": "1000000"}


def command(program, action, folder):
    return [program, action, "--inbox", folder + "/inbox", "--outbox", folder + "/outbox", *OPTIONS]


def is_hanging(folder, number):
    try:
        return read_calls(folder + ".calls")[0] >= number
    except (OSError, ValueError):
        return False


def trial(folder, program, library, calls, number):
    """Returns what is wrong, or None, and whether the program was ended by the signal."""
    fresh(folder)
    what, longest = f"hanging at call {number} of {calls}", GRACE + CLOSING + SLACK
    with open(folder + ".log", "w+", encoding="utf-8") as log:
        watch = subprocess.Popen(
            command(program, "watch", folder), env=variables(folder, library, calls, number), stderr=log, stdout=log)
        try:
            deadline = time.monotonic() + SLACK
            while not is_hanging(folder, number):
                if watch.poll() is not None or time.monotonic() > deadline:
                    return f"call {number} of {calls} was not reached", False
                time.sleep(0.01)
            began = time.monotonic()
            watch.send_signal(signal.SIGTERM)
            status = watch.wait(longest)
        except subprocess.TimeoutExpired:
            return f"{what}, it goes on {longest} s after a signal", False
        finally:
            watch.kill()
            watch.wait()
    seconds = time.monotonic() - began
    # Not all that hangs is waited for.
    if status not in (0, -signal.SIGTERM) or status != 0 and seconds < CLOSING:
        return f"{what}, it ended with {status} after {seconds:.0f} s", False
    try:
        subprocess.run(command(program, "run", folder), check=False, capture_output=True, timeout=60)
        with open(folder + "/outbox/job/report.json", encoding="utf-8") as file:
            counts = json.load(file)["counts"]
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{what}: after the next start there is no report: {error}", False
    return None if counts["filtered"] == PICTURES else f"{what}: the report has {counts}", status != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    folder = tempfile.mkdtemp(prefix="darkroom-hangs-", dir=memory_folder())
    try:
        library = build_library(folder)
        trials = [(calls, number) for calls, numbers in TRIALS for number in numbers]
        with concurrent.futures.ThreadPoolExecutor(len(trials)) as pool:
            results = list(pool.map(
                lambda index: trial(f"{folder}/{index}", program, library, *trials[index]), range(len(trials))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = [text for text, _ in results if text]
    ended = sum(is_ended for _, is_ended in results)
    if ended == 0:
        found.append("no program had to be ended by the signal: the trials hang where nothing waits")
    print(*found, f"{len(trials)} disks that do not answer; {ended} programs were ended by the signal", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
