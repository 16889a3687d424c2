"""Outboxes for the browser's test, made by the program: one with jobs of every kind, one with a job of ten thousand."""
import http.server
import json
import pathlib
import subprocess
import threading

from PIL import Image

import templates

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "Samples"
SECONDS = 300

# Names, and texts elsewhere, that a page must neither interpret nor break on.
HOSTILE_NAMES = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"><svg onload=alert(3)>",
    "quotes ' and \" and `",
    "</script><script>alert(4)</script>",
    "<!--<script>",
    "percent 100%41 %2e%2e",
    "hash #1?x=1&y=2",
    "javascript:alert(5)",
    "تقرير صورة القط 42.jpg",
    "evil\u202egpj.exe",
    "עברית (1) abc",
    "new\nline and\ttab",
    "${alert(6)} {{7*7}}",
    "sub folder/très élevé/猫の写真",
    "back\\slash",
    "\u2028\u2029 separators",
    "long " + "é" * 97 + "!",
]
RECIPES = ["sepia(0.8)", "grayscale()", "contrast(1.3) saturate(1.2)", "none", "hue-rotate(20deg)", "brightness(1.1) sepia(0.3)"]


class Server:
    """Answers with the files of a folder; /held/… only when `release` was called, anything else with 404."""

    def __init__(self, folder):
        released = self.released = threading.Event()

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=str(folder))

            def do_GET(self):
                if self.path.startswith("/held/"):
                    released.wait(SECONDS)
                    self.path = self.path.removeprefix("/held")
                super().do_GET()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # The program has ended before its answers.
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def release(self):
        self.released.set()

    def close(self):
        self.release()
        self.server.shutdown()


class Outbox:
    """An inbox, an outbox and sources in a folder, and the program that is run there."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.inbox, self.path, self.sources = (self.folder / name for name in ("inbox", "outbox", "sources"))
        for path in (self.inbox, self.path, self.sources):
            path.mkdir(parents=True)
        self.process = None
        described = subprocess.run([program, "help", "run"], capture_output=True, text=True, check=True).stdout
        self.writes_pages = "--gallery" in described
        self.log = open(self.folder / "log", "a", encoding="utf-8")  # Closed with the process.

    def options(self):
        return ["--inbox", self.inbox, "--outbox", self.path, "--settle", "0", "--min-free", "0", "--quiet", "--allow-net",
                "127.0.0.0/8", "--file-root", self.sources, "--keep-originals", "--retries", "0"]

    def drop(self, name, text):
        part = self.inbox / f".{name}.part"
        part.write_text(text)
        part.rename(self.inbox / name)

    def drop_job(self, name, entries, **envelope):
        self.drop(f"{name}.json", json.dumps({"entries": entries, **envelope}))

    def run(self):
        """Processes what is in the inbox; the exit code tells of failed entries, which are wanted here."""
        ended = subprocess.run([self.program, "run", *self.options()], timeout=SECONDS, check=False, stdout=self.log, stderr=self.log)
        assert ended.returncode in (0, 1, 65), f"run ended with {ended.returncode}"

    def watch(self):
        self.process = subprocess.Popen([self.program, "watch", "--poll-interval", "0.1", *self.options()], stdout=self.log, stderr=self.log)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(SECONDS)
            self.process = None

    def status(self):
        command = [self.program, "status", "--json", "--all", "--inbox", self.inbox, "--outbox", self.path]
        return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=SECONDS).stdout)

    def pages(self):
        """Writes the pages if the program does not."""
        if not self.writes_pages:
            templates.fill(self.path, self.status())

    def file(self, job=None):
        """The page of a job, or of the outbox."""
        return self.path / job / "index.html" if job else self.path / "index.html"

    def page(self, job=None):
        return self.file(job).as_uri()


def make_sources(folder, count=24):
    """Pictures of many shapes, cut from the samples."""
    samples = [Image.open(path).convert("RGB") for path in sorted(SAMPLES.glob("*.jpg"))]
    shapes = [(3, 2), (1, 1), (2, 3), (16, 9), (4, 3), (3, 1)]
    names = []
    for number in range(count):
        sample = samples[number % len(samples)]
        across, down = shapes[number // len(samples) % len(shapes)]
        scale = min(sample.width / across, sample.height / down)
        width, height = int(across * scale), int(down * scale)
        left = (sample.width - width) * (number % 3) // 2
        names.append(f"{number:02}.jpg")
        sample.crop((left, 0, left + width, height)).save(folder / names[-1], quality=88)
    large = Image.open(SAMPLES / "hubble-deep-field.jpg").resize((4000, 3488))
    large.save(folder / "large.jpg", quality=85)
    (folder / "page.html").write_text("<!doctype html><p>This is no picture.</p>")
    (folder / "cut.jpg").write_bytes((folder / "00.jpg").read_bytes()[:9000])
    return names


def varied(outbox, server):
    """Jobs of every kind: one with successes and failures, one with hostile names, a rejected one, a live one."""
    names = make_sources(outbox.sources)
    subjects = ["astronaut", "cat", "coffee", "deep field", "rocket"]
    entries = {
        f"{subjects[number % 5]} {number // 5 + 1}": {
            "url": f"{server.url}/{name}", "filters": RECIPES[number % len(RECIPES)],
            "metadata": {"id": 4000 + number, "tags": [subjects[number % 5]]},
        } for number, name in enumerate(names)}
    entries["large"] = {"url": f"{server.url}/large.jpg", "filters": "sepia(0.5)"}
    entries["gone"] = f"{server.url}/gone.jpg"
    entries["a page"] = f"{server.url}/page.html"
    entries["cut off"] = f"{server.url}/cut.jpg"
    entries["no scheme"] = "javascript:alert(7)"
    outbox.drop_job("pictures", entries)
    outbox.drop_job("hostile <b>& \u202etxt", {
        name: {"url": (outbox.sources / names[number]).as_uri() if number % 3 else f"{server.url}/{name}",
               "metadata": {"note": name}}
        for number, name in enumerate(HOSTILE_NAMES)})
    outbox.drop("broken.json", '{"entries": {"a": {"url": "x.jpg", "filter": "sepya(2)"}, "b": {"filters": 7}}}')
    outbox.drop("notes <i>.docx", "This is no manifest.")
    outbox.drop("list.txt", "\n".join(f"{server.url}/{name}" for name in names[:6]))
    outbox.run()
    live = {f"first {number}": f"{server.url}/{name}" for number, name in enumerate(names[:9])}
    live |= {f"held {number}": f"{server.url}/held/{name}" for number, name in enumerate(names[9:20])}
    outbox.drop_job("live", live)
    outbox.watch()


def thousands(outbox, count):
    """A job of many entries, with a hundred different pictures, one entry in fifty failed."""
    names = make_sources(outbox.sources, 100)
    for name in names:
        picture = Image.open(outbox.sources / name)
        picture.thumbnail((320, 320))
        picture.save(outbox.sources / name, quality=80)
    outbox.drop("thousands.jsonl", "".join(
        json.dumps({"name": f"picture {number}", "filters": "none",
                    "url": (outbox.sources / (names[number % 100] if number % 50 else "page.html")).as_uri()}) + "\n"
        for number in range(count)))
    outbox.run()
