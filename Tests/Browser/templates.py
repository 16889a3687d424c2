"""Fills the pages' templates as the program does: with data that no program writes, and for a program that writes none."""
import datetime
import html
import json
import pathlib
import urllib.parse

from PIL import Image

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/Gallery"
ESCAPES = {character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def template(name):
    """A page's template with the style and the script that both pages have."""
    text = (PAGES / name).read_text()
    return text.replace("/*STYLE*/", (PAGES / "page.css").read_text(), 1).replace("/*SCRIPT*/", (PAGES / "page.js").read_text(), 1)


def page(name, title, data):
    text = json.dumps(data, ensure_ascii=False)
    for character, escape in ESCAPES.items():
        text = text.replace(character, escape)
    whole = template(name).replace("<!--TITLE-->", html.escape(title))
    return whole.replace("/*DATA*/", text, 1)


def row(folder, entry):
    """A row of the report, with the original and the preview that there are."""
    if original := entry.get("source", {}).get("file"):
        entry["original"] = original
    output = entry.get("output")
    if output and output["width"] * output["height"] > 4e6:
        preview = folder / "previews" / (pathlib.Path(output["file"]).stem + ".jpg")
        preview.parent.mkdir(exist_ok=True)
        picture = Image.open(folder / output["file"]).convert("RGB")
        picture.thumbnail((1024, 1024))
        picture.save(preview)
        entry["preview"] = str(preview.relative_to(folder))
    return entry


def fill(outbox, status):
    """Writes the pages of an outbox and its jobs."""
    live = {job["job"]: job for job in status["jobs"]}
    jobs = []
    for folder in sorted(path for path in outbox.iterdir() if path.is_dir() and not path.name.startswith(".")):
        if folder.name in live:
            jobs.insert(0, live_job(folder, live[folder.name], status))
        elif (folder / "report.json").exists():
            jobs.append(ended_job(folder))
    ended = sorted((job for job in jobs if "finished_at" in job), key=lambda job: job["finished_at"], reverse=True)
    data = {"page": "outbox", "version": 1, "written_at": now(), "instance": {"is_running": status["running"]},
            "jobs": [job for job in jobs if "finished_at" not in job] + ended, "has_older": False,
            "ignored": status["ignored"], "inbox": status["inbox"]}
    put(outbox, page("outbox.html", "Outbox", data))


def now():
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def put(folder, text):
    (folder / ".index.html.part").write_text(text)
    (folder / ".index.html.part").rename(folder / "index.html")


def outbox_row(folder, state, **more):
    path = urllib.parse.quote(folder.name)
    return {"name": folder.name, "state": state, "page": f"{path}/index.html", "report": f"{path}/report.json", **more}


def ended_job(folder):
    report = json.loads((folder / "report.json").read_text())
    entries = [row(folder, entry) for entry in report.pop("entries")]
    put(folder, page("job.html", report["job"], {
        "page": "job", "version": 1, "head": report, "entries_total": len(entries), "entries": entries[:20000]}))
    return outbox_row(folder, report["state"], started_at=report["started_at"], finished_at=report["finished_at"],
                      counts=report["counts"], problems=report.get("errors", []))


def live_job(folder, job, status):
    lines = (folder / "entries.jsonl").read_text().splitlines() if (folder / "entries.jsonl").exists() else []
    entries = sorted((row(folder, json.loads(line)) for line in lines), key=lambda entry: entry["index"])
    counts = {key: job.get(key, 0) for key in ("total", "filtered", "failed", "cancelled")} | {"reused": 0}
    paused = next((pause.get("reason") or pause["cause"] for pause in status["pauses"]), None)
    live = {"ended": len(entries), "total": job.get("total")} | ({"paused": paused} if paused else {})
    put(folder, page("job.html", folder.name, {
        "page": "job", "version": 1, "refresh_s": 2, "live": live, "entries_total": len(entries), "entries": entries,
        "head": {"job": folder.name, "run_id": job["run_id"], "state": job["state"], "counts": counts}}))
    return outbox_row(folder, job["state"], ended=len(entries), total=job.get("total"), failed=job.get("failed", 0),
                      rate=job.get("rate", 0), **({"remaining_s": job["seconds_left"]} if "seconds_left" in job else {}))
