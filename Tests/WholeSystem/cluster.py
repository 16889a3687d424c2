"""Shards of a manifest, on a cluster of Slurm and with GNU parallel: a node dies, a task is queued again, an entry always fails.
The results must be those of one machine, without a download that had been done, and without more requests at once than a host
allows.

  cluster.py --program FILE [--size small|full] [--keep] [slurm|parallel…]

Exit codes: 0 all is well, 1 something is wrong, 77 this machine cannot do it.
"""
import argparse
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from cluster_server import FAILS, address
from debian import Unavailable
from service import expect, wait_for
from slurm import ENVIRONMENT, Slurm

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "Packaging/slurm"
SKIPPED = 77
HOSTS, PER_HOST, JOB = 200, 8, "pictures"
# Entries, shards, and how long the server takes for an answer: the half of all entries that one host has takes half a minute.
SIZES = {"small": (2000, 16, 0.1), "full": (20000, 64, 0.02)}
# Workers that run at once; each has two processors of a node.
TASKS = 8
# A worker that has died gives up its shard after so many seconds.
CLAIM_TIMEOUT = 5
OPTIONS = ["--allow-net", "127.0.0.0/8", "--per-host", str(PER_HOST), "--quiet"]


def say(text):
    print(text, flush=True)


class Server:
    def __init__(self, folder, delay):
        self.record = folder / "requests"
        self.record.touch()
        self.process = subprocess.Popen([sys.executable, "-B", ROOT / "Tests/WholeSystem/cluster_server.py", str(HOSTS), str(delay),
                                         self.record], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def position(self):
        return self.record.stat().st_size

    def requests(self, since=0):
        """The requests that began after a position: address, how many at once, status, URL."""
        with open(self.record, "rb") as file:
            file.seek(since)
            for line in file.read().decode().splitlines():
                host, at_once, status, path = line.split(" ", 3)
                yield host, int(at_once), int(status), f"http://{host}:{self.port}{path}"


def entries_of_hosts(count):
    """How many entries each host has: the first one half, the others by Zipf's law."""
    weights = [1 / rank for rank in range(1, HOSTS)]
    rest = count - count // 2
    counts = [max(1, int(rest * weight / sum(weights))) for weight in weights]
    counts[0] += rest - sum(counts)
    return [count // 2, *counts]


def urls(count, port):
    """The URLs of a manifest, in an order that mixes the hosts."""
    found = [f"http://{address(host)}:{port}/{host}-{index}.jpg"
             for host, number in enumerate(entries_of_hosts(count)) for index in range(number)]
    random.Random(1).shuffle(found)
    # One of the entries always fails.
    chosen = next(index for index, url in enumerate(found) if f"//{address(3)}:" in url)
    found[chosen] = f"http://{address(3)}:{port}{FAILS}"
    return found


class Shards:
    """A manifest that is divided, with an inbox and an outbox of its own."""

    def __init__(self, folder, program, size, server):
        self.folder, self.program, self.server = folder, program, server
        self.count, self.number, _ = SIZES[size]
        folder.mkdir()
        self.shards, self.inbox, self.outbox = folder / "shards", folder / "inbox", folder / "outbox"
        self.inbox.mkdir()
        self.outbox.mkdir()
        self.urls = urls(self.count, server.port)
        self.manifest = folder / f"{JOB}.txt"
        self.manifest.write_text("".join(f"{url}\n" for url in self.urls))
        self.began, self.moments = server.position(), []

    def darkroom(self, *words, expected=(0,)):
        done = subprocess.run([self.program, *map(str, words)], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        expect(done.returncode in expected,
               f"darkroom {' '.join(map(str, words[:2]))} ended with {done.returncode}: {done.stdout[-1000:]}{done.stderr[-3000:]}")
        return done.stdout

    def run_on_one_machine(self):
        """The results of a plain run: the digest of each, by its name."""
        plain = self.folder / "plain"
        began = time.monotonic()
        self.darkroom("run", self.manifest, "--inbox", plain / "inbox", "--outbox", plain / "outbox", "--create", *OPTIONS,
                      expected=(1,))
        say(f"  one machine: {self.count} entries in {time.monotonic() - began:.0f} s")
        found = pictures(plain / "outbox")
        expect(len(found) == self.count - 1, f"a plain run made {len(found)} results of {self.count} entries")
        self.began = self.server.position()
        return found

    def ended(self):
        """The URLs of all entries that have a row."""
        found = []
        for file in self.shards.glob(f"*/{JOB}/entries.jsonl"):
            for line in file.read_bytes().split(b"\n")[:-1]:
                found.append(json.loads(line)["url"])
        return found

    def reach(self, share, check=lambda: None):
        """Waits until a share of the entries has ended."""
        def is_reached():
            check()
            return len(self.ended()) >= self.count * share
        wait_for(is_reached, lambda: f"{share:.0%} of {self.count} entries ended: there are {len(self.ended())}", 600)

    def remember(self, what):
        """What has ended now must not be requested again. A part of it may have a row that is not written yet."""
        ended = set(self.ended())
        self.moments.append((what, ended, self.server.position()))
        return len(ended)

    def check_requests(self):
        most = collections.Counter()
        for host, at_once, _, _ in self.server.requests(self.began):
            most[host] = max(most[host], at_once)
        too_many = {host: number for host, number in most.items() if number > PER_HOST}
        expect(not too_many, f"more than {PER_HOST} requests at once: {too_many}")
        expect(most[address(0)] > 1, "the largest host was never asked for two pictures at once")
        for what, ended, position in self.moments:
            again = [url for _, _, _, url in self.server.requests(position) if url in ended]
            expect(not again, f"{len(again)} of {len(ended)} URLs that had ended {what} were requested again, the first: {again[:3]}")
        number = collections.Counter(url for _, _, _, url in self.server.requests(self.began))
        twice = sum(1 for url in number if number[url] > 1)
        missing = set(self.urls) - set(number)
        expect(not missing, f"{len(missing)} URLs were never requested")
        failing = next(number[url] for url in number if url.endswith(FAILS))
        say(f"  {sum(number.values())} requests, {twice} URLs more than once, the failing one {failing} times; "
            f"at most {most[address(0)]} at once for the largest host, {max(most.values())} for any")

    def check_results(self, plain):
        report = json.loads((self.outbox / JOB / "report.json").read_text())
        found = [entry["url"] for entry in report["entries"]]
        expect(found == self.urls, f"the report has {len(found)} rows, {len(set(found))} of them different, of {self.count} entries")
        indices = [entry["index"] for entry in report["entries"]]
        expect(indices == list(range(self.count)), "the rows of the report are not numbered like the manifest")
        states = collections.Counter(entry["state"] for entry in report["entries"])
        expect(states == {"filtered": self.count - 1, "failed": 1}, f"states in the report: {dict(states)}")
        expect(report["counts"]["total"] == self.count and report["counts"]["failed"] == 1, f"counts: {report['counts']}")
        here = pictures(self.outbox)
        missing, more = plain.keys() - here.keys(), here.keys() - plain.keys()
        differing = [name for name in plain.keys() & here.keys() if plain[name] != here[name]]
        expect(not missing and not more and not differing,
               f"{len(missing)} results are missing, {len(more)} too many, {len(differing)} differ: "
               f"{[*missing, *more, *differing][:3]}")
        repeated = [str(path) for path in self.shards.glob(f"*/{JOB}/history") if any(path.iterdir())]
        expect(not repeated, f"shards were run again after they had ended: {repeated[:3]}")
        claims = list(self.shards.glob("*/claim-*"))
        say(f"  {len(here)} results as those of one machine, {len(found)} rows, {len(claims)} files of claims")


def pictures(outbox):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (outbox / JOB / "images").iterdir()}


def end_session(session):
    """Ends all processes of a session; parallel's have groups of their own."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text(errors="replace").rsplit(")", 1)[1].split()[3]) == session:
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            pass  # It has ended.


class Workers:
    """The workers of Packaging/slurm, on a cluster."""

    def __init__(self, cluster, work):
        self.cluster, self.work = cluster, work
        self.array = self.merge = None

    def submit(self):
        options = [*OPTIONS, "--claim-timeout", str(CLAIM_TIMEOUT)]
        said = self.cluster.run(
            SCRIPTS / "darkroom-submit", self.work.manifest, self.work.shards, self.work.number, f"--array=0-{TASKS - 1}",
            folder=self.work.folder, OUTBOX=str(self.work.outbox), INBOX=str(self.work.inbox), PROGRAM=self.work.program,
            OPTIONS=" ".join(options), SPLIT_OPTIONS=f"--per-host {PER_HOST}")
        numbers = dict(line.split() for line in said.splitlines())
        self.array, self.merge = numbers["workers"], numbers["merge"]

    def cancel(self):
        """Cancels all; no task may queue itself again."""
        self.cluster.run("scancel", self.array, self.merge)
        wait_for(lambda: all(task["JobState"] not in ("RUNNING", "COMPLETING") for task in self.tasks().values()),
                 lambda: f"the end of cancelled tasks: {self.describe()}", 60)
        states = {task["JobState"] for task in self.tasks().values()}
        expect(states == {"CANCELLED"}, f"cancelled tasks are {self.describe()}")

    def tasks(self):
        return self.cluster.tasks(self.array)

    def check(self):
        """No task has ended with an error while there is work."""
        wrong = {number: task for number, task in self.tasks().items()
                 if task["JobState"] in ("FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY")}
        expect(not wrong, f"tasks ended with {[(n, t['JobState'], t['ExitCode']) for n, t in wrong.items()]}\n{self.logs()}")

    def logs(self):
        files = sorted(self.work.folder.glob("darkroom-*.log"))
        return "\n".join(f"{file.name}:\n{file.read_text(errors='replace')[-1500:]}" for file in files)

    def on(self, node):
        return [number for number, task in self.tasks().items() if task["JobState"] == "RUNNING" and task["NodeList"] == node]

    def wait(self, seconds=600):
        def is_over():
            self.check()
            job = self.cluster.job(self.merge)
            return job["JobState"] in ("COMPLETED", "FAILED", "CANCELLED") and job
        try:
            job = wait_for(is_over, lambda: f"the end of the merge; {self.cluster.states()}, {self.describe()}", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.logs()}") from None
        expect(job["ExitCode"] == "1:0", f"the merge ended with {job['ExitCode']}, and one entry had failed:\n{self.logs()}")
        restarts = {number: int(task["Restarts"]) for number, task in self.tasks().items()}
        expect(all(task["JobState"] == "COMPLETED" for task in self.tasks().values()), f"tasks ended as {self.describe()}")
        return restarts

    def describe(self):
        return {number: (task["JobState"], task["NodeList"], task["Restarts"]) for number, task in self.tasks().items()}


def test_slurm(folder, program, size, server):
    say(f"Slurm, {SIZES[size][0]} entries of {HOSTS} hosts in {SIZES[size][1]} shards:")
    work = Shards(folder / "slurm", program, size, server)
    (folder / "cluster").mkdir()
    with Slurm(folder / "cluster", processors=TASKS) as cluster:
        plain = work.run_on_one_machine()
        began, workers = time.monotonic(), Workers(cluster, work)
        workers.submit()

        work.reach(0.05, workers.check)
        workers.cancel()
        say(f"  cancelled after {work.remember('when the tasks were cancelled')} entries, and submitted again")
        workers.submit()

        work.reach(0.15, workers.check)
        task, late = workers.on("n0")[:2]
        count = work.remember("when a task was queued again")
        cluster.run("scontrol", "requeue", f"{workers.array}_{task}")
        say(f"  task {task} queued again after {count} entries")

        work.reach(0.25, workers.check)
        # What Slurm does some time before the time limit, which is a minute at least.
        cluster.run("scancel", "--batch", "--signal=USR1", f"{workers.array}_{late}")
        wait_for(lambda: int(workers.tasks()[late]["Restarts"]) == 1, "a task near its time limit queues itself again", 60)
        say(f"  task {late} near its time limit after {work.remember('when a task was near its limit')} entries")

        work.reach(0.45, workers.check)
        running = workers.on("n1")
        expect(running, f"n1 has no task: {workers.describe()}")
        cluster.kill_node("n1")
        count = work.remember("when a node died")
        expect(count < work.count * 0.9, f"the node died too late, after {count} entries")
        say(f"  n1 died with tasks {running} after {count} entries")

        restarts = workers.wait()
        expect(cluster.states()["n1"].startswith("down"), f"the node that died is {cluster.states()}")
        expect(all(restarts[number] >= 1 for number in (task, late, *running)), f"tasks were queued again: {restarts}")
        say(f"  done after {time.monotonic() - began:.0f} s, with 1 of 2 nodes; tasks were queued again {restarts}")
        work.check_requests()
        work.check_results(plain)

        position, report = server.position(), work.outbox / JOB / "report.json"
        before = json.loads(report.read_text())["entries"]
        workers.submit()
        workers.wait()
        expect(not list(server.requests(position)), f"another run made {len(list(server.requests(position)))} requests")
        expect(json.loads(report.read_text())["entries"] == before, "another merge wrote other rows")
        work.check_results(plain)
        say("  run again: no request")


def test_parallel(folder, program, size, server):
    """The line of Documentation/shards.md; it is killed, and goes on."""
    say(f"GNU parallel, {SIZES[size][0]} entries of {HOSTS} hosts in {SIZES[size][1]} shards:")
    if not shutil.which("parallel", path=ENVIRONMENT["PATH"]):
        raise Unavailable("there is no parallel; script/bootstrap cluster installs it")
    work = Shards(folder / "parallel", program, size, server)
    plain = work.run_on_one_machine()
    work.darkroom("shard", "split", work.manifest, work.shards, "--shards", work.number, "--per-host", PER_HOST)
    words = ["parallel", "--jobs", "4", "--joblog", work.folder / "joblog", "--resume-failed", "--termseq", "TERM,30000,KILL,1000",
             program, "shard", "run", work.shards, "{}", "--outbox", work.outbox, "--inbox", work.inbox,
             "--claim-timeout", str(CLAIM_TIMEOUT), *OPTIONS, ":::", *range(work.number)]

    log = work.folder / "parallel.log"

    def run(what, share=1.0, number=signal.SIGKILL):
        """Runs parallel to its end, or until a share of the entries has ended: then it gets a signal."""
        with open(log, "ab") as output, subprocess.Popen(list(map(str, words)), env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                                         stdout=output, stderr=output, start_new_session=True) as process:
            try:
                if share < 1:
                    work.reach(share)
                    if number == signal.SIGKILL:
                        end_session(process.pid)
                    else:
                        process.send_signal(number)
                process.wait(300)
            finally:
                end_session(process.pid)
        count = work.remember(what)
        say(f"  {what}: {count} entries, exit code {process.returncode}")
        return process.returncode

    run("when all processes were killed", 0.2)
    run("when parallel was ended by SIGTERM", 0.5, signal.SIGTERM)
    until = time.monotonic() + 300
    # 75 is a shard whose claim a killed process has not given up yet.
    while run("when parallel had ended") != 0:
        expect(time.monotonic() < until, f"parallel does not succeed: {log.read_text()[-3000:]}")
    work.darkroom("shard", "merge", work.shards, "--outbox", work.outbox, expected=(1,))
    work.check_requests()
    work.check_results(plain)
    position = server.position()
    (work.folder / "joblog").unlink()
    expect(run("after another run") == 0, f"another run did not succeed: {log.read_text()[-3000:]}")
    work.darkroom("shard", "merge", work.shards, "--outbox", work.outbox, expected=(1,))
    expect(not list(server.requests(position)), f"another run made {len(list(server.requests(position)))} requests")
    work.check_results(plain)
    say("  run again: no request")


TESTS = {"slurm": test_slurm, "parallel": test_parallel}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", help="default: " + ", ".join(TESTS))
    parser.add_argument("--program", required=True)
    parser.add_argument("--size", choices=SIZES, default="full", help="of the manifest for Slurm; that of parallel is small")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the test, and print its path")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="darkroom-cluster-"))
    try:
        for name in options.tests or TESTS:
            size = options.size if name == "slurm" else "small"
            with Server(folder, SIZES[size][2]) as server:
                TESTS[name](folder, os.path.abspath(options.program), size, server)
            (folder / "requests").rename(folder / f"requests-{name}")
    except Unavailable as error:
        print(f"cluster: SKIPPED: {error}")
        return SKIPPED
    except AssertionError as error:
        print(f"cluster: FAILED: {error}")
        return 1
    finally:
        if options.keep:
            print(f"cluster: kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print("cluster: all is well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
