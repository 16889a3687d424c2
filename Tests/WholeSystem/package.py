"""Makes the package, and installs, uses, upgrades and removes it on a fresh Debian system without Swift: in a chroot, then
with systemd. Needs root, debootstrap and a mirror of Debian.

  package.py [--program FILE]     a program of script/build; default: builds it

Exit codes: 0 all is well, 1 something is wrong, 77 this machine cannot do it.
"""
import argparse
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from debian import Booted, Debian, Unavailable
from image import test_image
from service import ANSWERED, PICTURES, STATE, Jobs, Server, ServiceByHand, ServiceOfSystemd, expect, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
SERVICES = ("darkroom.service", "darkroom@.service", "darkroom-run.service")
# What Documentation/operations.md says of systemd-analyze, times ten.
EXPOSURE = 15
CONFIGURATION = {"allow-net": ["127.0.0.0/8"], "per-host": 2, "grace": 2}


def say(text):
    print(text, flush=True)


def make_package(program, revision):
    words = ["script/package", "--revision", str(revision), *(["--program", program] if program else [])]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expect(done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-4000:]}")
    return ROOT / done.stdout.strip()


def check_installed(system):
    """What the package has put into the system."""
    for tool in ("swift", "cc", "ld"):
        expect(not system.path(f"usr/bin/{tool}").exists(), f"the fresh system has a {tool}")
    for name, mode in (("inbox", 0o2775), ("outbox", 0o2755)):
        status = system.path(f"{STATE}/{name}").stat()
        expect(status.st_mode & 0o7777 == mode, f"{STATE}/{name} has the mode {status.st_mode & 0o7777:o}")
    system.run("darkroom", "--version")
    system.run("runuser", "-u", "darkroom", "--", "darkroom", "doctor")
    for name in ("man/man1/darkroom.1.gz", "man/man5/darkroom-manifest.5.gz", "man/man5/darkroom-events.5.gz",
                 "bash-completion/completions/darkroom", "zsh/vendor-completions/_darkroom", "fish/vendor_completions.d/darkroom.fish", "doc/darkroom/copyright",
                 "doc/darkroom/examples/darkroom.rules.yml"):
        expect(system.path(f"usr/share/{name}").is_file(), f"there is no /usr/share/{name}")


def page():
    return (ROOT / "Documentation/operations.md").read_text()


def check_units(system):
    """Units that systemd understands, and that allow no more than is documented."""
    units = sorted(path.name for path in (ROOT / "Packaging/systemd").iterdir())
    said = system.run("systemd-analyze", "verify", "--man=no", *(name.replace("@", "@web") for name in units))
    expect(not said.strip(), f"systemd-analyze verify: {said}")
    for name in SERVICES:
        said = system.run("systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE}",
                          f"/lib/systemd/system/{name}").splitlines()[-1]
    figure = EXPOSURE / 10
    expect(f"says {figure}," in page() and f": {figure} " in said, f"the figure of operations.md is not that of: {said}")
    texts = [(ROOT / "Packaging/systemd" / name).read_text() for name in SERVICES]
    rights = {text.split("\n# The program makes no use")[1].split("\n[Install]")[0].strip() for text in texts}
    expect(len(rights) == 1, "the services differ in what they may do")
    return said.strip()


def use(service, jobs, newer):
    """What people do with the service, whoever runs it."""
    service.start()
    prefix = "booted" if isinstance(service, ServiceOfSystemd) else "chroot"
    jobs.drop(f"{prefix}-added")
    jobs.check(f"{prefix}-added")
    expect(os.sched_getscheduler(service.main_process()) == os.SCHED_BATCH, "the service's policy is not SCHED_BATCH")
    jobs.drop(f"{prefix}-copied", by_hand=True)
    jobs.check(f"{prefix}-copied")
    status = json.loads(jobs.as_member("darkroom", "status", "--json"))
    held = status["workers"]["confinement"]
    expect({"seccomp", "no-new-privs"} <= set(held), f"workers are confined by {held} only")

    job = f"{prefix}-killed"
    jobs.drop_held(job)
    done = jobs.reach_middle(job)
    os.kill(service.main_process(), signal.SIGKILL)
    service.restart_after_kill()
    jobs.check(job, done)

    job = f"{prefix}-upgraded"
    jobs.drop_held(job)
    done = jobs.reach_middle(job)
    service.upgrade(newer)
    expect(len(jobs.rows(job)) == ANSWERED, f"{job} went on during the upgrade")
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
        drop_in.write_text("[Service]\nRestartSec=1\nWatchdogSec=4\nTimeoutAbortSec=1\n")
    system.run("dpkg", "--install", older)
    wait_for(lambda: system.run("systemctl", "is-active", "darkroom", check=False).strip() == "active",
             lambda: system.run("systemctl", "status", "darkroom", check=False))
    configure(system)
    system.run("systemctl", "restart", "darkroom")
    say("with systemd:")
    with Server(system, folder) as server:
        service, jobs = ServiceOfSystemd(system), Jobs(system, server)
        use(service, jobs, newer)
        test_notices(system)
        test_hang(system, service, jobs)
        test_reload(system)
        test_template(system, jobs, newer)
        test_drop_ins(system, jobs)
        test_without_daemon(system, jobs)
    failures = re.findall("darkroom.*(?:Failed|EPERM|not permitted).*", system.run("journalctl", "--no-pager", "--unit=darkroom*"))
    expect(not failures, f"the journal has {len(failures)} lines such as: {failures[:1]}")
    remove(system, ["booted-added", "booted-killed", "booted-upgraded", "booted-hung", "path"])


def test_notices(system):
    """What the service tells systemd."""
    shown = system.run("systemctl", "show", "--property=Type,StatusText,WatchdogTimestampMonotonic", "darkroom").splitlines()
    values = dict(line.split("=", 1) for line in shown)
    expect(values["Type"] == "notify" and "watching" in values["StatusText"], f"systemd knows of the service: {values}")
    expect(values["WatchdogTimestampMonotonic"] != "0", f"the service has given no sign of life: {values}")


def test_hang(system, service, jobs):
    """A service that gives no sign of life is started again."""
    job = "booted-hung"
    jobs.drop_held(job)
    done = jobs.reach_middle(job)
    process = service.main_process()
    os.kill(process, signal.SIGSTOP)
    wait_for(lambda: not pathlib.Path(f"/proc/{process}").exists(), "the end of a process that hangs", 60)
    jobs.check(job, done)
    system.read_console()
    expect(b"Watchdog timeout" in system.console, "systemd did not end the service for its watchdog")
    say("  told that it was ready; hung, and was started again")


def test_reload(system):
    """A reload is one for systemd, too, and so is a configuration that cannot be understood."""
    before = system.run("systemctl", "show", "--property=MainPID", "darkroom")
    system.run("systemctl", "reload", "darkroom")
    is_active = lambda: system.run("systemctl", "is-active", "darkroom", check=False).strip() == "active"
    wait_for(is_active, "active after the reload")
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
    wait_for(system.path(f"{folder}/inbox/.darkroom-instance").exists,
             lambda: system.run("systemctl", "status", "darkroom@web", check=False))
    for name, mode in (("inbox", 0o2775), ("outbox", 0o2755)):
        status = system.path(f"{folder}/{name}").stat()
        expect(status.st_mode & 0o7777 == mode, f"{folder}/{name} has the mode {status.st_mode & 0o7777:o}")
    jobs.drop_held("web", f"{folder}/inbox")
    done = jobs.reach_middle("web", f"{folder}/outbox")
    before = system.run("systemctl", "show", "--property=MainPID", "darkroom@web")
    system.run("dpkg", "--install", newer)
    after = system.run("systemctl", "show", "--property=MainPID", "darkroom@web")
    expect(after != before, "an upgrade did not restart darkroom@web")
    jobs.check("web", done, f"{folder}/outbox")
    jobs.check_outbox(f"{folder}/outbox")
    system.run("systemctl", "disable", "--now", "darkroom@web")
    say("  a template's service, upgraded")


def drop_ins():
    """Those of Documentation/operations.md."""
    found = re.findall(r"(?s)\n```\n((?:\[Unit\]|\[Service\])\n.*?)```\n", page())
    expect(len(found) == 4, f"operations.md has {len(found)} drop-ins")
    return found


def test_drop_ins(system, jobs):
    """Pictures of a folder in /home, an outbox elsewhere with the file of metrics, private networks that the kernel refuses, and
    manifests that are written slowly: all at once. A program is run when a job has ended."""
    samples, outbox, metrics = "home/anna/pictures", "srv/pictures", "var/lib/prometheus/node-exporter"
    shutil.copytree(ROOT / "Samples", system.path(samples))
    system.run("install", "-d", "-o", "darkroom", "-g", "darkroom", f"/{outbox}", f"/{metrics}")
    program = system.path("usr/local/bin/job-ended")
    program.write_text(f'#!/bin/sh\necho "$DARKROOM_JOB_NAME $DARKROOM_JOB_STATE" >{STATE}/ended\n')
    program.chmod(0o755)
    folder = system.path("etc/systemd/system/darkroom.service.d")
    for index, text in enumerate(drop_ins()):
        (folder / f"test-{index}.conf").write_text(text)
    path = system.path("etc/darkroom/config.json")
    good = path.read_text()
    path.write_text(json.dumps({**json.loads(good), "outbox": f"/{outbox}", "file-root": f"/{samples}",
                                "metrics": f"/{metrics}/darkroom.prom", "exec": "/usr/local/bin/job-ended"}))
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
    ended = system.path(f"{STATE}/ended")
    wait_for(lambda: ended.exists() and ended.read_text() == "slow succeeded\n", "the program of --exec")
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
    packages, digests = [], []
    for revision in (2, 1, 1):
        made = make_package(program, revision)
        digests.append(hashlib.sha256(made.read_bytes()).digest())
        done = subprocess.run(["lintian", "--fail-on=error,warning", made.with_suffix(".changes")],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        expect(done.returncode == 0, f"lintian: {done.stdout}")
        shutil.copy(made, system.path("root"))
        packages.insert(0, f"/root/{made.name}")
    expect(digests[1] == digests[2], "the same tree has made two different packages")
    older, newer = packages[0], packages[2]
    say(f"{older}, {newer}: lintian has nothing to say; {time.monotonic() - began:.0f} s")
    try:
        test_image(system, folder, system.path(newer))
        say(f"the image of Packaging/Containerfile; {time.monotonic() - began:.0f} s")
    except Unavailable as why:
        say(f"the image: SKIPPED: {why}")
    test_chroot(system, folder, older, newer)
    try:
        with Booted(system.folder) as booted:
            try:
                test_systemd(booted, folder, older, newer)
            except AssertionError:
                say(booted.run("journalctl", "--no-pager", "--lines=40", "--unit=darkroom*", check=False))
                raise
    except Unavailable as why:
        say(f"with systemd: SKIPPED: {why}")
    say(f"all is well after {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
