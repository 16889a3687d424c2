"""What script/chaos has the program do: jobs, one or two of them with an earlier run, and what must come of them."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scenario:
    """Jobs that are run together. In their texts HTTP stands for the URL of a server that has the sources."""

    # By the file's name in the inbox.
    manifests: dict
    # Manifests of runs that came before: some results are replaced, some stay, some are new.
    earlier: dict
    # What the jobs come to, if nobody is to blame: names of entries, and `filtered` or the code of their error.
    expected: dict
    # Jobs that are rejected, with the code of the problem.
    rejected: dict = field(default_factory=dict)
    # Files beside the pictures, which manifests name as their sources.
    lists: dict = field(default_factory=dict)
    # Manifests that take the place of those of their names as soon as these have a row, under `watch`.
    replacements: dict = field(default_factory=dict)
    # Names of entries, by jobs: those of the manifest that is replaced.
    replaced: dict = field(default_factory=dict)

    @property
    def jobs(self):
        return sorted(set(self.expected) | set(self.rejected))

    @property
    def statuses(self):
        """The exit codes of a run that ends everything, or finds it ended."""
        return {0, 1, 65} if self.rejected else {0, 1}

    def earlier_runs(self, job):
        """How many reports there may be in the history of a job."""
        count = sum(name.split(".")[0] == job for name in self.earlier)
        # A manifest of which nothing has ended when it is replaced has no report.
        return {count, count + 1} if job in self.replaced else {count}


ENTRIES = Scenario(
    manifests={
        "a.txt": "astronaut.jpg\nchelsea.jpg\nmissing.jpg\ncoffee.jpg\n",
        "b.jsonl": '{"url": "chelsea-small.png", "filters": "sepia(0.8)", "name": "s", "metadata": {"id": 1}}\n"rocket.jpg"\n'
                   '{"url": "coffee.jpg", "name": "after", "after": ["gone", "s"]}\n{"url": "missing.jpg", "name": "gone"}\n'
                   '{"url": "coffee.jpg", "name": "last", "after": "s"}\n',
        "c.csv": "url,name\ncoffee.jpg,x/one\nmissing.jpg,two\nrocket.jpg,three\nHTTP/rocket.jpg,four\nHTTP/chelsea.jpg,five\n",
    },
    # One result is replaced, one stays, one is new.
    earlier={"c.csv": "url,name\ncoffee.jpg,x/one\nastronaut.jpg,three\nmissing.jpg,two\nrocket.jpg,four\n"},
    expected={
        "a": {"astronaut": "filtered", "chelsea": "filtered", "missing": "file-not-found", "coffee": "filtered"},
        "b": {
            "s": "filtered", "rocket": "filtered", "after": "dependency-failed", "gone": "file-not-found", "last": "filtered"},
        "c": {"x/one": "filtered", "two": "file-not-found", "three": "filtered", "four": "filtered", "five": "filtered"},
    })

SOURCES = Scenario(
    manifests={
        "a.json": '{"source": "HTTP/a.csv", "defaults": {"quality": 70}}',
        "b.json": '{"source": "file:incoming/*.jpg"}',
        "c.json": '{"source": "HTTP/list"}',
        "d.json": '{"source": "HTTP/gone.txt"}',
    },
    # One folder has more than what was listed before; one list has not changed.
    earlier={"b.json": '{"source": "file:incoming/c*.jpg"}', "c.json": '{"source": "HTTP/list"}'},
    expected={
        "a": {"x/one": "filtered", "two": "scheme-not-allowed", "three": "filtered"},
        "b": {"astronaut": "filtered", "chelsea": "filtered", "coffee": "filtered"},
        "c": {"s": "filtered", "rocket": "filtered"},
    },
    rejected={"d": "source-failed"},
    lists={
        "a.csv": "url,name\nHTTP/coffee.jpg,x/one\nmissing.jpg,two\nHTTP/rocket.jpg,three\n",
        "list": '{"url": "HTTP/chelsea-small.png", "filters": "sepia(0.8)", "name": "s"}\n"HTTP/rocket.jpg"\n',
    })

# What the server has in `slow` takes some time.
REPLACED = Scenario(
    manifests={"a.csv": "url,name,quality\ncoffee.jpg,first,70\n" + "".join(
        f"HTTP/slow/{picture}.jpg,n{number},70\n" for number, picture in enumerate(["coffee", "rocket", "chelsea", "astronaut"]))
        + "rocket.jpg,last,70\n"},
    replacements={"a.csv": "url,name,quality\nchelsea.jpg,new,70\nHTTP/slow/rocket.jpg,n1,70\nHTTP/slow/coffee.jpg,n0,70\n"
                  "HTTP/slow/astronaut.jpg,n3,60\ncoffee.jpg,first,70\n"},
    replaced={"a": {"first", "n0", "n1", "n2", "n3", "last"}},
    earlier={},
    expected={"a": {name: "filtered" for name in ("new", "n0", "n1", "n3", "first")}})

SCENARIOS = {"entries": ENTRIES, "sources": SOURCES, "replaced": REPLACED}
