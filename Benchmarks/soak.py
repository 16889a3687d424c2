"""Lets `watch` work for a while with a job, a SIGHUP and a lock in every second, and looks whether anything grows.

  python3 Benchmarks/soak.py [--program PATH] [--seconds 600]

Every second: a job of two pictures is dropped, the names of jobs coming again after thirty; a lock file appears and goes; the
config file is rewritten and SIGHUP sent. Every second, too: threads, open files and memory of the program and its children,
and the bytes of the ledger. In the end every job must have ended, the outbox must be consistent (script/check-outbox), and no
figure may be higher in the last quarter than in the minute after the first, apart from what the table says.

Exit codes: 0 all is flat, 1 something grew or went wrong.
"""
import argparse
import glob
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMES = 30
# How much the median of the last quarter may be above that of the second minute: a share of it, and a number.
ALLOWED = {"threads": (0, 4), "files": (0, 4), "memory": (0.05, 3 << 20), "ledger": (0.05, 32 << 10)}


def processes(parent):
    """A process and all that it has started."""
    found = [parent]
    for process in found:
        for path in glob.glob(f"/proc/{process}/task/*/children"):
            try:
                with open(path, encoding="ascii") as file:
                    found += [int(word) for word in file.read().split()]
            except OSError:
                pass
    return found


def measure(parent, state):
    """Threads, open files and anonymous memory of the program and its children, bytes of the ledger."""
    figures = dict.fromkeys(ALLOWED, 0)
    for process in processes(parent):
        try:
            with open(f"/proc/{process}/status", encoding="utf-8") as file:
                lines = dict(line.split(":", 1) for line in file)
            figures["threads"] += int(lines["Threads"])
            figures["files"] += len(os.listdir(f"/proc/{process}/fd"))
            figures["memory"] += int(lines["RssAnon"].split()[0]) << 10
        except (OSError, KeyError):
            pass
    figures["ledger"] = sum(os.path.getsize(path) for path in glob.glob(state + "/ledger.sqlite*"))
    return figures


def drop(folder, name, text):
    with open(f"{folder}/.{name}", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(f"{folder}/.{name}", f"{folder}/{name}")


def soak(program, folder, seconds):
    """Returns what was measured in each second, the number of reports, and what the program said when it ended."""
    inbox, outbox, config = folder + "/inbox", folder + "/outbox", folder + "/config.json"
    os.mkdir(inbox)
    os.mkdir(outbox)
    drop(folder, "config.json", "{}")
    with open(folder + "/log", "wb") as log, open(folder + "/reports", "wb") as reports:
        variables = {key: value for key, value in os.environ.items() if not key.startswith("DARKROOM_")}
        watch = subprocess.Popen(
            [program, "watch", "--inbox", inbox, "--outbox", outbox, "--config", config, "--settle", "0",
             "--poll-interval", "0.2", "--verbose", "--file-root", ROOT + "/Samples", "--min-free", "0"],
            env=variables, stdin=subprocess.DEVNULL, stdout=reports, stderr=log)
        # Before it says so, SIGHUP ends it, as it does any program.
        while watch.poll() is None and b"watching" not in open(folder + "/log", "rb").read():
            time.sleep(0.05)
        samples, began = [], time.monotonic()
        while len(samples) < seconds and watch.poll() is None:
            number = len(samples)
            drop(inbox, f"job-{number % NAMES:02}.txt", "chelsea.jpg\nrocket.jpg\n")
            drop(folder, "config.json", json.dumps({"per-host": 2 + number % 2}))
            watch.send_signal(signal.SIGHUP)
            drop(inbox, "soak.lock", f"second {number}\n")
            time.sleep(0.3)
            os.unlink(inbox + "/soak.lock")
            time.sleep(max(0, began + number + 1 - time.monotonic()))
            samples.append(measure(watch.pid, outbox + "/.darkroom"))
        limit = time.monotonic() + 60
        while watch.poll() is None and time.monotonic() < limit and any(name.endswith(".txt") for name in os.listdir(inbox)):
            time.sleep(0.1)
        watch.send_signal(signal.SIGTERM)
        status = watch.wait(60)
    with open(folder + "/reports", "rb") as file:
        ended = len(file.read().splitlines())
    return samples, ended, status


def shown(key, value):
    return f"{value / (1 << 20):.2f} MiB" if key == "memory" else f"{value / 1024:.0f} KiB" if key == "ledger" else f"{value:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="default: that of script/build")
    parser.add_argument("--seconds", type=int, default=600, help="at least 150; default 600")
    parser.add_argument("--samples", metavar="FILE", help="write all figures there, as JSON lines")
    options = parser.parse_args()
    if options.seconds < 150:
        parser.error("--seconds must be at least 150: a minute to warm up, a minute to compare with, and a rest")
    program = options.program or subprocess.run(
        [ROOT + "/script/build"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    folder = tempfile.mkdtemp(prefix="darkroom-soak-")
    try:
        samples, ended, status = soak(os.path.abspath(program), folder, options.seconds)
        checked = subprocess.run(
            [sys.executable, ROOT + "/script/check-outbox", folder + "/outbox", "--inbox", folder + "/inbox", "--done"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with open(folder + "/log", encoding="utf-8", errors="replace") as file:
            log = file.read()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.samples:
        with open(options.samples, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(sample) + "\n" for sample in samples)
    grown = table(samples)
    print(f"\n{len(samples)} jobs dropped, {ended} reports, exit code {status}\ncheck-outbox: {checked.stdout.strip()}")
    wrong = grown + ([f"watch ended with {status}: {log[-500:]}"] if status != 0 else [])
    wrong += ["script/check-outbox found problems"] if checked.returncode != 0 else []
    # A manifest that was dropped while its name was still being worked on takes the earlier one's place.
    wrong += [f"{len(samples)} jobs, {ended} reports"] if ended < len(samples) * 0.9 else []
    wrong += ["it ended early"] if len(samples) < options.seconds else []
    for text in wrong:
        print(f"soak: {text}")
    return 1 if wrong else 0


def table(samples):
    """Prints medians of minutes. Returns what grew."""
    print(f"{'':12}" + "".join(f"{key:>14}" for key in ALLOWED))
    median = lambda part, key: statistics.median(sample[key] for sample in part)
    for first in range(0, len(samples), 60):
        part = samples[first:first + 60]
        print(f"{'minute ' + str(first // 60 + 1):12}" + "".join(f"{shown(key, median(part, key)):>14}" for key in ALLOWED))
    grown, early, late = [], samples[60:120], samples[-max(30, len(samples) // 4):]
    for key, (share, number) in ALLOWED.items():
        if not early:
            return ["it ended in the first minute"]
        before, after = median(early, key), median(late, key)
        if after > before * (1 + share) + number:
            grown.append(f"{key} grew from {shown(key, before)} to {shown(key, after)}")
    return grown


if __name__ == "__main__":
    sys.exit(main())
