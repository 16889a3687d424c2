"""Checks of pages with data that no program has written, or in states that do not last."""
import datetime
import pathlib
import tempfile
import types

import templates

AT = "2026-03-01T06:30:10.000Z"
REMEDY = "the picture is not there: correct the URL, or remove the entry"
ROWS = [{"index": number, "name": f"e{number}", "state": "failed", "url": "https://example.com/", "filters": "none",
         "error": {"stage": "download", "code": "http-status", "http_status": 404, "message": "no", "retryable": False},
         "timings_ms": {"queued": 0.236, "download": 999.7},
         "metadata": {"title": "<b>cat</b>", "tags": ["a", {"deep": None}], "page": "https://example.com/1"}} for number in range(4)]
PROBLEMS = [{"code": "unknown-field", "message": f"no field <{number}>", "where": "a.ulr"} for number in range(22)]
# A failure behind an answer, whose status is not the failure.
REDIRECTED = {**ROWS[0], "error": {"stage": "download", "code": "too-many-redirects", "http_status": 302, "message": "no",
                                   "retryable": False}}
# Pages that the program writes in states which do not last.
MADE_PAGES = {
    "rejected": ("job.html", {
        "head": {"job": "all", "state": "failed"}, "entries": ROWS, "entries_total": 4, "report": "history/r/report.json",
        "remedies": {"http-status (404)": REMEDY}, "rejected": {"manifest": {"file": "all.json"}, "finished_at": AT, "errors": PROBLEMS}}),
    "redirected": ("job.html", {
        "head": {"job": "all", "state": "failed"}, "entries": [REDIRECTED], "entries_total": 1,
        "remedies": {"too-many-redirects": "give the final URL"}}),
    "ended": ("job.html", {
        "head": {"job": "left", "state": "running"}, "live": {"ended": 3, "total": 7, "paused": "x.lock"}, "written_at": AT,
        "entries": ROWS, "entries_total": 4}),
    "stale": ("job.html", {
        "head": {"job": "left", "state": "running"}, "live": {"ended": 3, "total": 7, "paused": "x.lock"}, "written_at": AT,
        "entries": ROWS, "entries_total": 4, "refresh_s": 2, "stale_after_s": 30}),
    "stale-outbox": ("outbox.html", {
        "jobs": [{"name": "left", "state": "running", "ended": 3, "total": 7, "rate": 2.5, "remaining_s": 60},
                 {"name": "odd", "state": "succeeded", "finished_at": AT, "counts": {"total": 3, "filtered": 3}, "warnings": 2,
                  "page": "odd/index.html"}],
        "paused": "x.lock", "written_at": AT, "instance": {"is_running": True}, "stale_after_s": 30}),
}


class MadePages:
    """Checks for `Checks` of gallery.py."""

    def made_page(self, template, data, **form):
        """A tab with a page of data that no program has written."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / "outbox/job").mkdir(parents=True)
        place = folder / "outbox" / ("job" if template == "job.html" else ".")
        (place / "index.html").write_text(templates.page(template, "<b>&amp;</title><script>alert(8)</script>", data))
        page = self.browser.page(**form)
        page.outbox = types.SimpleNamespace(path=place)
        page.open((place / "index.html").as_uri())
        page.wait_until_drawn()
        return page

    def check_untrusted_data(self):
        """Paths and links that the program never writes lead nowhere."""
        files = ["../../secret.jpg", "/etc/passwd", "images/../../x.jpg", "https://example.com/x.jpg", "//example.com/x.jpg",
                 "file:///etc/passwd", "javascript:alert(9)", "images//x.jpg", "..", "", "images/%2e%2e/%2e%2e/x.jpg", "\\\\host\\x"]
        links = ["javascript:alert(10)", "data:text/html,<script>alert(11)</script>", "vbscript:x", " javascript:alert(12)",
                 "ftp://example.com/", "file:///etc/passwd", "//example.com", "JaVaScRiPt:alert(13)"]
        entries = [{"index": number, "name": f"entry {number}", "state": "filtered", "url": links[number % len(links)],
                    "final_url": links[(number + 1) % len(links)], "filters": "none", "priority": "normal", "attempts": 1,
                    "output": {"file": file, "width": 4, "height": 3, "bytes": 5, "format": "jpeg", "sha256": "0"},
                    "source": {"bytes": 5, "sha256": "0"}, "original": files[-1 - number], "preview": file,
                    "warnings": [{"code": "<b>damage</b>", "message": "<i>"}] if number == 0 else None}
                   for number, file in enumerate(files)]
        page = self.made_page("job.html", {"head": {"job": "<b>x</b>", "state": "<i>"}, "entries": entries, "entries_total": 12})
        for number in range(len(files)):
            page.run(f"location.hash = 'open={number}'")
            page.wait(f"viewer.open && title.textContent === 'entry {number}'")
            away = page.run("[...document.links].filter((link) => link.id !== 'up' && !link.href.startsWith(new URL('.', location).href))"
                            ".map((link) => link.href)")
            assert not away, f"{files[number]}: {away}"
        marked = page.run("[...document.querySelectorAll('.tile')].map((tile) => tile.textContent.includes('⚠ with warnings: <b>damage</b>; '))")
        assert marked[0] and not any(marked[1:]), marked
        page.problems = [text for text in page.problems if "ERR_FILE_NOT_FOUND" not in text]
        self.finish(page)
        jobs = [{"name": link, "state": "failed", "page": link, "report": link} for link in links + files[:7]]
        page = self.made_page("outbox.html", {"jobs": jobs, "has_older": True, "ignored": []})
        assert page.run("[...document.links].map((link) => link.href)") == [], "a link leads out of the outbox"
        assert "newest 15 jobs" in page.run("document.body.innerText")
        self.finish(page)

    def check_words(self):
        """What is said of pauses, warnings, what bounded a run, and what is not there."""
        rows = [{"index": number, "name": f"entry {number}", "state": "cancelled", "url": "https://example.com/<b>",
                 "filters": "none", "priority": "high", "attempts": 0} for number in range(20_000)]
        at = "2026-03-01T06:30:10.000Z"
        head = {"job": "large", "state": "partial", "counts": {"total": 10 ** 6, "filtered": 5, "failed": 0, "cancelled": 3, "reused": 2},
                "bytes": {"downloaded": 64474, "written": 10 ** 12}, "started_at": at, "finished_at": at, "duration_s": 4000.5,
                "paused_s": 60.25, "pauses": [{"cause": "lock", "lock": "<b>.lock", "reason": "backup", "from": at, "to": at}],
                "warnings": [{"code": "same-source", "message": "the <same>", "where": "entry 1"}],
                "bounded_by": [{"cause": "host", "name": "https://example.com", "share": 0.63, "option": "--per-host"}]}
        page = self.made_page("job.html", {"head": head, "entries": rows, "entries_total": 10 ** 6})
        page.run("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
        text = page.run("document.body.innerText")
        for part in ("20,000 of 1,000,000 entries", "report.json", "1 h 6 min", "1 min 0 s", "5, 2 reused", "64.5 kB", "1 TB",
                     "lock · <b>.lock · backup", "same-source the <same> – entry 1",
                     "63 % the limit of one host (https://example.com), see --per-host"):
            assert part in text, f"{part} is not in {text[:1500]}"
        self.audit(page, "a job with warnings and pauses")
        self.finish(page)
        page = self.made_page("outbox.html", {"jobs": [], "has_older": False, "ignored": [], "inbox": "/srv/<in>", "paused": "disk: <full>",
                                              "inbox_error": "no <permission>", "instance": {"is_running": False}, "written_at": at})
        text = page.run("document.body.innerText")
        for part in ("Nothing here yet", "/srv/<in>", "darkroom run", "Paused: disk: <full>", "no <permission>", "No instance is running"):
            assert part in text, f"{part} is not in {text}"
        self.audit(page, "an empty outbox")
        self.finish(page)

    def check_staleness(self):
        """A page that nobody updates any more says so, whether the program has ended or was killed."""
        for name, state, words in (("ended", "waiting", "no instance is running"),
                                   ("stale", "was running", "probably no instance is running"),
                                   ("stale-outbox", "was running", "probably no instance is running")):
            page = self.made_page(*MADE_PAGES[name])
            text = page.run("document.body.innerText")
            for part in (words, state, "s of 1 Mar 2026", "3 of 7"):
                assert part in text, f"{part} is not in {text}"
            assert "Paused" not in text and " left" not in text.replace("left\n", ""), text
            assert name != "stale-outbox" or "2 warnings" in text, text
            self.audit(page, "a page that is out of date")
            self.finish(page)
        now = datetime.datetime.now(datetime.UTC).isoformat()
        page = self.made_page("job.html", {**MADE_PAGES["stale"][1], "written_at": now})
        # It is loaded again every 2 s, at any step of what is asked of it.
        page.wait("document.body.innerText.includes('Paused: x.lock') && !document.body.innerText.includes('no instance')")
        self.finish(page)
