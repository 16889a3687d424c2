"""What script/drill has recorded of a job whose manifest was replaced, and whether every promise of that was kept."""
import collections
import copy
import dataclasses

# How long a request may be under way that was made before an event was told, in seconds. What is started by mistake goes on
# being started for much longer.
UNDER_WAY = 0.5


@dataclasses.dataclass
class Record:
    """Times are in seconds of a clock that never jumps."""

    # The paths by the names of the entries, in the order of each manifest.
    manifests: list
    # The reports: those of the history in the order of their manifests (None: there is none), and the last.
    reports: list
    # Those that the servers have logged.
    requests: list
    # When it was told that the next manifest takes the place of this one, in the order of the manifests; None: never.
    replaced: list
    # When the program was killed.
    kills: list
    # When the row of an entry was told first, by its path.
    told: dict

    @property
    def paths(self):
        """Each path, with the places of the manifests that have it."""
        places = collections.defaultdict(list)
        for number, manifest in enumerate(self.manifests):
            for path in manifest.values():
                places[path].append(number)
        return places

    def left(self, number):
        """The names that manifest `number` has and the next one lacks."""
        after = self.manifests[number + 1]
        return {name for name, path in self.manifests[number].items() if after.get(name) != path}

    def asked(self):
        """How often each path was asked for."""
        return collections.Counter(request.path for request in self.requests)


def problems(record):
    """What is wrong, a sentence each."""
    return check_last(record) + check_history(record) + check_requests(record) + check_left(record)


def check_last(record):
    """The report of the last manifest has a row for each entry, in its order."""
    report, manifest = record.reports[-1], record.manifests[-1]
    names = [row["name"] for row in report["entries"]]
    if report["state"] != "succeeded" or names != list(manifest):
        missing = len(set(manifest) - set(names))
        return [f"the last report is {report['state']}, with {len(names)} rows for {len(manifest)} entries, {missing} without"]
    return []


def check_history(record):
    """Each manifest of which something had ended when it was replaced has a report, with the rows of just that. What it has made
    of what stays is reused."""
    found, asked = [], record.asked()
    for number, report in enumerate(record.reports[:-1]):
        if report is None:
            if number == 0:
                found.append("the first manifest has no report in the history")
            continue
        manifest = record.manifests[number]
        rows = {row["name"]: row for row in report["entries"]}
        if report["state"] != "superseded" or not rows:
            found.append(f"the report of manifest {number} is {report['state']}, with {len(rows)} rows")
        if len(rows) != len(report["entries"]) or not set(rows) <= set(manifest):
            found.append(f"manifest {number} has two rows for an entry, or some for others")
            continue
        if other := [name for name, row in rows.items() if row["state"] != "filtered"]:
            found.append(f"{len(other)} entries of manifest {number} are not filtered, as {min(other)}")
        if (total := report["counts"]["total"]) != len(manifest) or report["counts"]["cancelled"] != total - len(rows):
            found.append(f"the counts of manifest {number} are {report['counts']}, and it has {len(rows)} rows")
        if unasked := [name for name in rows if not asked[manifest[name]]]:
            found.append(f"{len(unasked)} entries were filtered, and never asked for, as {min(unasked)}")
    # With each report the rows that its run has made; nothing but the first manifest's has been there before.
    first, last = record.reports[0], record.reports[-1]
    made = {row["name"] for report in record.reports[:-1] if report for row in report["entries"]}
    stays = {name for name in record.manifests[-1] if name in made}
    again = [row["name"] for row in last["entries"] if row["name"] in stays and not row.get("reused")]
    if again:
        found.append(f"{len(again)} entries that an earlier run made were made again, as {min(again)}")
    told = {name for manifest in record.manifests[:1] for name, path in manifest.items()
            if record.replaced[0] and record.told.get(path, record.replaced[0]) < record.replaced[0]}
    if first and (missing := told - {row["name"] for row in first["entries"]}):
        found.append(f"{len(missing)} entries of the first manifest had ended, and have no row with it, as {min(missing)}")
    return found


def check_requests(record):
    """Nothing is asked for twice, but what was not wanted for a while, and what a kill has interrupted."""
    found, paths = [], record.paths
    times = collections.defaultdict(list)
    for request in record.requests:
        times[request.path].append(request)
    for path in sorted(set(times) - set(paths)):
        found.append(f"{path} was asked for, and is in no manifest")
    for path, places in paths.items():
        requests = times[path]
        is_wanted = places[-1] == len(record.manifests) - 1
        if is_wanted and not requests:
            found.append(f"{path} was never asked for")
        # What was under way, and not wanted for a while, is asked for again.
        allowed = 1 + sum(later - earlier > 1 for earlier, later in zip(places, places[1:]))
        allowed += sum(is_interrupted(record, path, kill) for kill in record.kills)
        if len(requests) > allowed:
            found.append(f"{path} was asked for {len(requests)} times")
        if sum(request.status == 200 for request in requests) > allowed:
            found.append(f"{path} was downloaded {len(requests)} times")
    return found


def is_interrupted(record, path, kill):
    """Whether the row of an entry had not been told when the program was killed."""
    return record.told.get(path, kill) >= kill


def check_left(record):
    """Nothing starts that has left, from the time on at which the next manifest takes the place of this one."""
    found, late = [], late_requests(record)
    if late:
        found.append(f"{len(late)} requests for what had left, as {late[0].path}")
    if record.replaced[0] is None and not record.kills:
        found.append("it was not told that the first manifest was replaced")
    return found


def late_requests(record):
    """The requests for what had left already."""
    late, paths = [], record.paths
    for number, time in enumerate(record.replaced):
        if time is None:
            continue
        gone = {record.manifests[number][name] for name in record.left(number)}
        gone = {path for path in gone if paths[path][-1] <= number}
        late += [request for request in record.requests if request.path in gone and request.time > time + UNDER_WAY]
    return late


# What the check must find out

def broken(record):
    """The record, broken in each way in which a promise can be: what is broken, and the record."""
    def change(what, edit):
        other = dataclasses.replace(
            record, requests=list(record.requests), reports=copy.deepcopy(record.reports))
        edit(other)
        return what, other

    staying = next(iter(record.manifests[-1].values()))
    first = record.requests[0]
    left = next(record.manifests[0][name] for name in sorted(record.left(0)))
    after = max(time for time in record.replaced if time) + 2 * UNDER_WAY
    yield change("a request twice", lambda other: other.requests.append(
        next(request for request in record.requests if request.path == staying)))
    yield change("a request for what left", lambda other: other.requests.append(
        dataclasses.replace(first, path=left, time=after)))
    yield change("a request for something else", lambda other: other.requests.append(
        dataclasses.replace(first, path=first.path + "0")))
    yield change("a row too few", lambda other: other.reports[-1]["entries"].pop())
    yield change("a row of the history too few", lambda other: other.reports[0]["entries"].pop(0))
    ended = {row["name"] for row in record.reports[0]["entries"]}
    yield change("a row of what has not ended", lambda other: other.reports[0]["entries"].append(
        {"name": min(set(record.manifests[0]) - ended), "state": "cancelled"}))
    yield change("a result that is made again", lambda other: next(
        row for row in other.reports[-1]["entries"] if row.get("reused")).pop("reused"))
    yield change("a report too few", lambda other: other.reports.__setitem__(0, None))
