"""The model: what must have come of a sequence, whatever happened when.

Of a manifest each row has one outcome, which follows from the manifest alone: `filtered`, or the code of its failure. A manifest
that was dropped has one report at most. It is

- complete, each row with its outcome, unless the manifest or a later one was removed or cancelled: then rows may be cancelled;
- `superseded`, if a later manifest took its place: then it has rows for what ended, at least one, each with its outcome;
- `rejected`, if the manifest is not valid, and then that is all that comes of it;
- `cancelled` without rows, if that was before it was known what its source lists.

The last manifest has a report unless it was removed, or is that of a run that had not ended, once more; an earlier one has none if nothing of it had ended when its place was
taken. Each row that the program told of is in a report. What was filtered once is in the outbox; with `--prune` only what the
last report lists, if all of that succeeded. What is the same in all manifests is downloaded once, and again only for what
interrupted it.
"""
import collections
import datetime
import hashlib
import json
import os
import threading

from picture_server import DIGESTS, FILES, list_path

CODES = {"missing": "http-status", "text": "not-an-image"}

# The digest of each result, by its picture, recipe and format: the same everywhere.
digests = {}
digests_lock = threading.Lock()


def kind(url):
    return FILES[url.split("/")[-1].removesuffix(".png")] if url.startswith("./") else url.split("/")[-2]


def outcomes(entries):
    """The outcome of each row of a manifest, by name and variant, in the order of the report."""
    by_name = {entry["name"]: entry for entry in entries}

    def variant(entry, number):
        if any(set(of_entry(by_name[name])) != {"filtered"} for name in entry.get("after", [])):
            return "dependency-failed"
        if failure := CODES.get(kind(entry["url"])):
            return failure
        return "image-too-large" if number is not None and entry["variants"][number]["name"] == "bad" else "filtered"

    def of_entry(entry):
        numbers = range(len(entry["variants"])) if "variants" in entry else [None]
        return [variant(entry, number) for number in numbers]

    rows = {}
    for entry in entries:
        names = [variant["name"] for variant in entry.get("variants", [])] or [None]
        rows |= {(entry["name"], name): outcome for name, outcome in zip(names, of_entry(entry))}
    return rows


def works(entries):
    """What is done for each row of a manifest: where it is the same in two manifests the second reuses what the first made."""
    rows = {}
    for entry in entries:
        for variant in entry.get("variants", [{}]):
            merged = entry | variant
            rows[entry["name"], variant.get("name")] = (
                entry["url"], merged.get("filters", "sepia(0.8)"), merged.get("format", "keep"))
    return rows


def check(trial):
    """What is wrong, as texts that begin with the kind of it and a colon."""
    found = []
    reports = {job: check_job(trial, job, puts, found) for job, puts in trial.puts.items()}
    check_requests(trial, reports, found)
    for job, puts in trial.puts.items():
        check_files(trial, job, puts, reports[job], found)
    return found


def read_reports(trial, job, puts, found):
    """The reports of a job, by the places of their manifests in `puts`; the newest must be the last of them."""
    folder = f"{trial.outbox}/{job}"
    history = sorted(os.listdir(folder + "/history")) if os.path.isdir(folder + "/history") else []
    paths = [f"{folder}/history/{run}/report.json" for run in history] + [folder + "/report.json"]
    reports, last = {}, -1
    for path in paths:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        # A manifest that was retried is there twice.
        began = datetime.datetime.fromisoformat(report["started_at"]).timestamp() * 1000
        number = max(
            number for number, put in enumerate(puts)
            if put.sha256 == report["manifest"]["sha256"] and put.wall <= began + 1)
        if number in reports:
            found.append(f"report-twice: manifest {number} of {job} has two reports")
        reports[number] = report
        # Runs that began in the same millisecond are in no order.
        if number < last and path == paths[-1]:
            found.append(f"report-order: the newest report of {job} is of manifest {number}, and {last} has one")
        # One whose list was not there yet may have ended for the next, which was rejected in the end.
        last = max(last, number if puts[number].is_valid and has_list(puts[number], report) else -1)
    return dict(sorted(reports.items()))


def check_job(trial, job, puts, found):
    reports = read_reports(trial, job, puts, found)
    # A program that was killed may have said nothing of a report, and another that it had written it again.
    if len(trial.interruptions) == 1 and (told := trial.told().count(job)) != len(reports):
        found.append(f"report-lost: of {told} reports of {job} there are those of manifests {list(reports)}")
    rows = sum(row["state"] == "filtered" for report in reports.values() for row in report["entries"])
    if len(trial.interruptions) == 1 and (told := trial.told_rows(job)) != rows:
        found.append(f"row-lost: of {told} rows of {job} that were filtered, {rows} are in the reports")
    for number, put in enumerate(puts):
        is_last = number == len(puts) - 1
        if number in reports:
            check_report(trial, job, number, puts, reports, found)
        elif not put.removed and (put.settled or is_last) and not any(covers(report, put) for report in reports.values()):
            found.append(f"report-missing: manifest {number} of {job} has no report, those that have one are {list(reports)}")
    return reports


def covers(report, put):
    """Whether a report of an earlier manifest is that of this one, too: it has the same bytes, which are no replacement, and was
    dropped while the run of the earlier one had not ended, as after a kill."""
    ended = datetime.datetime.fromisoformat(report["finished_at"]).timestamp() * 1000
    return report["manifest"]["sha256"] == put.sha256 and ended >= put.wall


def has_list(put, report):
    """Whether it was known what the entries of a manifest are."""
    return not put.source or "source" in report["manifest"]


def check_report(trial, job, number, puts, reports, found):
    put, report = puts[number], reports[number]
    wrong = lambda kind, text: found.append(f"{kind}: manifest {number} of {job}, {report['state']}: {text}")
    may_cancel = any(other.removed or other.cancelled for other in puts[number:])
    if not has_list(put, report) and report["state"] == "cancelled":
        if report["entries"] or not may_cancel:
            wrong("report-state", f"{len(report['entries'])} rows before its source was there")
        return
    if not put.is_valid or report["state"] == "rejected":
        if put.is_valid or report["state"] != "rejected" or report["entries"]:
            wrong("report-state", f"the manifest is {'' if put.is_valid else 'not '}valid")
        return
    expected, mine = outcomes(put.entries), works(put.entries)
    rows = {(row["name"], row.get("variant")): row for row in report["entries"]}
    state = report["state"]
    if state == "superseded":
        # One that was removed when it had been planned has none.
        if not any(puts[other].is_valid and (other in reports or puts[other].removed) for other in range(number + 1, len(puts))):
            wrong("report-state", "no later manifest has a report")
        if not rows or report["counts"]["total"] != len(expected):
            wrong("report-state", f"{len(rows)} of {report['counts']['total']} rows, and {len(expected)} entries and variants")
    else:
        if list(rows) != list(expected):
            wrong("row-missing", f"it has rows of {list(rows)}, not {list(expected)}")
        if state == "cancelled" and not may_cancel:
            wrong("report-state", "nobody has removed or cancelled it")
    indexes = {entry["name"]: index for index, entry in enumerate(put.entries)}
    urls = {entry["name"]: entry["url"].replace("URL", trial.url) for entry in put.entries}
    for key, row in rows.items():
        if key not in expected:
            wrong("row-unknown", f"{key}")
            continue
        if row["index"] != indexes[key[0]] or row["url"] != urls[key[0]]:
            wrong("row-wrong", f"{key} has index {row['index']} and URL {row['url']}")
        if row["state"] == "cancelled" and state == "cancelled":
            continue
        outcome = row.get("error", {}).get("code", row["state"])
        if outcome != expected[key]:
            wrong("row-outcome", f"{key} is {outcome}, not {expected[key]} ({row.get('error', {}).get('message', '')})")
        if row["state"] == "filtered":
            is_last = number == max(other for other in reports if puts[other].is_valid)
            check_result(trial, job, key, row, mine[key], is_last or "--prune" not in trial.sequence["options"], wrong)


def check_result(trial, job, key, row, work, is_there, wrong):
    url, recipe, form = work
    name = ".".join(part for part in key if part)
    extension = {"keep": "png"}.get(form, form)
    if row["output"]["file"] != f"images/{name}.{extension}" or row["filters"] != recipe:
        wrong("row-wrong", f"{key} is {row['output']['file']} with {row['filters']}")
    if is_there and not os.path.exists(f"{trial.outbox}/{job}/{row['output']['file']}"):
        wrong("result-missing", f"{key} was filtered")
    if row["source"]["sha256"] != DIGESTS[kind(url)]:
        wrong("source-wrong", f"{key} was made of another source")
    with digests_lock:
        known = digests.setdefault((kind(url), recipe, form), row["output"]["sha256"])
    if known != row["output"]["sha256"]:
        wrong("result-wrong", f"{key} is another picture than elsewhere")


def check_files(trial, job, puts, reports, found):
    """Whether there are the results and originals that the options say, and no others."""
    options, folder = trial.sequence["options"], f"{trial.outbox}/{job}"
    number = max((number for number in reports if puts[number].is_valid), default=None)
    if number is None:
        return
    rows = [row for row in reports[number]["entries"] if row["state"] == "filtered"]
    if "--prune" in options and rows and reports[number]["state"] == "succeeded":
        files = {f"images/{name}" for name in os.listdir(folder + "/images")}
        if left := files - {row["output"]["file"] for row in rows}:
            found.append(f"prune: {job} has {sorted(left)} of earlier runs")
    if "--keep-originals" not in options:
        return
    for row in reports[number]["entries"]:
        file = row.get("source", {}).get("file")
        if row["state"] == "filtered" and file is None or file and digest(f"{folder}/{file}") != row["source"]["sha256"]:
            found.append(f"original: {job} has not that of {row['name']}: {file}")


def digest(path):
    """The SHA-256 of a file; None when it is not there."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def source_path(trial, put):
    """The path at which the server is asked for the list of a manifest; None when it is not."""
    if not put.source or put.source == "folder":
        return None
    kind, milliseconds = put.source.split("/")
    lines = "\n".join(json.dumps(entry) for entry in put.entries)
    path = list_path(lines, milliseconds) if kind == "list" else put.source
    return f"{trial.url}/{put.job}/{path}".removeprefix(trial.server.url)


def shown(path):
    """A path without what a list says."""
    return "/".join(part if len(part) < 20 else "…" for part in path.split("/"))


def check_requests(trial, reports, found):
    """Whether nothing was asked for in vain, or while the queues were suspended."""
    has_cache = "--cache-size" not in trial.sequence["options"]
    # How often the picture of each path may be downloaded, and what may be asked for.
    allowed, known = {}, set()
    for job, puts in trial.puts.items():
        before = {}
        for number, put in enumerate(puts):
            if path := source_path(trial, put):
                interruptions = sum(time > put.time for time in trial.interruptions[:-1])
                allowed[path] = allowed.get(path, 0) + 1 + interruptions
                known.add(path)
            if not put.is_valid:
                continue
            rows, ends = {}, outcomes(put.entries)
            for key, work in works(put.entries).items():
                if work[0].startswith("./"):
                    continue
                rows.setdefault(work[0].replace("URL", trial.url).removeprefix(trial.server.url), {})[key] = work
            # Without a cache the run that takes the place of another knows what that has made, and no later one. What failed
            # is tried again, and so are variants that waited for the download of the first.
            takes_place = all(report["state"] == "superseded" for other, report in reports[job].items() if other < number)
            known |= set(rows)
            for path, work in rows.items():
                if path not in allowed:
                    allowed[path] = 1 + sum(time > put.time for time in trial.interruptions[:-1])
                    allowed[path] += sum(later.removed + later.cancelled for later in puts)
                elif before.get(path) != work or not (
                        has_cache and kind(path) != "bare" or takes_place and [ends[key] for key in work] == ["filtered"]):
                    allowed[path] += 1
            before = rows
    bodies = collections.Counter(request.path for request in trial.requests if request.status in (200, 206))
    for path in {request.path for request in trial.requests}:
        if path not in known:
            found.append(f"request-unknown: {shown(path)} was asked for, and is in no manifest")
        elif kind(path) not in CODES and bodies[path] > allowed[path]:
            found.append(f"request-twice: {shown(path)} was downloaded {bodies[path]} times, and {allowed[path]} would do")
    for window in trial.windows:
        count = sum(window.start < request.time < window.end for request in trial.requests)
        if count > window.limit:
            found.append(f"request-paused: {count} requests {window.why} ({window.limit})")


