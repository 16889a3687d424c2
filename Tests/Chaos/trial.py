"""One trial of script/chaos: a small piece of work, a fault at one call, a restart, and the checks."""
import collections
import errno
import functools
import http.server
import importlib.machinery
import importlib.util
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import threading
import time
from dataclasses import dataclass, field, replace

from scenario import SCENARIOS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

def load_checker():
    """The module of script/check-outbox."""
    loader = importlib.machinery.SourceFileLoader("check_outbox", os.path.join(ROOT, "script/check-outbox"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_outbox", loader))
    loader.exec_module(module)
    return module


check_outbox = load_checker()

CHANGING = (
    "open write pwrite writev pwritev rename link symlink unlink mkdir rmdir fsync fdatasync sync_file_range ftruncate "
    "fallocate fchmod chmod fchown utimens copy_range mknod")
ALLOCATING = "open write pwrite writev pwritev rename link symlink mkdir fsync fdatasync fallocate copy_range"

# Not eventfd: without one libdispatch ends the program.
OPENING = "open openread socket pipe memfd inotify dup"

# The faults, and the calls that can end so on some file system.
FAULTS = {
    "kill": CHANGING,
    "torn": CHANGING,
    "taken": CHANGING,
    "watch": CHANGING,
    "EIO": CHANGING,
    "EIO-read": "openread read",
    "ENOSPC": ALLOCATING,
    "EDQUOT": ALLOCATING,
    "EROFS": CHANGING,
    "EMFILE": OPENING,
    "ENFILE": OPENING,
    "EINTR": CHANGING + " openread read",
}

# What may be wrong between a kill and the next start. What is in place under a final name must be complete even then.
BETWEEN = set(check_outbox.KINDS) - {
    "report-unreadable", "counts-wrong", "duplicate-row", "duplicate-output", "duplicate-run", "result-missing",
    "result-not-regular", "result-size", "result-digest", "result-undecodable", "result-dimensions",
}

MAXIMUM_CALLS = 32768
SECONDS = 60
NEVER = "never came"


@dataclass
class Fault:
    """What happens at which call, from 1, of those that count: by default all that can end so."""

    name: str
    at: int
    times: int = 1
    calls: str = ""

    def environment(self):
        code = self.name.split("-")[0]
        return {
            "CHAOS_AT": str(self.at), "CHAOS_TIMES": str(self.times),
            "CHAOS_CALLS": f" {self.calls or FAULTS[self.name]} ",
            "CHAOS_FAULT": "kill" if code in ("taken", "watch") else code if self.kills else str(getattr(errno, code)),
        }

    @property
    def place(self):
        return f"{self.at} of {self.calls}" if self.calls else str(self.at)

    @property
    def kills(self):
        return self.name in ("kill", "torn", "taken", "watch")


@dataclass
class Finding:
    """What went wrong in a trial."""

    faults: list
    calls: list
    what: list = field(default_factory=list)
    said: str = ""

    def __str__(self):
        steps = ", then ".join(f"{fault.name} at {fault.place} ({call})" for fault, call in zip(self.faults, self.calls))
        return f"{steps}: " + "; ".join(self.what)


def build_library(folder):
    """Compiles the library that counts calls. Returns its path."""
    library = os.path.join(folder, "faults.so")
    subprocess.run(
        ["gcc", "-O1", "-shared", "-fPIC", "-o", library, os.path.join(HERE, "faults.c"), "-ldl"], check=True)
    return library


class Workload:
    """The jobs of a scenario, and the folders in which they are run. Some of their sources come from a server, the others are
    files."""

    def __init__(self, folder, program, library, options=(), scenario=SCENARIOS["entries"]):
        self.scenario = scenario
        self.folder = os.path.realpath(folder)
        self.program = program
        self.library = library
        self.options = list(options)
        # After a power cut the machine has another start; and its memory is none of a trial's business.
        self.environment = {"DARKROOM_TEST_KERNEL_ROOT": "/dev/null"}
        self.decoded = {}
        # How many faults happened at calls of each name.
        self.happened = collections.Counter()
        self.template = os.path.join(self.folder, "template")
        for name in ("inbox", "outbox", "sources"):
            os.makedirs(os.path.join(self.template, name))
        for name in ("astronaut.jpg", "chelsea.jpg", "coffee.jpg", "rocket.jpg", "chelsea-small.png"):
            shutil.copy(os.path.join(ROOT, "Samples", name), os.path.join(self.template, "sources"))
        incoming = os.path.join(self.template, "sources/incoming")
        os.makedirs(incoming)
        for name in ("astronaut.jpg", "chelsea.jpg", "coffee.jpg"):
            shutil.copy(os.path.join(ROOT, "Samples", name), incoming)
        self.server = serve(os.path.join(self.template, "sources"))
        for name, text in scenario.lists.items():
            with open(os.path.join(self.template, "sources", name), "w", encoding="utf-8") as file:
                file.write(text.replace("HTTP", self.server))
        self.prepare(self.template)

    def prepare(self, folder):
        """Makes the earlier runs in a folder."""
        self.drop(folder, self.scenario.earlier)
        ended = self.run(folder)
        if ended.returncode not in self.scenario.statuses:
            raise RuntimeError(f"the earlier run ended with {ended.returncode}: {ended.stderr}")

    def drop(self, folder, manifests):
        for name, text in manifests.items():
            with open(os.path.join(folder, "inbox", "." + name), "w", encoding="utf-8") as file:
                file.write(text.replace("HTTP", self.server))
            os.rename(os.path.join(folder, "inbox", "." + name), os.path.join(folder, "inbox", name))

    def arguments(self, folder, command="run"):
        return [
            self.program, command, "--inbox", folder + "/inbox", "--outbox", folder + "/outbox",
            "--file-root", folder + "/sources", "--settle", "0", "--poll-interval", "0.05", "--retries", "0",
            "--filters", "none", "--min-free", "0", "--allow-net", "127.0.0.0/8",
            *(["--lock-wait", "2"] if command == "run" else []), *self.options]

    def run(self, folder, fault=None, count_file=None):
        """Runs the program to its end, by itself or by the fault."""
        return subprocess.run(
            self.arguments(folder), env=self.variables(folder, fault, count_file), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", timeout=SECONDS)

    def start(self, folder, fault, count_file, is_first=True):
        """Starts the program in the way that the fault, or the scenario, is about. Manifests are replaced once."""
        replacements = self.scenario.replacements if is_first else {}
        if fault.name == "watch" or replacements:
            return self.watch(folder, fault, count_file, dict(replacements))
        return self.run(folder, fault, count_file)

    def watch(self, folder, fault, count_file, replacements):
        """Has the program watch the inbox until the fault ends it or all manifests are done; then it is told to stop."""
        arguments = self.arguments(folder, "watch")
        with subprocess.Popen(
                arguments, env=self.variables(folder, fault, count_file), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace") as process:
            limit = time.monotonic() + SECONDS
            while process.poll() is None and time.monotonic() < limit and (replacements or not self.is_done(folder)):
                for name in [name for name in replacements if self.has_rows(folder, name)]:
                    self.drop(folder, {name: replacements.pop(name)})
                time.sleep(0.01)
            process.terminate()
            try:
                _, said = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        self.drop(folder, replacements)
        return subprocess.CompletedProcess(arguments, process.returncode, stderr=said)

    @staticmethod
    def has_rows(folder, manifest):
        """Whether a job has begun to end entries."""
        path = f"{folder}/outbox/{manifest.split('.')[0]}/entries.jsonl"
        return os.path.exists(path) and os.path.getsize(path) > 0

    def is_done(self, folder):
        """Whether no manifest is left in the inbox."""
        return not any(os.path.exists(f"{folder}/inbox/{name}") for name in self.scenario.manifests)

    def variables(self, folder, fault, count_file):
        variables = {
            key: value for key, value in os.environ.items()
            if not key.startswith(("DARKROOM_", "CHAOS_")) and not key.lower().endswith("_proxy")}
        if count_file:
            variables |= {"LD_PRELOAD": self.library, "CHAOS_ROOT": folder, "CHAOS_MAP": count_file}
            variables |= fault.environment() if fault else {"CHAOS_CALLS": f" {CHANGING} "}
        return variables | self.environment

    def fresh(self, name):
        """A folder with the earlier runs and the manifests."""
        folder = os.path.join(self.folder, name)
        shutil.copytree(self.template, folder)
        self.drop(folder, self.scenario.manifests)
        return folder

    def calls(self, fault):
        """The names of the calls that count for a fault when nothing happens, in their order."""
        folder = self.fresh("count-" + fault.name)
        count_file = folder + ".calls"
        self.start(folder, replace(fault, at=0), count_file)
        number, calls = read_calls(count_file)
        if number > len(calls):
            raise RuntimeError(f"{number} calls are more than the {len(calls)} that can be noted")
        shutil.rmtree(folder)
        os.unlink(count_file)
        return [call.split(" ")[0] for call in calls]

    def trial(self, name, faults, keep=False):
        """Runs with one fault after the other, then without, and checks. Returns a finding, or None."""
        folder = self.fresh(name)
        finding = Finding(list(faults), [])
        try:
            for fault in faults:
                self.suffer(folder, fault, finding)
            self.restart(folder, finding)
            self.check(folder, finding)
        except subprocess.TimeoutExpired as hung:
            finding.what.append(f"did not end within {hung.timeout:.0f} s")
            finding.said += str(hung.stderr or "")
        except OSError as error:
            finding.what.append(f"the checks could not be made: {anonymous(str(error))}")
        if not (keep and finding.what):
            shutil.rmtree(folder)
        return finding if finding.what else None

    def suffer(self, folder, fault, finding):
        count_file = folder + ".calls"
        try:
            ended = self.start(folder, fault, count_file, is_first=not finding.calls)
        finally:
            count, calls = read_calls(count_file)
            came = 0 < fault.at <= len(calls)
            finding.calls.append(anonymous(calls[fault.at - 1]) if came else NEVER)
            self.happened[calls[fault.at - 1].split(" ")[0] if came else NEVER] += 1
            if os.path.exists(count_file):
                os.unlink(count_file)
        finding.said += ended.stderr
        expected = self.scenario.statuses | ({-signal.SIGKILL} if fault.kills else {73, 75})
        # What fails at the start is tried again, but for the ledger's contents and for what options are checked against.
        said = last_line(ended.stderr)
        is_start = ended.returncode in (66, 73) and said.startswith("darkroom: ") and "ledger.sqlite" not in said
        is_option = ended.returncode == 66 and said.startswith("darkroom: --file-root")
        if ended.returncode not in expected and not is_option or is_start and not is_option:
            finding.what.append(f"ended with {ended.returncode}: {last_line(ended.stderr)}")
        self.check_between(folder, finding)
        if fault.name == "taken":
            self.take_away(folder)

    def take_away(self, folder):
        """Does what a consumer does who waits for reports: takes away the folders of jobs that have one of this run."""
        os.mkdir(folder + "/taken")
        for job in self.scenario.jobs:
            run = run_of(f"{folder}/outbox/{job}/report.json")
            if run and run != run_of(f"{self.template}/outbox/{job}/report.json"):
                os.rename(f"{folder}/outbox/{job}", f"{folder}/taken/{job}")

    def check_between(self, folder, finding):
        """Whether all that has a final name is complete, before the program has had a chance to mend anything."""
        checker = check_outbox.Checker(folder + "/outbox", decoded=self.decoded, ignore=BETWEEN)
        checker.run()
        finding.what += [f"before the restart: {anonymous(str(problem))}" for problem in checker.problems[:5]]

    def restart(self, folder, finding):
        ended = self.run(folder)
        finding.said += ended.stderr
        if ended.returncode not in self.scenario.statuses:
            finding.what.append(f"restarted, ended with {ended.returncode}: {last_line(ended.stderr)}")

    def check(self, folder, finding):
        """Whether everything has come to what it was to come to, and the outbox is consistent."""
        checker = check_outbox.Checker(
            folder + "/outbox", inbox=folder + "/inbox", done=True, decoded=self.decoded)
        checker.run()
        finding.what += [anonymous(str(problem)) for problem in checker.problems[:5]]
        taken = os.listdir(folder + "/taken") if os.path.isdir(folder + "/taken") else []
        for job in self.scenario.jobs:
            self.check_job(f"{folder}/{'taken' if job in taken else 'outbox'}/{job}", job, finding)
        jobs = sorted(name for name in os.listdir(folder + "/outbox") if not name.startswith(".") and name != "index.html")
        if jobs != sorted(set(self.scenario.jobs) - set(taken)):
            again = [job for job in jobs if job in taken]
            finding.what.append(f"{again} came again after a consumer had taken them" if again else f"the jobs are {jobs}")

    def check_job(self, path, job, finding):
        """Whether a job has a row for each entry, and a report for each run. `path`: its folder."""
        expected, rejected = self.scenario.expected.get(job, {}), self.scenario.rejected.get(job)
        try:
            with open(path + "/report.json", encoding="utf-8") as file:
                report = json.load(file)
            rows = report["entries"]
        except (OSError, ValueError) as error:
            finding.what.append(f"{job} has no report: {type(error).__name__}")
            return
        problems = report.get("errors", [])
        if [problem["code"] for problem in problems] != ([rejected] if rejected else []):
            messages = "; ".join(anonymous(problem["message"]) for problem in problems)
            finding.what.append(f"{job} is {report['state']} ({messages})")
            return
        found = {row["name"]: row.get("error", {}).get("code", row["state"]) for row in rows}
        messages = {row["name"]: row.get("error", {}).get("message", "") for row in rows}
        for name in expected | found:
            if found.get(name) == expected.get(name) or self.is_to_blame(finding, found, name):
                continue
            message = anonymous(messages.get(name, ""))
            finding.what.append(f"entry {name} is {found.get(name)}, not {expected.get(name)} ({message})")
        runs = os.listdir(path + "/history") if os.path.isdir(path + "/history") else []
        if len(runs) not in self.scenario.earlier_runs(job):
            finding.what.append(f"{job} has {len(runs)} earlier runs in history")
        for run in runs if job in self.scenario.replaced else []:
            with open(f"{path}/history/{run}/report.json", encoding="utf-8") as file:
                report = json.load(file)
            ended = {row["name"] for row in report["entries"] if row["state"] in ("filtered", "failed")}
            if report["state"] == "superseded" and (
                    not ended or len(ended) != len(report["entries"]) or ended - self.scenario.replaced[job]):
                finding.what.append(f"{job}: the manifest that was replaced has rows of other entries than those that ended")

    def is_to_blame(self, finding, found, name):
        """Whether an entry may fail: an I/O error of its own source is its failure, and that of those which come after it."""
        may_fail = found.get(name) == "io" or found.get(name) == "dependency-failed" and "io" in found.values()
        return may_fail and any(
            fault.name.startswith("EIO") and call.split(" ")[-1].startswith("/sources/")
            for fault, call in zip(finding.faults, finding.calls))


def run_of(path):
    """The run of a report; None when it is not there, or torn."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["run_id"]
    except (OSError, ValueError):
        return None


class Sources(http.server.SimpleHTTPRequestHandler):
    """Answers without a word, and what is beneath `slow` after some time."""

    def do_GET(self):
        if self.path.startswith("/slow/"):
            time.sleep(0.1)
            self.path = self.path.removeprefix("/slow")
        super().do_GET()

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server whose clients may be killed."""

    def handle_error(self, *arguments):
        pass


def serve(folder):
    """Serves a folder for as long as the process lives. Returns the URL."""
    server = Server(("127.0.0.1", 0), functools.partial(Sources, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def read_calls(path):
    """How many calls were counted, and "NAME PATH" of each."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return 0, []
    count, = struct.unpack_from("Q", data)
    calls = []
    for index in range(min(count, MAXIMUM_CALLS)):
        start = 128 + index * 128
        words = [data[start:start + 16], data[start + 16:start + 128]]
        calls.append(" ".join(word.split(b"\0")[0].decode("utf-8", "replace") for word in words))
    return count, calls


def anonymous(text):
    """A text without what differs from trial to trial."""
    text = re.sub(r"\d{8}T\d{6}Z-[0-9a-f]{8}", "RUN", text)
    text = re.sub(r"/staging/[0-9a-f]{8}(-[0-9a-f]{8})?", "/staging", text)
    text = re.sub(r"/\S*darkroom-chaos-[^/]+/[^/]+(?=/)", "", text)
    text = re.sub(r"^\d{4}-\d\d-\d\dT[0-9:]+Z ", "", text)
    return re.sub(r"RUN-\d+\.", "RUN-N.", text)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return anonymous(lines[-1][:300]) if lines else "(nothing was said)"
