"""Takes the program through a sequence, and collects what happened and what has come of it."""
import dataclasses
import hashlib
import json
import os
import signal
import subprocess
import time

import sequences
from picture_server import write_files

# How long to wait for what must come, in seconds.
PATIENCE = 20
OPTIONS = ["--settle", "0", "--poll-interval", "0.02", "--retries", "2", "--min-free", "0", "--allow-net", "127.0.0.0/8",
           "--keep-history", "1000", "--verbose"]


class Failure(Exception):
    """Something that never may be, found on the way."""


@dataclasses.dataclass
class Put:
    """A manifest that was dropped, and what was done to the job after it and before the next."""

    job: str
    entries: list
    sha256: str
    time: float
    # In milliseconds since 1970, UTC.
    wall: int = 0
    # Where the entries are listed; None: the manifest has them.
    source: str | None = None
    removed: bool = False
    cancelled: bool = False
    # Whether everything had ended before the next thing was done to the job.
    settled: bool = False

    @property
    def is_valid(self):
        return all("url" in entry for entry in self.entries) and not (self.source or "").startswith("missing/")


@dataclasses.dataclass
class Window:
    """A time in which at most `limit` requests may come."""

    start: float
    end: float
    limit: int
    why: str


def now():
    """Milliseconds since 1970, UTC."""
    return int(time.time() * 1000)


class Trial:
    """One sequence. `puts` are the manifests by job, `interruptions` the times of kills and stops."""

    def __init__(self, program, server, number, folder, sequence, patience=PATIENCE, variables=None):
        self.program, self.server, self.folder, self.sequence, self.patience = program, server, folder, sequence, patience
        self.inbox, self.outbox = folder + "/inbox", folder + "/outbox"
        self.url = f"{server.url}/{number}"
        self.requests = server.requests.setdefault(str(number), [])
        self.puts, self.locks, self.windows, self.interruptions = {}, set(), [], []
        self.process, self.window, self.log, self.starts = None, None, None, 0
        self.format = sequence.get("format", "jsonl")
        os.makedirs(self.inbox)
        os.makedirs(self.outbox)
        for job in sequences.JOBS:
            write_files(f"{folder}/files/{job}")
        self.environment = {
            key: value for key, value in os.environ.items()
            if not key.startswith("DARKROOM_") and not key.lower().endswith("_proxy")}
        self.environment["XDG_CONFIG_HOME"] = folder
        # Those of the watching program alone.
        self.variables = variables or {}
        if self.variables:
            self.variables |= {"CHAOS_ROOT": folder, "CHAOS_MAP": folder + "/calls"}

    def run(self):
        """Does all steps, then lets everything end."""
        try:
            for step in self.sequence["steps"]:
                self.step(*step)
            for name in sorted(self.locks):
                self.unlock(name)
            self.start()
            self.settle()
            self.stop()
        finally:
            if self.process:
                self.process.kill()
                self.process.wait()
            del self.server.requests[self.url.rsplit("/", 1)[1]]

    def step(self, word, *operands):
        action = self.await_requests if word == "requests" else getattr(self, word)
        action(*operands)

    # The program

    def start(self):
        if self.process:
            return
        self.starts += 1
        self.log = f"{self.folder}/log-{self.starts}"
        with open(self.log, "wb") as log, open(self.folder + "/reports", "ab") as reports:
            if self.locks:
                self.window = Window(time.monotonic(), 0, 0, "while there was a lock from the start on")
            self.process = subprocess.Popen(
                [self.program, "watch", *self.named, "--file-root", self.folder + "/files", *OPTIONS,
                 *self.sequence["options"]],
                env=self.environment | self.variables, stdin=subprocess.DEVNULL, stdout=reports, stderr=log)

    def told(self):
        """The jobs of the reports that the program said it has written."""
        with open(self.folder + "/reports", encoding="utf-8") as reports:
            return [line.removeprefix(self.outbox + "/").split("/")[0] for line in reports]

    def told_rows(self, job):
        """How many rows of a job the program said are filtered, in all starts."""
        count = 0
        for start in range(1, self.starts + 1):
            with open(f"{self.folder}/log-{start}", encoding="utf-8", errors="replace") as log:
                count += sum(f" {job}: " in line and line.endswith(": filtered\n") for line in log)
        return count

    @property
    def named(self):
        return ["--inbox", self.inbox, "--outbox", self.outbox]

    def kill(self):
        if self.process:
            self.end_window()
            self.process.kill()
            self.ended(-signal.SIGKILL)

    def stop(self):
        if self.process:
            self.wait_for("it to be ready", lambda: "watching" in self.said())
            self.end_window()
            self.process.terminate()
            self.ended(0)

    def ended(self, expected):
        """Waits for the end of the program."""
        try:
            status = self.process.wait(self.patience)
        except subprocess.TimeoutExpired:
            raise Failure(f"no-end: it did not end within {self.patience} s of a signal")
        self.process = None
        self.interruptions.append(time.monotonic())
        if status != expected:
            raise Failure(f"exit-status: it ended with {status}")

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def wait_for(self, what, condition):
        limit = time.monotonic() + self.patience
        pause = 0.002
        while not condition():
            if self.process.poll() is not None:
                raise Failure(f"exit-status: it ended by itself with {self.process.returncode}")
            if time.monotonic() > limit:
                raise Failure(f"no-end: {what} did not come within {self.patience} s")
            time.sleep(pause)
            pause = min(pause * 1.2, 0.05)

    def command(self, *words):
        return subprocess.run(
            [self.program, *words, *self.named], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=self.patience)

    # The inbox

    def put(self, job, entries, source=None):
        earlier = self.puts.setdefault(job, [])
        text = sequences.manifest(job, entries, self.format, source).replace("URL", self.url)
        # No two manifests of a job have the same bytes, but those that are retried.
        data = (text + "\n" * (len(earlier) + 1)).encode()
        with open(f"{self.folder}/.{job}", "wb") as file:
            file.write(data)
        earlier.append(Put(job, entries, hashlib.sha256(data).hexdigest(), time.monotonic(), now(), source))
        os.rename(f"{self.folder}/.{job}", f"{self.inbox}/{job}.{self.format}")

    def retry(self, job):
        """Once the job has ended, if it can."""
        if job not in self.puts or self.locks and self.process:
            return
        if self.process:
            self.wait_for(f"the end of {job}", lambda: job not in self.in_inbox() and job not in self.open_jobs())
            self.puts[job][-1].settled = True
        try:
            with open(f"{self.outbox}/{job}/manifest.{self.format}", "rb") as file:
                sha256 = hashlib.sha256(file.read()).hexdigest()
        except FileNotFoundError:
            return
        dropped = next(put for put in self.puts[job] if put.sha256 == sha256)
        again = Put(job, dropped.entries, sha256, time.monotonic(), now(), dropped.source)
        ended = self.command("retry", job)
        if ended.returncode == 0:
            self.puts[job].append(again)
        elif ended.returncode != 75:  # a manifest is in the inbox
            raise Failure(f"exit-status: retry ended with {ended.returncode}: {ended.stderr}")

    def remove(self, job):
        try:
            os.unlink(f"{self.inbox}/{job}.{self.format}")
        except FileNotFoundError:
            return
        self.puts[job][-1].removed = True

    def cancel(self, job):
        ended = self.command("cancel", job)
        if ended.returncode == 0:
            # Also an earlier manifest's run may be live.
            self.puts[job][-1].cancelled = True
        elif ended.returncode != 66:
            raise Failure(f"exit-status: cancel ended with {ended.returncode}: {ended.stderr}")

    def lock(self, name, seconds):
        is_first = not self.locks
        self.locks.add(name)
        offset = len(self.said()) if self.process else 0
        with open(f"{self.inbox}/{name}.lock", "wb"):
            pass
        if seconds and is_first and self.process:
            # A lock that goes and comes between two scans is one.
            self.wait_for("a pause", lambda: self.said().rfind("Z paused: ") > self.said().rfind("Z resumed: "))
            if "Z paused: " in self.said()[offset:]:
                limit = int(self.sequence["options"][1])
                self.window = Window(time.monotonic(), 0, limit, "after it had paused, and so many downloads may run")

    def unlock(self, name):
        if name in self.locks:
            if len(self.locks) == 1:
                self.end_window()
            self.locks.remove(name)
            os.unlink(f"{self.inbox}/{name}.lock")

    def end_window(self):
        if self.window:
            self.window.end = time.monotonic()
            self.windows.append(self.window)
            self.window = None

    # Time

    @staticmethod
    def wait(milliseconds):
        time.sleep(milliseconds / 1000)

    def await_requests(self, count):
        limit, seen = time.monotonic() + 0.1, len(self.requests)
        while len(self.requests) < seen + count and time.monotonic() < limit:
            time.sleep(0.001)

    def settle(self):
        """Waits until everything has ended; while there is a lock, what was removed or cancelled."""
        if not self.process:
            return
        jobs = {job for job, puts in self.puts.items() if not self.locks or self.ends_while_paused(puts)}
        self.wait_for(f"the end of {' '.join(sorted(jobs))}", lambda: not jobs & self.in_inbox() and not jobs & self.open_jobs())
        for job in jobs:
            self.puts[job][-1].settled = True

    @staticmethod
    def ends_while_paused(puts):
        """Whether a job ends though there is a lock. A rejected manifest leaves the job to an earlier one. Its removal just before the
        program would have moved it away is not noticed, nor is another that no scan has found."""
        return puts[-1].cancelled or puts[-1].removed and all(put.is_valid for put in puts[-2:])

    def in_inbox(self):
        """The jobs of which there is a manifest in the inbox, and, when somebody asks for that, all that could be cancelled."""
        names = os.listdir(self.inbox)
        is_asked = any(name.startswith(".darkroom-cancel") for name in names)
        return {name.partition(".")[0] for name in names} | (set(self.puts) if is_asked else set())

    def open_jobs(self):
        ended = self.command("status", "--json")
        if ended.returncode != 0:
            raise Failure(f"exit-status: status ended with {ended.returncode}: {ended.stderr}")
        status = json.loads(ended.stdout)
        if "jobs_unknown" in status:
            return set(self.puts)
        open_now = {job["job"] for job in status["jobs"]} | {name.partition(".")[0] for name in status["queued"]}
        return open_now | self.in_inbox()
