"""Makes the package, and installs, uses, upgrades and removes it on a fresh Debian system without Swift: in a chroot, then
with systemd. Needs root, debootstrap and a mirror of Debian.

  package.py [--program FILE]     a program of script/build; default: builds it

Exit codes: 0 all is well, 1 something is wrong, 77 this machine cannot do it.
"""
import argparse
import configparser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from debian import Booted, Debian, Unavailable

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
STATE = "/var/lib/darkroom"
SERVICES = ("darkroom.service", "darkroom@.service", "darkroom-run.service")
# What Documentation/operations.md says of systemd-analyze, times ten.
EXPOSURE = 15
# How many pictures a job has, and how long the server waits before each: a job takes seconds, so that it can be interrupted.
PICTURES, DELAY = 60, 0.3
CONFIGURATION = {"allow-net": ["127.0.0.0/8"], "per-host": 2}


def say(text):
    print(text, flush=True)


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


def make_package(program, revision):
    words = ["script/package", "--revision", str(revision), *(["--program", program] if program else [])]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return ROOT / done.stdout.strip()


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
        network = system.network() if isinstance(system, Booted) else []
        self.process = subprocess.Popen(
            [*network, sys.executable, ROOT / "Tests/WholeSystem/slow_server.py", ROOT / "Samples", str(DELAY), self.record],
            stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

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

    def reach_middle(self, job):
        wait_for(lambda: len(self.rows(job)) >= PICTURES // 4, lambda: f"the middle of {job}: {self.log()}")
        expect(len(self.rows(job)) < PICTURES, f"{job} was done before it could be interrupted")
        return {row["url"].split("/", 3)[3] for row in self.rows(job)}

    def log(self):
        return self.as_member("darkroom", "status", check=False)

    def check(self, job, done=(), outbox=f"{STATE}/outbox"):
        """Waits for the report. What was done before an interruption is not asked for again."""
        report = self.system.path(f"{outbox}/{job}/report.json")
        wait_for(report.exists, lambda: f"the report of {job}: {self.log()}")
        read = json.loads(report.read_text())
        expect(read["state"] == "succeeded" and read["counts"]["filtered"] == PICTURES, f"{job}: {read['state']} {read['counts']}")
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


def check_installed(system):
    """What the package has put into the system."""
    for tool in ("swift", "cc", "ld"):
        expect(not any(system.path(f"usr/bin/{tool}").parent.glob(tool)), f"the fresh system has a {tool}")
    for name, mode in (("inbox", 0o2775), ("outbox", 0o2755)):
        status = system.path(f"{STATE}/{name}").stat()
        expect(status.st_mode & 0o7777 == mode, f"{STATE}/{name} has the mode {status.st_mode & 0o7777:o}")
    system.run("darkroom", "--version")
    for name in ("man/man1/darkroom.1.gz", "man/man5/darkroom-manifest.5.gz", "bash-completion/completions/darkroom",
                 "zsh/vendor-completions/_darkroom", "fish/vendor_completions.d/darkroom.fish", "doc/darkroom/copyright"):
        expect(system.path(f"usr/share/{name}").is_file() or "/usr/share/" in name, f"there is no /usr/share/{name}")


def check_units(system):
    """Units that systemd understands, and that allow no more than is documented."""
    units = sorted(path.name for path in (ROOT / "Packaging/systemd").iterdir())
    said = system.run("systemd-analyze", "verify", "--man=no", *(name.replace("@", "@web") for name in units))
    expect(not said.strip(), f"systemd-analyze verify: {said}")
    for name in SERVICES:
        said = system.run("systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE}",
                          f"/lib/systemd/system/{name}").splitlines()[-1]
    page = (ROOT / "Documentation/operations.md").read_text()
    expect(f"says {EXPOSURE / 10}," in page and f": {EXPOSURE / 10} " in said, f"the figure of operations.md is not that of: {said}")
    rights = {name: re.sub(r"(?s).*\n# The program makes no use|\n\n\[Install\].*", "", (ROOT / "Packaging/systemd" / name).read_text())
              for name in SERVICES}
    expect(len({text.strip() for text in rights.values()}) == 1, "the services differ in what they may do")
    return said.strip()


def use(service, jobs, newer):
    """What people do with the service, whoever runs it."""
    service.start()
    prefix = "booted" if isinstance(service, ServiceOfSystemd) else "chroot"
    jobs.drop(f"{prefix}-added")
    jobs.check(f"{prefix}-added")
    jobs.drop(f"{prefix}-copied", by_hand=True)
    jobs.check(f"{prefix}-copied")
    status = json.loads(jobs.as_member("darkroom", "status", "--json"))
    held = status["workers"]["confinement"]
    expect({"seccomp", "no-new-privs"} <= set(held), f"workers are confined by {held} only")

    job = f"{prefix}-killed"
    jobs.drop(job)
    done = jobs.reach_middle(job)
    os.kill(service.main_process(), 9)
    service.restart_after_kill()
    jobs.check(job, done)

    job = f"{prefix}-upgraded"
    jobs.drop(job)
    done = jobs.reach_middle(job)
    service.upgrade(newer)
    expect(len(jobs.rows(job)) < PICTURES, f"{job} was done before the upgrade")
    jobs.check(job, done)
    version = jobs.system.run("dpkg-query", "--show", "--showformat=${Version}", "darkroom")
    expect(version.endswith("-2"), f"the version after the upgrade is {version}")
    jobs.check_outbox()
    say(f"  dropped by add and by cp, killed, upgraded: {4 * PICTURES} pictures, workers confined by {', '.join(held)}")


def remove(system, jobs_of):
    """Removes the package, then its configuration."""
    for word in ("--remove", "--purge"):
        said = system.run("dpkg", word, "darkroom")
        expect(f"stay in {STATE}" in said, f"dpkg {word} does not say what stays: {said}")
        for job in jobs_of:
            count = len(list(system.path(f"{STATE}/outbox/{job}/images").iterdir()))
            expect(count == PICTURES, f"{job} has {count} pictures after dpkg {word}")
    expect(not system.path("etc/darkroom/config.json").exists(), "the configuration is there after dpkg --purge")
    expect(not system.path("usr/bin/darkroom").exists(), "the program is there after dpkg --purge")
    say("  removed and purged: the pictures stay")


def configure(system, name="config.json", folder=STATE):
    """Changes the configuration of the package, or writes one."""
    path = system.path(f"etc/darkroom/{name}")
    given = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({"inbox": f"{folder}/inbox", "outbox": f"{folder}/outbox", **given, **CONFIGURATION}))


def test_chroot(system, folder, older, newer):
    system.run("apt-get", "update")
    said = system.run("apt-get", "install", "--yes", "--no-install-recommends", older)
    expect("error" not in said.lower().replace("liberror", "").replace("libgpg-error", ""), said)
    check_installed(system)
    say(f"units: {check_units(system)}")
    system.run("useradd", "--create-home", "--groups", "darkroom", "anna")
    configure(system)
    say("in a chroot:")
    with Server(system, folder) as server:
        service, jobs = ServiceByHand(system), Jobs(system, server)
        try:
            use(service, jobs, newer)
            service.stop()
        finally:
            if service.process:
                service.process.kill()
    remove(system, [f"chroot-{name}" for name in ("added", "copied", "killed", "upgraded")])


def test_systemd(system, folder, older, newer):
    for name in ("darkroom.service", "darkroom@.service"):
        drop_in = system.path(f"etc/systemd/system/{name}.d/test.conf")
        drop_in.parent.mkdir(parents=True, exist_ok=True)
        drop_in.write_text("[Service]\nRestartSec=1\n")
    system.run("dpkg", "--install", older)
    wait_for(lambda: system.run("systemctl", "is-active", "darkroom", check=False).strip() == "active",
             lambda: system.run("systemctl", "status", "darkroom", check=False))
    configure(system)
    system.run("systemctl", "restart", "darkroom")
    say("with systemd:")
    with Server(system, folder) as server:
        service, jobs = ServiceOfSystemd(system), Jobs(system, server)
        use(service, jobs, newer)
        test_reload(system)
        test_template(system, jobs, newer)
        test_drop_ins(system, jobs)
        test_without_daemon(system, jobs)
    failures = re.findall("darkroom.*(?:Failed|EPERM|not permitted).*", system.run("journalctl", "--no-pager", "--unit=darkroom*"))
    expect(not failures, f"the journal has {len(failures)} lines such as: {failures[:1]}")
    remove(system, ["booted-added", "booted-killed", "booted-upgraded", "path"])


def test_reload(system):
    """A reload is one for systemd, too, and so is a configuration that cannot be understood."""
    before = system.run("systemctl", "show", "--property=MainPID", "darkroom")
    system.run("systemctl", "reload", "darkroom")
    wait_for(lambda: system.run("systemctl", "is-active", "darkroom", check=False).strip() == "active", "active after the reload")
    expect(system.run("systemctl", "show", "--property=MainPID", "darkroom") == before, "a reload started another process")
    path = system.path("etc/darkroom/config.json")
    good = path.read_text()
    path.write_text('{ "inbocks": "a" }')
    system.run("systemctl", "restart", "darkroom", check=False)
    wait_for(lambda: system.run("systemctl", "is-failed", "darkroom", check=False).strip() == "failed", "failed for its usage")
    code = system.run("systemctl", "show", "--property=ExecMainStatus", "--value", "darkroom").strip()
    expect(code == "64", f"the exit code for a wrong configuration is {code}")
    path.write_text(good)
    system.run("systemctl", "start", "darkroom")
    say("  reloaded; not started again with a wrong configuration")


def test_template(system, jobs, newer):
    folder = f"{STATE}/web"
    configure(system, "web.json", folder)
    system.run("systemctl", "enable", "--now", "darkroom@web")
    wait_for(system.path(f"{folder}/inbox/.darkroom-instance").exists, lambda: system.run("systemctl", "status", "darkroom@web", check=False))
    for name, mode in (("inbox", 0o2775), ("outbox", 0o2755)):
        status = system.path(f"{folder}/{name}").stat()
        expect(status.st_mode & 0o7777 == mode, f"{folder}/{name} has the mode {status.st_mode & 0o7777:o}")
    jobs.drop("web", f"{folder}/inbox")
    wait_for(lambda: len(jobs.rows("web", f"{folder}/outbox")) > PICTURES // 4, "the middle of web")
    before = system.run("systemctl", "show", "--property=MainPID", "darkroom@web")
    system.run("dpkg", "--install", newer)
    expect(system.run("systemctl", "show", "--property=MainPID", "darkroom@web") != before, "an upgrade did not restart darkroom@web")
    jobs.check("web", outbox=f"{folder}/outbox")
    jobs.check_outbox(f"{folder}/outbox")
    system.run("systemctl", "disable", "--now", "darkroom@web")
    say("  a template's service, upgraded")


def drop_ins():
    """Those of Documentation/operations.md."""
    page = (ROOT / "Documentation/operations.md").read_text()
    found = re.findall(r"(?s)\n```\n((?:\[Unit\]|\[Service\])\n.*?)```\n", page)
    expect(len(found) == 4, f"operations.md has {len(found)} drop-ins")
    return found


def test_drop_ins(system, jobs):
    """Pictures of a folder in /home, an outbox elsewhere with the file of metrics, private networks that the kernel refuses, and
    manifests that are written slowly: all at once."""
    samples, outbox, metrics = "home/anna/pictures", "srv/pictures", "var/lib/prometheus/node-exporter"
    shutil.copytree(ROOT / "Samples", system.path(samples))
    system.run("install", "-d", "-o", "darkroom", "-g", "darkroom", f"/{outbox}", f"/{metrics}")
    folder = system.path("etc/systemd/system/darkroom.service.d")
    for index, text in enumerate(drop_ins()):
        (folder / f"test-{index}.conf").write_text(text)
    path = system.path("etc/darkroom/config.json")
    good = path.read_text()
    path.write_text(json.dumps({**json.loads(good), "outbox": f"/{outbox}", "file-root": f"/{samples}",
                                "metrics": f"/{metrics}/darkroom.prom"}))
    system.run("systemctl", "stop", "darkroom")
    # The inbox remembers its outbox: another one has to be accepted.
    system.run("runuser", "-u", "darkroom", "--", "darkroom", "run", "--create", "--config", "/etc/darkroom/config.json")
    system.run("systemctl", "daemon-reload")
    system.run("systemctl", "start", "darkroom")
    writer = jobs.start_as_member("sh", "-c", f"exec >{STATE}/inbox/slow.txt; echo coffee.jpg; sleep 6; echo chelsea.jpg")
    wait_for(system.path(f"{outbox}/slow/report.json").exists, jobs.log)
    expect(writer.wait(1) == 0, "a manifest was read before it was complete")
    counts = json.loads(system.path(f"{outbox}/slow/report.json").read_text())["counts"]
    expect(counts["filtered"] == 2, f"pictures of /home: {counts}")
    wait_for(system.path(f"{metrics}/darkroom.prom").exists, "the file of metrics")
    system.run("systemctl", "stop", "darkroom")
    for file in folder.glob("test-*.conf"):
        file.unlink()
    path.write_text(good)
    system.run("runuser", "-u", "darkroom", "--", "darkroom", "run", "--create", "--config", "/etc/darkroom/config.json")
    system.run("systemctl", "daemon-reload")
    say("  the drop-ins of operations.md")


def test_without_daemon(system, jobs):
    system.run("systemctl", "disable", "--now", "darkroom")
    system.run("systemctl", "enable", "--now", "darkroom-run.path", "darkroom-run.timer")
    jobs.drop("path")
    jobs.check("path")
    ended = lambda: system.run("systemctl", "is-active", "darkroom-run", check=False).strip() != "activating"
    wait_for(ended, "the end of darkroom-run")
    result = system.run("systemctl", "show", "--property=Result", "--value", "darkroom-run").strip()
    expect(result == "success", f"the result of darkroom-run is {result}")
    say("  the path unit")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="of script/build; default: builds it")
    options = parser.parse_args()
    if os.geteuid() != 0:
        say("package: SKIPPED: making a Debian system needs root")
        return SKIPPED
    if "DARKROOM_PACKAGE" not in os.environ:
        # Mounts of our own, which go with the process.
        os.environ["DARKROOM_PACKAGE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", *sys.argv])
    del os.environ["DARKROOM_PACKAGE"]  # The program refuses variables that it does not know.
    with tempfile.TemporaryDirectory(prefix="darkroom-package-") as name:
        folder = pathlib.Path(name)
        system = Debian(folder / "debian")
        try:
            return test(system, folder, options.program)
        except Unavailable as why:
            say(f"package: SKIPPED: {why}")
            return SKIPPED
        except AssertionError as wrong:
            say(f"package: {wrong}")
            return 1
        finally:
            subprocess.run(["umount", "--lazy", system.path("proc")], stderr=subprocess.DEVNULL)


def test(system, folder, program):
    began = time.monotonic()
    system.install(["ca-certificates", "systemd", "procps"])
    say(f"a fresh system: {time.monotonic() - began:.0f} s")
    packages = []
    for revision in (1, 2):
        made = make_package(program, revision)
        done = subprocess.run(["lintian", "--fail-on=error,warning", made.with_suffix(".changes")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        expect(done.returncode == 0, f"lintian: {done.stdout}")
        shutil.copy(made, system.path("root"))
        packages.append(f"/root/{made.name}")
    say(f"{', '.join(packages)}: lintian has nothing to say; {time.monotonic() - began:.0f} s")
    test_chroot(system, folder, *packages)
    try:
        with Booted(system.folder) as booted:
            test_systemd(booted, folder, *packages)
    except Unavailable as why:
        say(f"with systemd: SKIPPED: {why}")
    say(f"all is well after {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
