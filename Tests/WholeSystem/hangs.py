"""hangs.py --program PROGRAM: `watch` on a disk that does not answer from some call on ends by itself after a signal, with 143, and
the next start does the rest. Exit codes: 0 all is well, 1 something is wrong."""
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
# The calls of one job that hang: syncs, spread over the run.
TRIALS = 8
OPTIONS = ["--settle", "0", "--poll-interval", "0.05", "--min-free", "0", "--filters", "none",
           "--file-root", os.path.join(ROOT, "Samples"), "--grace", str(GRACE)]


def fresh(folder):
    for name in ("inbox", "outbox"):
        os.makedirs(f"{folder}/{name}")
    with open(folder + "/inbox/job.jsonl", "w", encoding="utf-8") as manifest:
        for index in range(PICTURES):
            manifest.write(json.dumps({"name": f"p{index}", "url": "coffee.jpg"}) + "\n")
    return folder


def variables(folder, library, **chaos):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("DARKROOM_", "CHAOS_"))}
    return kept | {"LD_PRELOAD": library, "CHAOS_ROOT": folder, "CHAOS_MAP": folder + ".calls",
                   "CHAOS_CALLS": " fsync fdatasync "} | chaos


def command(program, action, folder):
    return [program, action, "--inbox", folder + "/inbox", "--outbox", folder + "/outbox", *OPTIONS]


def is_hanging(folder, number):
    try:
        return read_calls(folder + ".calls")[0] >= number
    except (OSError, ValueError):
        return False


def trial(folder, program, library, number):
    """Returns what is wrong, or None."""
    fresh(folder)
    # A sync that hangs is followed by others that do.
    chaos = {"CHAOS_FAULT": "hang", "CHAOS_AT": str(number), "CHAOS_TIMES": "1000000"}
    with open(folder + ".log", "w+", encoding="utf-8") as log:
        watch = subprocess.Popen(
            command(program, "watch", folder), env=variables(folder, library, **chaos), stderr=log, stdout=log)
        try:
            deadline = time.monotonic() + SLACK
            while not is_hanging(folder, number):
                if watch.poll() is not None or time.monotonic() > deadline:
                    return f"sync {number} was not reached"
                time.sleep(0.01)
            began = time.monotonic()
            watch.send_signal(signal.SIGTERM)
            try:
                status = watch.wait(GRACE + CLOSING + SLACK)
            except subprocess.TimeoutExpired:
                return f"hanging at sync {number}, it goes on {GRACE + CLOSING + SLACK} s after a signal"
            # It may end sooner: not all that hangs is waited for.
            if status not in (0, 143):
                return f"hanging at sync {number}, it ended with {status} after {time.monotonic() - began:.0f} s"
        finally:
            watch.kill()
            watch.wait()
    subprocess.run(command(program, "run", folder), check=False, capture_output=True, timeout=60)
    try:
        with open(folder + "/outbox/job/report.json", encoding="utf-8") as file:
            counts = json.load(file)["counts"]
    except OSError as error:
        return f"after sync {number} there is no report: {error}"
    return None if counts["filtered"] == PICTURES else f"after sync {number} the report has {counts}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = os.path.abspath(parser.parse_args().program)
    folder = tempfile.mkdtemp(prefix="darkroom-hangs-", dir=memory_folder())
    try:
        library = build_library(folder)
        whole = fresh(folder + "/whole")
        subprocess.run(command(program, "run", whole), env=variables(whole, library), check=True, capture_output=True)
        calls = read_calls(whole + ".calls")[0]
        numbers = [1 + index * (calls - 1) // (TRIALS - 1) for index in range(TRIALS)]
        with concurrent.futures.ThreadPoolExecutor(TRIALS) as pool:
            found = list(pool.map(
                lambda number: trial(f"{folder}/{number}", program, library, number), numbers))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for text in filter(None, found):
        print(text)
    print(f"{TRIALS} disks that do not answer, from {calls} syncs")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
