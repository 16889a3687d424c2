"""A Debian system of its own in a folder: made by debootstrap, entered by chroot, and booted with systemd in namespaces."""
import os
import pathlib
import shutil
import subprocess
import time

SUITE = "bookworm"
ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}

# The units of a start that the tests need. The others would change the machine itself: kernel parameters, file systems.
NEEDED = {"systemd-journald.service", "systemd-tmpfiles-setup.service"}

# Runs as the first process of the namespaces. /proc is that of the folder.
BOOT = """
set -e
root=$1
mount --rbind "$root" "$root"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro none "$root/sys"
mount -t cgroup2 none "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 none "$root/run"
mount -t tmpfs -o mode=755 none "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
touch "$root/dev/console"
mount --bind "$(tty)" "$root/dev/console"
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 none "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
ip link set lo up
cd "$root"
pivot_root . .
umount --lazy .
exec chroot . /usr/bin/env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=console
"""


class Unavailable(Exception):
    """This machine cannot do it."""


def mirror():
    """Where the machine's own packages of this release come from."""
    done = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        suite, component, address = line.split()
        if (suite, component) == (SUITE, "main"):
            return address
    raise Unavailable(f"apt of this machine knows no mirror of {SUITE}")


class Debian:
    """A system in a folder. Mounts are those of this process, which has a namespace of mounts of its own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def install(self, packages):
        """Makes the system, with these packages besides the most necessary ones."""
        if not shutil.which("debootstrap", path=ENVIRONMENT["PATH"]):
            raise Unavailable("there is no debootstrap: script/bootstrap system installs it")
        words = ["debootstrap", "--variant=minbase", "--include=" + ",".join(packages), SUITE, str(self.folder), mirror()]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=dict(os.environ, **ENVIRONMENT))
        if done.returncode != 0:
            raise Unavailable("debootstrap could not make a system: " + " ".join(done.stdout.splitlines()[-2:]))
        # As this machine reaches the mirror, and that it does not insist on what this one does not.
        settings = subprocess.run(["apt-config", "dump", "Acquire"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.path("etc/apt/apt.conf.d/90test").write_text(settings)
        subprocess.run(["mount", "-t", "proc", "none", self.path("proc")], check=True)

    def path(self, name):
        return self.folder / str(name).lstrip("/")

    def entry(self):
        """Words that run the ones after them in the system."""
        return ["chroot", str(self.folder)]

    def start(self, *words, **options):
        return subprocess.Popen([*self.entry(), *words], env=ENVIRONMENT, stdin=subprocess.DEVNULL, **options)

    def run(self, *words, check=True):
        """Runs a program, and returns what it printed."""
        done = subprocess.run([*self.entry(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout


class Booted(Debian):
    """The system of a folder, booted with systemd, without a network but its own loopback."""

    def __init__(self, folder):
        super().__init__(folder)
        self.group = f"darkroom-test-{os.getpid()}"
        self.groups = pathlib.Path(f"{folder}.cgroup")
        self.process = None
        self.console = b""

    def __enter__(self):
        names = {"systemd-remount-fs.service"}
        for wants in [*self.path("lib/systemd/system").glob("*.wants"), *self.path("etc/systemd/system").glob("*.wants")]:
            names |= {unit.name for unit in wants.iterdir() if unit.suffix in (".service", ".mount", ".automount", ".timer")}
        for name in names - NEEDED:
            mask = self.path("etc/systemd/system") / name
            if not name.startswith("darkroom") and not mask.is_symlink():
                mask.symlink_to("/dev/null")
        self.groups.mkdir(exist_ok=True)
        subprocess.run(["umount", self.path("proc")], check=True)
        subprocess.run(["mount", "-t", "cgroup2", "none", self.groups], check=True)
        try:
            (self.groups / self.group).mkdir()
            self.boot()
        except OSError as error:
            self.__exit__()
            raise Unavailable(f"systemd cannot be booted here: {error}") from error
        return self

    def boot(self):
        self.terminal, console = os.openpty()

        def prepare():
            (self.groups / self.group / "cgroup.procs").write_text("0")
            os.setsid()  # The terminal of this one is not the system's, which hangs its own up.

        self.unshare = subprocess.Popen(
            ["unshare", "--cgroup", "--ipc", "--mount", "--net", "--pid", "--uts", "--fork", "--kill-child",
             f"--mount-proc={self.path('proc')}", "bash", "-c", BOOT, "boot", str(self.folder)],
            stdin=console, stdout=console, stderr=console, preexec_fn=prepare, env=ENVIRONMENT)
        os.close(console)
        os.set_blocking(self.terminal, False)
        end = time.monotonic() + 60
        while time.monotonic() < end and self.unshare.poll() is None:
            self.read_console()
            children = pathlib.Path(f"/proc/{self.unshare.pid}/task/{self.unshare.pid}/children").read_text().split()
            if children:
                self.process = children[0]
                if self.is_booted():
                    return
            time.sleep(0.2)
        text = self.console.decode(errors="replace").strip().splitlines()
        why = "it did not start within 60 s" if self.unshare.returncode is None else "it ended"
        raise OSError(f"{why}; its last words: {' '.join(text[-3:])}")

    def is_booted(self):
        if pathlib.Path(f"/proc/{self.process}/comm").read_text().strip() != "systemd":
            return False
        return self.run("systemctl", "is-system-running", check=False).strip() in ("running", "degraded")

    def read_console(self):
        """Keeps what the system prints, so that it never waits for a reader."""
        try:
            while chunk := os.read(self.terminal, 65536):
                self.console += chunk
        except OSError:
            pass

    def entry(self):
        self.read_console()
        return ["nsenter", "--target", self.process, "--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup", "--root",
                "--wd", "--"]

    def network(self):
        """Words that run the ones after them in the system's network, with the files of this one."""
        return ["nsenter", "--target", self.process, "--net", "--"]

    def __exit__(self, *_):
        if self.process:
            subprocess.run(["kill", "-KILL", self.process], check=False)
            self.unshare.wait()
            os.close(self.terminal)
        for group in sorted((self.groups / self.group).rglob("*/"), reverse=True):
            group.rmdir()
        if (self.groups / self.group).exists():
            (self.groups / self.group).rmdir()
        subprocess.run(["umount", self.groups], check=True)
        self.groups.rmdir()
