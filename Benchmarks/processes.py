"""Runs contenders of the benchmarks as whole processes, and measures them."""
import collections, dataclasses, json, os, pathlib, subprocess, sys

MEASURED = pathlib.Path(__file__).resolve().with_name("measured.py")


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
    with open(log, "wb") as errors:
        began, wall, cpu, peak, status = measured(command, limit, cwd=folder, env=environment, stderr=errors)
    return Ended(began, wall, cpu, peak, None if wall >= limit else status, log.read_text(errors="replace"))


def measured(command, limit=1e6, **options):
    """Runs a command: when it began, seconds of wall time and CPU, its own peak in MiB, its exit status.

    Options are those of `subprocess.Popen`. The command is killed after `limit` seconds, and when this is interrupted.
    """
    reading, writing = os.pipe()
    with open(reading, "rb") as told:
        starter = subprocess.Popen([sys.executable, "-S", MEASURED, str(writing), str(limit), *map(str, command)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[writing], **options)
        os.close(writing)
        try:
            numbers = told.read().split()
        finally:
            starter.terminate()
            starter.wait()
    began, wall, cpu, peak = map(float, numbers[:4])
    return began, wall, cpu, peak / 1024, int(numbers[4])


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
