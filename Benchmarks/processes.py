"""Runs contenders of the benchmarks as whole processes, and measures them."""
import collections, dataclasses, json, os, signal, subprocess, threading, time


@dataclasses.dataclass
class Ended:
    """How a process went: seconds of wall time and CPU, peak MiB, its exit status (None when it was stopped)."""
    began: float
    wall: float
    cpu: float
    peak: float
    status: int | None
    errors: str

    @property
    def ended(self):
        return self.began + self.wall


def run(command, folder, limit=600.0, **variables):
    """Runs a command in a folder, with its standard error in a file there; kills it and its children after `limit` seconds.

    Variables of darkroom, of proxies and of certificates are taken from its environment.
    """
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("DARKROOM_", "SSL_CERT_")) and not name.lower().endswith("_proxy")}
    environment |= {"XDG_CONFIG_HOME": str(folder), **variables}
    log = folder / "errors.log"
    began = time.time()
    with open(log, "wb") as errors:
        process = subprocess.Popen([str(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
    timer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        timer.cancel()
    wall = time.time() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    return Ended(began, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024,
                 None if wall >= limit else process.returncode, log.read_text(errors="replace"))


def darkroom(program, folder, *operands):
    """The command of a run, with inbox and outbox in the folder; operands are manifests and options."""
    for name in ("inbox", "outbox"):
        (folder / name).mkdir(exist_ok=True)
    return [program, "run", *operands, "--inbox", folder / "inbox", "--outbox", folder / "outbox", "--quiet",
            "--allow-net", "127.0.0.0/8"]


def outcomes(folder, job):
    """How many rows of a job's report are in each state, with the code of failures; nothing when there is no report."""
    path = folder / "outbox" / job / "report.json"
    entries = json.loads(path.read_bytes())["entries"] if path.exists() else []
    return collections.Counter(f"{row['state']} {row.get('error', {}).get('code', '')}".strip() for row in entries)


def words(counts):
    return ", ".join(f"{name}: {count}" for name, count in sorted(counts.items()))


def picture_times(folder):
    """When each picture beneath a folder was written, sorted; without those that aria2c has not finished."""
    return sorted(path.stat().st_mtime for path in folder.rglob("*.jpg")
                  if ".darkroom" not in path.parts and not path.with_name(path.name + ".aria2").exists())
