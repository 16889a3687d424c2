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
TRIALS = [("fsync fdatasync", number, "once") for number in (1, 4, 8, 16, 24, 32)] + [
    ("fsync fdatasync unlink", 5, "once"), ("fsync fdatasync unlink", 20, "once"),
    # A second signal ends the program at once, whatever hangs.
    ("fsync fdatasync unlink", 20, "twice"),
    # As the first process of a container, for which the kernel ignores signals that the program does not handle.
    ("fsync fdatasync", 16, "first"),
]
ALONE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
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


def stop(watch, way):
    """Sends the signal to stop, and a second one when the first must have been heard."""
    pid = watch.pid
    if way == "first":
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as children:
            pid = int(children.read().split()[0])
    os.kill(pid, signal.SIGTERM)
    if way == "twice":
        time.sleep(1)
        os.kill(pid, signal.SIGTERM)


def run_trial(folder, program, library, calls, number, way):
    """Returns what is wrong, or None, and whether the program had to be ended."""
    fresh(folder)
    what, longest = f"hanging at call {number} of {calls}, signalled {way}", SLACK + (0 if way == "twice" else GRACE + CLOSING)
    expected = (-signal.SIGTERM,) if way == "once" else (128 + signal.SIGTERM, -signal.SIGALRM)
    words = (ALONE if way == "first" else []) + command(program, "watch", folder)
    with open(folder + ".log", "w+", encoding="utf-8") as log:
        watch = subprocess.Popen(
            words, env=variables(folder, library, calls, number), stderr=log, stdout=log)
        try:
            deadline = time.monotonic() + SLACK
            while not is_hanging(folder, number):
                if watch.poll() is not None or time.monotonic() > deadline:
                    return f"call {number} of {calls} was not reached", False
                time.sleep(0.01)
            began = time.monotonic()
            stop(watch, way)
            status = watch.wait(longest)
        except subprocess.TimeoutExpired:
            return f"{what}, it goes on {longest} s after a signal", False
        finally:
            watch.kill()
            watch.wait()
    seconds = time.monotonic() - began
    # Not all that hangs is waited for.
    if status not in (0, *expected) or status != 0 and way != "twice" and seconds < CLOSING:
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
        may_be_alone = subprocess.run([*ALONE, "true"], check=False, capture_output=True).returncode == 0
        trials = [trial for trial in TRIALS if may_be_alone or trial[2] != "first"]
        with concurrent.futures.ThreadPoolExecutor(len(trials)) as pool:
            results = list(pool.map(
                lambda index: run_trial(f"{folder}/{index}", program, library, *trials[index]), range(len(trials))))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = [text for text, _ in results if text]
    ended = sum(is_ended for _, is_ended in results)
    if ended == 0:
        found.append("no program had to be ended: the trials hang where nothing waits")
    print(*found, f"{len(trials)} disks that do not answer; {ended} programs had to be ended", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
