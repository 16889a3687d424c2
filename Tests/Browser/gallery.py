#!/usr/bin/python3
"""Opens the pages of an outbox in Chromium and uses them as people do: with a mouse, with keys alone, with a finger.

  Tests/Browser/gallery.py --program DARKROOM [--screenshots DIR] [--entries N] [NAME…]

Checks that pictures are shown, that search, filters, order, keys, swipes and the slider work, that the focus goes where it
should, that a live page loses nothing when it is loaded again, that names cannot do harm, that nothing outside of the outbox
is asked for, and what axe-core says of accessibility, in light and dark, on a phone and a wide screen. Prints the times and the
memory of a page of ten thousand entries. NAME is one of the checks below.

Exit codes: 0 all is well, 1 something is wrong, 64 usage, 77 there is no Chromium, or not the Python packages.
"""
import argparse
import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
try:
    import devtools
    import made_pages
    import outboxes
    AXE = pathlib.Path(importlib.util.find_spec("axe_playwright_python").submodule_search_locations[0], "axe.min.js")
except (ImportError, AttributeError) as error:
    print(f"gallery: script/bootstrap system installs what is missing: {error}", file=sys.stderr)
    sys.exit(77)

NAMES = "[...document.querySelectorAll('#grid .name')].map((node) => node.textContent)"
IN_GRID = "document.activeElement.closest('#grid li')?.querySelector('.name').textContent"
SHOWN = "[...document.querySelectorAll('#grid img')].length > 0 && [...document.querySelectorAll('#grid img')]" \
        ".filter((image) => image.getBoundingClientRect().top < innerHeight).every((image) => image.naturalWidth > 0)"
ACTIVE = "document.activeElement.id"
# Milliseconds and megabytes, of a machine with other things to do: for what has gone wrong by far.
LIMITS = {"time to first picture": 10_000, "scripting": 10_000, "heap": 400}


class Checks(made_pages.MadePages):
    def __init__(self, browser, folder, options):
        self.browser, self.folder, self.options = browser, pathlib.Path(folder), options
        self.outbox = outboxes.Outbox(options.program, self.folder / "varied")
        self.server = outboxes.Server(self.outbox.sources)
        outboxes.varied(self.outbox, self.server)
        devtools.wait_until(lambda: any(job.get("filtered") == 9 for job in self.outbox.status()["jobs"]), "the live job")
        self.outbox.pages()

    def end(self):
        self.server.close()
        self.outbox.stop()

    def open(self, job=None, fragment="", outbox=None, **form):
        """A tab with a page, when its first pictures are there."""
        outbox = outbox or self.outbox
        page = self.browser.page(**form)
        page.outbox = outbox
        address = outbox.page(job)
        devtools.wait_until(lambda: outbox.file(job).exists(), f"the page of {job or 'the outbox'}")
        page.open(address + fragment)
        page.wait("document.querySelector('#grid li, #jobs li, #notes li')", f"something in {address}")
        return page

    def finish(self, page):
        """What holds for every page, whatever was done with it."""
        folder = page.outbox.path.as_uri() + "/"
        away = [url for url in page.requests if not url.startswith((folder, "data:,")) and url != "about:blank"]
        assert not away, f"asked for {away}"
        assert not page.problems, f"problems: {page.problems}"
        assert not page.dialogs, f"a script of the data ran: {page.dialogs}"
        page.close()

    def audit(self, page, what):
        """What axe-core finds serious."""
        if page.run("typeof axe") == "undefined":
            page.run(AXE.read_text() + "; 0")
        text = page.run("axe.run(document).then((result) => JSON.stringify(result.violations))")
        serious = [f"{found['id']}: {found['help']}: {found['nodes'][0]['html'][:200]} {found['nodes'][0]['failureSummary'][:300]}"
                   for found in json.loads(text) if found["impact"] in ("serious", "critical")]
        assert not serious, f"accessibility of {what}: {serious}"

    # The checks.

    def check_pictures(self):
        page = self.open("pictures")
        page.wait(SHOWN, "the pictures of the window")
        page.run("scrollTo(0, document.documentElement.scrollHeight)")
        page.wait(f"{NAMES}.includes('no scheme') && {SHOWN}")
        assert page.run("""[...document.querySelectorAll('#grid li')]
          .find((item) => item.querySelector('.name').textContent === 'large').querySelector('img').src
          .includes('/previews/')"""), "the large result is not shown by its preview"
        failures = page.run("[...document.querySelectorAll('.lack.bad b')].map((node) => node.textContent)")
        assert failures == ["http-status (404)", "not-an-image", "image-truncated", "scheme-not-allowed"], failures
        self.finish(page)

    def check_search(self):
        page = self.open("pictures")
        page.click("#q")
        page.type("rocket")
        page.wait("document.querySelector('#count').textContent === '4 of 29 entries'")
        assert all(name.startswith("rocket") for name in page.run(NAMES)), page.run(NAMES)
        page.type(" grayscale")
        page.wait(f"{NAMES}.length === 1", "both words to be looked for")
        page.type(" nonsense")
        page.wait("!document.querySelector('#none').hidden")
        page.click("#all")
        page.wait("document.querySelector('#count').textContent === '29 entries, 4 failed'")
        assert page.run(ACTIVE) == "q", "the focus is not in the search"
        self.finish(page)

    def check_filters(self):
        page = self.open("pictures")
        page.click("#state-failed")
        page.wait(f"{NAMES}.join() === 'gone,a page,cut off,no scheme'")
        page.click("#kind-image-truncated")
        page.wait(f"{NAMES}.join() === 'cut off'")
        assert page.run("location.hash") == "#state=failed&code=image-truncated", page.run("location.hash")
        page.open(page.run("location.href").replace("#", "?#"))
        page.wait(f"{NAMES}.join() === 'cut off'", "the address to keep the view")
        self.finish(page)

    def check_order(self):
        page = self.open("pictures", "#sort=name")
        names = page.run(NAMES)
        assert names[:4] == ["a page", "astronaut 1", "astronaut 2", "astronaut 3"], names
        page.run("sort.value = 'largest'; sort.dispatchEvent(new Event('change'))")
        page.wait(f"{NAMES}[0] === 'large'")
        page.run("sort.value = 'problems'; sort.dispatchEvent(new Event('change'))")
        page.wait(f"{NAMES}.slice(0, 4).join() === 'gone,a page,cut off,no scheme'")
        self.finish(page)

    def check_keys(self):
        """With keys alone: into the grid, through it, a picture large, the next ones, the slider, and back."""
        page = self.open("pictures")
        order = []
        for _ in range(16):
            page.press("Tab")
            order.append(page.run("document.activeElement.id || document.activeElement.className"))
            if order[-1] == "tile":
                break
        # A run that took long says what bounded it.
        note = "note-What bounded the run"
        kinds = [f"kind-{kind}" for kind in ("http-status (404)", "not-an-image", "image-truncated", "scheme-not-allowed")]
        notes = [note] if page.run(f"document.getElementById('{note}') != null") else []
        assert order == ["up", *notes, *kinds, "q", "state-", "sort", "tile"], order
        columns = page.run("[...document.querySelectorAll('#grid li')].filter((item) => item.style.top === '0px').length")
        page.press("ArrowRight", 2)
        page.press("ArrowDown")
        page.press("ArrowLeft")
        names = page.run("JSON.parse(JSON.stringify(" + NAMES + "))")
        assert page.run(IN_GRID) == names[columns + 1], page.run(IN_GRID)
        page.press("End")
        assert page.run(IN_GRID) == "no scheme", page.run(IN_GRID)
        assert page.run("(({ top, bottom }) => top >= 0 && bottom <= innerHeight)"
                        "(document.activeElement.getBoundingClientRect())"), "the tile with the focus is out of the window"
        page.press("Home")
        page.press("ArrowRight")
        page.press("Enter")
        page.wait("viewer.open && document.querySelector('#after').naturalWidth > 0")
        assert page.run("title.textContent") == names[1] == "cat 1"
        assert page.run(ACTIVE) == "close", page.run(ACTIVE)
        page.press("ArrowRight", 3)
        assert page.run("title.textContent") == names[4], page.run("title.textContent")
        page.press("ArrowLeft")
        for _ in range(12):
            page.press("Tab")
            assert page.run("document.activeElement === document.body || viewer.contains(document.activeElement)"), \
                "the focus has left the dialog"
        page.run("split.focus()")
        page.press("ArrowRight", 10)
        assert page.run("split.value") == "60" and page.run("frame.style.getPropertyValue('--split')") == "60"
        assert page.run("split.getAttribute('aria-valuetext')") == "60 % before"
        assert page.run("title.textContent") == names[3], "the slider's keys go to another picture"
        page.press("Escape")
        page.wait("!viewer.open && !location.hash.includes('open')")
        page.wait(f"({IN_GRID}) === {json.dumps(names[3])}", "the focus to return")
        self.finish(page)

    def check_viewer(self):
        """Mouse, back button, a large result, what is told of an entry."""
        page = self.open("pictures")
        page.wait(SHOWN)
        page.click("#grid li:nth-child(2) .tile")
        page.wait("viewer.open && document.querySelectorAll('#frame img').length === 2")
        page.wait("[...document.querySelectorAll('#frame img')].every((image) => image.naturalWidth === 450)")
        sources = page.run("[...document.querySelectorAll('#frame img')].map((image) => image.getAttribute('src'))")
        assert sources == ["./originals/cat%201.jpg", "./images/cat%201.jpg"], sources
        box = page.run("(({ left, top, width, height }) => [left, top, width, height])(frame.getBoundingClientRect())")
        middle = box[1] + box[3] / 2
        page.call("Input.dispatchMouseEvent", type="mousePressed", x=box[0] + box[2] / 2, y=middle, button="left", buttons=1)
        page.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + box[2] / 4, y=middle, button="left", buttons=1)
        page.call("Input.dispatchMouseEvent", type="mouseReleased", x=box[0] + box[2] / 4, y=middle, button="left")
        assert abs(int(page.run("split.value")) - 25) <= 1, page.run("split.value")
        text = page.run("details.innerText")
        for part in ("filtered", "450 × 300", "grayscale(1)", "download ", self.server.url + "/01.jpg", "4001"):
            assert part in text, f"{part} is not in {text}"
        assert page.run("[...details.querySelectorAll('a[target]')].every((link) => link.rel === 'noreferrer noopener')")
        page.click("#next")
        page.wait("title.textContent === 'coffee 1'")
        page.run("history.back()")
        page.wait("!viewer.open")
        page.wait(f"({IN_GRID}) === 'coffee 1'")
        page.open(self.outbox.page("pictures") + "?#open=24")
        page.wait("viewer.open && document.querySelector('#after').naturalWidth === 4000", "the large result")
        page.click("#next")
        page.wait("frame.textContent.includes('http-status') && document.querySelector('#compare').hidden")
        self.finish(page)

    def check_phone(self):
        page = self.open("pictures", width=375, height=812, phone=True)
        page.wait(SHOWN)
        assert page.run("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways"
        outside = page.run("[...document.querySelectorAll('header *, #tools *')].filter((node) => "
                           "node.getBoundingClientRect().right > innerWidth).map((node) => node.outerHTML)")
        assert not outside, f"out of the window: {outside}"
        page.run("document.querySelector('.tile').click()")
        page.wait("viewer.open && document.querySelector('#after').naturalWidth > 0")
        page.swipe("#stage", -150)
        page.wait("title.textContent === 'cat 1'")
        page.swipe("#stage", 150)
        page.wait("title.textContent === 'astronaut 1'")
        assert page.run("viewer.scrollWidth <= innerWidth"), "the viewer scrolls sideways"
        self.finish(page)

    def check_hostile_names(self):
        folder = next(path.name for path in self.outbox.path.iterdir() if path.name.startswith("hostile"))
        page = self.open(folder)
        page.wait(SHOWN)
        names = page.run(NAMES)
        assert sorted(names) == sorted(outboxes.HOSTILE_NAMES), set(names) ^ set(outboxes.HOSTILE_NAMES)
        assert page.run("document.querySelectorAll('main script, main svg, main iframe').length") == 0
        assert page.run("document.querySelectorAll('#grid img').length") > 0
        page.wait("[...document.querySelectorAll('#grid img')].every((image) => image.complete && image.naturalWidth > 0)",
                  "all pictures, some of them below the window")
        page.click("#q")
        page.type("</script>")
        page.wait(f"{NAMES}.length === 2", "names to be found")
        page.press("Tab", 2)
        page.run("all.click()")
        for place in range(len(names)):
            page.run(f"location.hash = 'open={place}'")
            page.wait(f"viewer.open && title.textContent === {json.dumps(names[place])}")
        links = page.run("[...document.links].map((link) => link.protocol)")
        assert set(links) <= {"file:", "http:", "https:"}, links
        page.open(self.outbox.page("pictures") + "?#open=28")
        page.wait("viewer.open && details.textContent.includes('javascript:alert(7)')")
        assert not page.run("[...document.links].some((link) => link.protocol === 'javascript:')")
        self.finish(page)

    def check_live(self):
        """A live page is loaded again, keeps where one was, and waits while somebody looks at a picture."""
        page = self.open("live", width=900, height=500)
        page.wait(SHOWN)
        page.wait("progress.value === 9 && progress.max === 20")
        page.wait("document.querySelectorAll('.busy').length > 0 && grid.innerText.includes('downloading for')")
        page.run("[...document.querySelectorAll('.tile')].find((tile) => tile.innerText.startsWith('first 0')).focus()")
        page.run("scrollTo(0, 150)")
        loads = page.loads
        devtools.wait_until(lambda: page.run("1") and page.loads > loads, "the page to be loaded again")
        page.wait(f"{IN_GRID} === 'first 0'", "the focus to be restored")
        assert abs(page.run("scrollY") - 150) < 2, f"scrolled to {page.run('scrollY')}"
        page.press("Enter")
        page.wait("viewer.open")
        loads = page.loads
        time.sleep(4)  # What must not happen has no event.
        assert page.run("viewer.open") and page.loads == loads, "loaded again while a picture was looked at"
        page.press("Escape")
        devtools.wait_until(lambda: page.run("1") and page.loads > loads, "the page to be loaded again later")
        page.wait("document.querySelector('#refresh')")
        page.run("document.querySelector('#refresh').click()")
        loads = page.loads
        time.sleep(3)
        assert page.run("1") and page.loads == loads, "loaded again although that was switched off"
        self.finish(page)

    def check_outbox(self):
        page = self.open()
        page.wait("document.querySelector('#jobs li').innerText.includes('9 of 20')")
        texts = page.run("[...document.querySelectorAll('#jobs > li')].map((item) => item.innerText)")
        assert texts[0].startswith("live"), texts[0]
        assert len(texts) == 5 and "25 filtered" in "".join(texts), texts
        broken = next(text for text in texts if text.startswith("broken"))
        assert "rejected" in broken and "did you mean \"filters\"?" in broken and "entries.a.filter" in broken, broken
        assert page.run("jobs.querySelector('progress').value") == 9
        ignored = page.run("ignored.innerText")
        assert "notes <i>.docx" in ignored and "its extension is not that of a manifest" in ignored, ignored
        page.click("#state-rejected")
        page.wait("document.querySelectorAll('#jobs > li').length === 1")
        page.click("#state-")
        page.click("#q")
        page.type("hostile")
        page.wait("document.querySelectorAll('#jobs > li').length === 1")
        page.run("jobs.querySelector('a').click()")
        page.wait("document.querySelector('#grid li')", "the job's page")
        page.run("document.querySelector('nav a').click()")
        page.wait("document.querySelector('#jobs li')", "the way back")
        loads = page.loads
        devtools.wait_until(lambda: page.run("1") and page.loads > loads, "the page to be loaded again")
        self.finish(page)

    def check_failures(self):
        """What has failed comes first, with its remedy, and leads to its entries."""
        page = self.open("pictures")
        strip = page.run("failures.innerText")
        for part in ("4 failed", "1 entry: http-status (404)", "Remedy: the picture is not there: correct the URL, or remove the entry"):
            assert part in strip, f"{part} is not in {strip}"
        page.click("[id='kind-not-an-image']")
        page.wait(f"{NAMES}.join() === 'a page' && document.activeElement.getAttribute('aria-pressed') === 'true'")
        assert "Remedy: look at the source" in page.run("grid.innerText"), page.run("grid.innerText")
        page.press("Enter")
        page.wait("count.textContent === '29 entries, 4 failed'", "the same button to show all again")
        page.run("location.hash = 'open=26'")
        page.wait("viewer.open && details.innerText.includes('Remedy: look at the source')")
        self.finish(page)
        page = self.made_page(*made_pages.MADE_PAGES["redirected"])
        strip = page.run("failures.innerText")
        assert "1 entry: too-many-redirects\n" in strip and "Remedy: give the final URL" in strip, strip
        self.finish(page)
        page = self.made_page(*made_pages.MADE_PAGES["rejected"])
        assert page.run("count.textContent") == "4 entries, all failed"
        page.click("#rejected summary")
        banner = page.run("rejected.innerText")
        for part in ("all.json", "1 Mar 2026", "history/r/report.json", "no field <21>"):
            assert part in banner, f"{part} is not in {banner}"
        page.run("location.hash = 'open=0'")
        page.wait("viewer.open")
        text = page.run("details.innerText")
        for part in ("queued less than 1 ms", "download 1 s", "title\n<b>cat</b>", "deep\nnull"):
            assert part in text, f"{part} is not in {text}"
        assert page.run("details.querySelectorAll('dd dl dt').length") == 4 and "{" not in text, text
        self.audit(page, "an entry with metadata")
        self.finish(page)

    def check_without_scripts(self):
        """Nothing can be used that does nothing, and where everything is can be read."""
        for job, words in (("pictures", ("pictures", "report.json", "images")), (None, ("report.json",))):
            page = self.browser.page()
            page.outbox = self.outbox
            page.call("Emulation.setScriptExecutionDisabled", value=True)
            page.open(self.outbox.page(job))
            controls = page.run("[...document.querySelectorAll('button, input, select, progress')]"
                                ".filter((node) => node.checkVisibility()).map((node) => node.outerHTML)")
            assert not controls, controls
            text = page.run("document.body.innerText")
            for part in words:
                assert part in text, f"{part} is not in {text}"
            self.finish(page)

    def check_accessibility(self):
        hostile = next(path.name for path in self.outbox.path.iterdir() if path.name.startswith("hostile"))
        phone = {"width": 375, "height": 812, "phone": True}
        for form in ({}, {"dark": True}, phone, {"dark": True, **phone}):
            for job, fragment in [("pictures", "#refresh=off"), ("pictures", "#open=1"), ("pictures", "#open=25"),
                                  (hostile, ""), ("broken", ""), ("live", "#refresh=off"), (None, "#refresh=off")]:
                page = self.open(job, fragment, **form)
                if not fragment.startswith("#open") and job != "broken":
                    page.wait("document.querySelector('#grid img, #jobs li')")
                self.audit(page, f"{job or 'the outbox'}{fragment} {form}")
                self.finish(page)
        page = self.open("broken")
        page.run("document.querySelector('h1').style.color = '#bbb'")
        try:
            self.audit(page, "a page without contrast")
        except AssertionError as error:
            assert "color-contrast" in str(error)
        else:
            raise AssertionError("axe does not find what is wrong")

    def check_thousands(self):
        outbox = outboxes.Outbox(self.options.program, self.folder / "thousands")
        outboxes.thousands(outbox, self.options.entries)
        outbox.pages()
        page = self.open("thousands", outbox=outbox)
        page.open("about:blank")
        page.open(outbox.page("thousands"))
        page.wait("document.querySelector('#grid img')?.complete")
        first = page.run("""new Promise((resolve) => new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) if (entry.element?.closest?.('#grid')) resolve(entry.startTime);
        }).observe({ type: 'largest-contentful-paint', buffered: true }))""")
        page.wait(SHOWN)
        page.call("HeapProfiler.collectGarbage")
        metrics = page.metrics()
        figures = {"time to first picture": first, "scripting": metrics["ScriptDuration"] * 1000,
                   "heap": metrics["JSHeapUsedSize"] / 1e6}
        resident = self.browser.memory()
        print(f"  {self.options.entries} entries, {outbox.file('thousands').stat().st_size / 1e6:.1f} MB: time to first picture "
              f"{first:.0f} ms, scripting {figures['scripting']:.0f} ms, layout {metrics['LayoutDuration'] * 1000:.0f} ms, JS heap "
              f"{figures['heap']:.1f} MB, process {resident:.0f} MB, {metrics['Nodes']:.0f} nodes")
        self.time(page, "search of two words", "q.value = 'picture 99'; q.dispatchEvent(new Event('input'))",
                  "document.querySelector('#count').textContent.includes(' of ')")
        self.time(page, "by name", "location.hash = 'sort=name'", f"{NAMES}[1] === 'picture 1'")
        print(f"  a scroll through all: {page.run(SCROLL):.0f} ms for the slowest of 100 frames, "
              f"{page.run('document.querySelectorAll(`#grid li`).length')} tiles exist")
        page.press("Tab", 8)
        page.run("document.querySelector('#grid [tabindex=\"0\"]').focus()")
        page.press("End")
        assert page.run(IN_GRID) == f"picture {self.options.entries - 1}", page.run(IN_GRID)
        page.wait(SHOWN)
        assert page.run("document.querySelectorAll('#grid li').length") < 200, "the grid keeps its tiles"
        for name, limit in LIMITS.items():
            assert figures[name] < limit, f"{name}: {figures[name]:.0f}; the limit is {limit}"
        self.finish(page)

    def time(self, page, what, action, is_done):
        took = page.run(f"""new Promise((resolve) => {{
          const began = performance.now();
          const look = () => ({is_done} ? resolve(performance.now() - began) : requestAnimationFrame(look));
          {action}; requestAnimationFrame(look);
        }})""")
        print(f"  {what}: {took:.0f} ms")

    def check_screenshots(self):
        folder = pathlib.Path(self.options.screenshots or self.folder / "screenshots")
        folder.mkdir(parents=True, exist_ok=True)
        for width, height in ((1440, 900), (375, 812)):
            for dark in (False, True):
                for name, job, fragment in (("job", "pictures", "#refresh=off"), ("viewer", "pictures", "#open=0"),
                                            ("failure", "pictures", "#open=25"), ("live", "live", "#refresh=off"),
                                            ("outbox", None, "#refresh=off")):
                    page = self.open(job, fragment, width=width, height=height, dark=dark, phone=width < 500)
                    page.call("Emulation.setScrollbarsHidden", hidden=True)
                    page.wait("document.readyState === 'complete' && [...document.images].every((image) => image.complete)")
                    page.screenshot(folder / f"{name}-{width}-{'dark' if dark else 'light'}.png")
                    self.finish(page)
                for name, (template, data) in made_pages.MADE_PAGES.items():
                    page = self.made_page(template, data, width=width, height=height, dark=dark, phone=width < 500)
                    page.screenshot(folder / f"{name}-{width}-{'dark' if dark else 'light'}.png")
                    self.finish(page)


SCROLL = """new Promise((resolve) => {
  let frames = 0, slowest = 0, last = performance.now();
  const height = document.documentElement.scrollHeight;
  const step = () => {
    const now = performance.now();
    slowest = Math.max(slowest, now - last);
    last = now;
    frames += 1;
    if (frames > 100) return resolve(slowest);
    scrollTo(0, height * frames / 100);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def main():
    names = [name.removeprefix("check_") for name in [*vars(Checks), *vars(made_pages.MadePages)] if name.startswith("check_")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--screenshots", help="the folder for pictures of the pages")
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    options = parser.parse_args()
    if unknown := set(options.names) - set(names):
        parser.error(f"no such check: {', '.join(sorted(unknown))}")
    if not shutil.which("chromium"):
        print("gallery: there is no chromium; script/bootstrap system installs it", file=sys.stderr)
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="darkroom-gallery-") as folder, devtools.Browser() as browser:
        checks = Checks(browser, folder, options)
        try:
            for name in options.names or names:
                try:
                    getattr(checks, f"check_{name}")()
                    print(f"{name}: all is well", flush=True)
                except (AssertionError, RuntimeError) as error:
                    failed += 1
                    print(f"{name}: {type(error).__name__}: {error}", flush=True)
        finally:
            checks.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
