"""The service of the package in a system, the jobs that a member of its group drops, and a server of pictures that can
hold its answers."""
import configparser
import json
import pathlib
import re
import subprocess
import sys
import time

from debian import Booted

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATE = "/var/lib/darkroom"
# How many pictures a job has, and how many of them the server answers while it holds a job that is to be interrupted.
PICTURES, ANSWERED = 60, 20


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.1)
    return value


def unit(system, name):
    """The keys of a service's unit; of those that are there several times, the last."""
    parser = configparser.RawConfigParser(strict=False, delimiters="=", comment_prefixes="#")
    parser.optionxform = str
    parser.read(system.path("lib/systemd/system") / name)
    return parser["Service"]


class Server:
    """Serves the samples, in the network of a system."""

    def __init__(self, system, folder):
        self.record = folder / f"requests-{time.monotonic_ns()}"
        self.record.touch()
        self.hold_file = self.record.with_suffix(".hold")
        network = system.network() if isinstance(system, Booted) else []
        self.process = subprocess.Popen(
            [*network, sys.executable, ROOT / "Tests/WholeSystem/held_server.py", ROOT / "Samples", self.record, self.hold_file],
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def hold(self):
        """Answers only the first pictures of each job from now on, until it is released."""
        self.hold_file.write_text(str(ANSWERED))

    def release(self):
        self.hold_file.unlink(missing_ok=True)

    def requests(self):
        return self.record.read_text().split()


class Jobs:
    """What a member of the group drops, and what comes of it."""

    def __init__(self, system, server):
        self.system, self.server = system, server

    def as_member(self, *words, check=True):
        return self.system.run("runuser", "-u", "anna", "--", *words, check=check)

    def start_as_member(self, *words):
        return self.system.start("runuser", "-u", "anna", "--", *words)

    def drop_held(self, job, inbox=f"{STATE}/inbox"):
        """Drops a job that cannot end before it is checked."""
        self.server.hold()
        self.drop(job, inbox)

    def drop(self, job, inbox=f"{STATE}/inbox", by_hand=False):
        urls = [f"http://127.0.0.1:{self.server.port}/coffee.jpg?{job}={index}" for index in range(PICTURES)]
        manifest = self.system.path(f"home/anna/{job}.txt")
        manifest.write_text("\n".join(urls) + "\n")
        if by_hand:
            self.as_member("cp", f"/home/anna/{job}.txt", inbox)
        else:
            self.as_member("darkroom", "add", "--inbox", inbox, f"/home/anna/{job}.txt")

    def rows(self, job, outbox=f"{STATE}/outbox"):
        """The rows that have ended, of a job that runs."""
        try:
            lines = self.system.path(f"{outbox}/{job}/entries.jsonl").read_text().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in lines if line.endswith("\n")]

    def reach_middle(self, job, outbox=f"{STATE}/outbox"):
        wait_for(lambda: len(self.rows(job, outbox)) == ANSWERED, lambda: f"the middle of {job}: {self.log()}")
        return {row["url"].split("/", 3)[3] for row in self.rows(job, outbox)}

    def log(self):
        return self.as_member("darkroom", "status", check=False)

    def check(self, job, done=(), outbox=f"{STATE}/outbox"):
        """Releases the server and waits for the report. What was done before an interruption is not asked for again."""
        self.server.release()
        report = self.system.path(f"{outbox}/{job}/report.json")
        wait_for(report.exists, lambda: f"the report of {job}: {self.log()}")
        read = json.loads(report.read_text())
        state, counts = read["state"], read["counts"]
        expect(state == "succeeded" and counts["filtered"] == PICTURES, f"{job}: {state} {counts}")
        asked = [path[1:] for path in self.server.requests()]
        again = [path for path in done if asked.count(path) != 1]
        expect(not again, f"{job}: done before the interruption, and asked for again: {again}")
        status = (report.parent / "manifest.txt").stat()
        group = self.system.path(outbox).stat().st_gid
        expect(status.st_gid == group, f"{job}: the group of its manifest is {status.st_gid}, not {group}")

    def check_outbox(self, outbox=f"{STATE}/outbox"):
        done = subprocess.run([sys.executable, ROOT / "script/check-outbox", self.system.path(outbox)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        expect(done.returncode == 0, f"check-outbox: {done.stdout}")


class ServiceByHand:
    """The process of the service in a chroot, with those of its restrictions that setpriv knows."""

    def __init__(self, system):
        self.system, self.keys, self.process = system, unit(system, "darkroom.service"), None

    def start(self):
        keys = self.keys
        command = f"umask {keys['UMask']}; cd {keys['WorkingDirectory']}; exec {keys['ExecStart']}"
        self.process = self.system.start(
            "setpriv", "--reuid", keys["User"], "--regid", keys["Group"], "--init-groups", "--no-new-privs",
            "--inh-caps=-all", "--bounding-set=-all", "sh", "-c", command,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def main_process(self):
        return self.process.pid

    def stop(self):
        self.process.terminate()
        expect(self.process.wait(60) == 0, f"watch ended with {self.process.returncode} after SIGTERM")

    def restart_after_kill(self):
        self.process.wait(10)
        self.start()

    def upgrade(self, package):
        self.stop()
        self.system.run("dpkg", "--install", package)
        self.start()


class ServiceOfSystemd:
    def __init__(self, system):
        self.system = system

    def start(self):
        self.system.run("systemctl", "start", "darkroom")

    def main_process(self):
        """As the machine itself numbers it."""
        inner = self.system.run("systemctl", "show", "--property=MainPID", "--value", "darkroom").strip()
        for path in pathlib.Path("/proc").glob("[0-9]*/status"):
            try:
                text = path.read_text(errors="replace")
            except OSError:
                continue
            if re.search(rf"^NSpid:\t\d+\t{inner}$", text, re.M) and "\nName:\tdarkroom" in "\n" + text:
                return int(path.parent.name)
        raise AssertionError(f"there is no process {inner} of the service")

    def stop(self):
        self.system.run("systemctl", "stop", "darkroom")

    def restart_after_kill(self):
        """systemd does it."""

    def upgrade(self, package):
        self.system.run("dpkg", "--install", package)
