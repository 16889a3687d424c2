"""The parts of script/test-system: what each runs, by default and with --all, and its limit of time."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    name: str
    # What it checks.
    title: str
    # Commands, run one after the other; PROGRAM and SEED are replaced.
    commands: tuple
    # With --all; none: the same.
    all_commands: tuple = ()
    # After how many seconds it is taken for one that hangs, by default and with --all: much more than it needs.
    limit: int = 900
    all_limit: int = 7200
    # It waits more than it computes, and runs beside the parts that compute.
    waits: bool = False
    # Only with --all, or by its name.
    is_long: bool = False


def chaos(*words):
    return ("script/chaos", "--program", "PROGRAM", "--seed", "SEED", *words)


def cuts(*words):
    return ("script/power-cuts", "--program", "PROGRAM", "--seed", "SEED", *words)


def model(count, *words):
    return ("script/model", "--program", "PROGRAM", "--seed", "SEED", "--sequences", str(count), *words)


ERRORS = ("EIO", "EIO-read", "ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE", "EINTR")

# Tests whose arguments are a sample, see Tests/TestSupport/Sample.swift.
POINTS = "killed anywhere|at one call fails|fails once is tried again|is no damage of the ledger|leaves no part of a page"

PARTS = (
    # Those that take longest come first.
    Part("gallery", "the pages of the gallery in a browser",
         (("Tests/Browser/gallery.py", "--program", "PROGRAM"),), waits=True),
    Part("pictures", "how pictures of all formats are decoded, beside Chromium",
         (("Tests/Browser/pictures.py", "--program", "PROGRAM"),), waits=True),
    Part("terminal", "what a person sees on terminals", (("script/terminal", "--program", "PROGRAM"),), waits=True),
    Part("power-cuts", "power cuts", (cuts("--cuts", "40"),), (cuts("--cuts", "100"),), waits=True),
    Part("without-syncs", "power cuts without syncs, which must be found out",
         (cuts("--cuts", "40", "--without-syncs", "--until-wrong", "20", "reorder"),), waits=True),
    Part("completions", "completions in bash, zsh and fish",
         (("Tests/Completions/completions.py", "--program", "PROGRAM"),), waits=True),
    Part("metrics", "the file of --metrics, and the alerts on it, with Prometheus's own checker",
         (("Tests/WholeSystem/metrics", "PROGRAM"),)),
    Part("manual", "pages of the manual, as man formats them", (("Tests/Completions/man-warnings", "PROGRAM"),), waits=True),

    Part("errors", "errors at calls", (chaos("--sample", "20", *ERRORS),), (chaos(*ERRORS),)),
    Part("kills", "kills at calls, torn writes, second kills during recovery, kills of watch",
         (chaos("--sample", "300", "kill"), chaos("--sample", "60", "torn", "watch"), chaos("--sample", "100", "double")),
         (chaos("kill", "torn", "double", "watch"),)),
    Part("taken", "kills after which the job is taken away", (chaos("--sample", "80", "taken"),), (chaos("taken"),)),
    Part("sources", "kills while manifests are fetched that are listed elsewhere; with --all errors, too",
         (chaos("--scenario", "sources", "--sample", "40", "kill", "double"),), (chaos("--scenario", "sources"),)),
    Part("replaced", "kills while a manifest is replaced; with --all errors, too",
         (chaos("--scenario", "replaced", "--sample", "40", "kill"),), (chaos("--scenario", "replaced"),)),
    Part("damage", "ledgers that are damaged from outside",
         (("script/damage", "--program", "PROGRAM", "--seed", "SEED", "--trials", "20"),),
         (("script/damage", "--program", "PROGRAM", "--seed", "SEED", "--trials", "400"),)),
    Part("notices", "kills of watch while jobs end in every state: notifications, programs, metrics",
         (("script/notices", "--program", "PROGRAM", "--seed", "SEED", "--trials", "24"),),
         (("script/notices", "--program", "PROGRAM", "--seed", "SEED", "--trials", "400"),), waits=True),
    Part("drill", "manifests of thousands of entries that are replaced",
         (("script/drill", "--program", "PROGRAM"),)),
    Part("model", "random sequences of what is done to an inbox", (model(400),), (model(11000),)),
    Part("stalls", "random sequences on a disk that hangs now and then",
         (model(80, "--stalls", "30"),), (model(2000, "--stalls", "30"),), waits=True),
    Part("hangs", "signals to watch on a disk that does not answer",
         (("Tests/WholeSystem/hangs.py", "--program", "PROGRAM"),), waits=True),
    Part("counts", "instructions, allocations and system calls of fixed small jobs, which must not grow",
         (("script/bench", "counts"),), limit=2400),
    Part("points", "kills and errors at all the points of which script/test takes a sample",
         (("env", "DARKROOM_TEST_ALL=1", "TMPDIR=/var/tmp", "swift", "test", "--filter", POINTS),),
         limit=1800, all_limit=1800, is_long=True),
    Part("outages", "hosts that stop answering, in every way",
         (("Benchmarks/outage.py", "--check", "PROGRAM"),), limit=1500, all_limit=1500, is_long=True),
    Part("package", "the package and its service on a fresh Debian system, in a chroot and with systemd",
         (("Tests/WholeSystem/package.py",),), limit=2400, all_limit=2400, is_long=True),
    Part("cluster", "shards on a cluster of Slurm whose node dies, and with GNU parallel",
         (("script/bootstrap", "cluster"), ("Tests/WholeSystem/cluster.py", "--program", "PROGRAM")),
         limit=1800, all_limit=1800, is_long=True),
    Part("soak", "ten minutes of watch, in which nothing grows",
         (("Benchmarks/soak.py", "--program", "PROGRAM"),), limit=1200, all_limit=1200, is_long=True),
)
