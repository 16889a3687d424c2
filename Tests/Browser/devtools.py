"""Chromium without a window, driven by its DevTools protocol: https://chromedevtools.github.io/devtools-protocol/"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import urllib.request

import websocket

# How long something may take that must come, in seconds.
SECONDS = 60
# What Chromium says of an expression whose document was replaced before the answer.
DOCUMENT_IS_GONE = ("Inspected target navigated or closed", "Execution context was destroyed", "Cannot find default execution context")
# Whether a page has been drawn. It is asked again and again, also of a page that is loaded again meanwhile.
DRAWN = "(requestAnimationFrame(() => requestAnimationFrame(() => { window.isDrawn = true; })), window.isDrawn)"
KEYS = {
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37,
    "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Backspace": 8,
}


class Browser:
    """One process of Chromium with a profile of its own; ends with the `with` statement."""

    def __init__(self, program="chromium"):
        self.profile = tempfile.mkdtemp(prefix="darkroom-browser-")
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
             "--enable-precise-memory-info", f"--user-data-dir={self.profile}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        port_file = pathlib.Path(self.profile, "DevToolsActivePort")
        wait_until(lambda: port_file.exists() and port_file.read_text().count("\n") >= 1, "the browser's port")
        self.port = port_file.read_text().split()[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def memory(self):
        """The resident memory of the largest process that renders pages, in megabytes."""
        sizes = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if b"--type=renderer" in (process / "cmdline").read_bytes() and os.getsid(int(process.name)) == self.process.pid:
                    status = (process / "status").read_text()
                    sizes.append(int(status.split("VmRSS:")[1].split()[0]) / 1000)
            except (OSError, IndexError):
                pass  # It has ended.
        return max(sizes, default=0)

    def page(self, **form):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/json/new?about:blank", method="PUT")
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return Page(json.load(answer)["webSocketDebuggerUrl"], **form)


class Page:
    """One tab. `requests` are the URLs that it has asked for, `problems` what the console or an exception said."""

    def __init__(self, url, width=1440, height=900, dark=False, phone=False):
        self.socket = websocket.create_connection(url, timeout=SECONDS, suppress_origin=True)
        self.number = 0
        self.requests, self.problems, self.dialogs, self.loads = [], [], [], 0
        self.width, self.height = width, height
        for domain in ("Page", "Runtime", "Log", "Network", "Performance", "DOM"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, mobile=phone,
                  deviceScaleFactor=2 if phone else 1)
        self.call("Emulation.setTouchEmulationEnabled", enabled=phone)
        # As the tab that somebody looks at: others get no events of the focus.
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.colours(dark)

    def close(self):
        self.call("Page.close")
        self.socket.close()

    def colours(self, dark):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def call(self, method, **parameters):
        self.number += 1
        number = self.number
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, event):
        method, values = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.problems.append(f"console: {values['args']}")
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"log: {values['entry']['text']} {values['entry'].get('url', '')}")
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(values["message"])
        elif method == "Page.loadEventFired":
            self.loads += 1

    def open(self, url):
        loads = self.loads
        self.call("Page.navigate", url=str(url))
        wait_until(lambda: self.run("document.readyState") == "complete" and self.loads > loads, f"{url} to be loaded")

    def wait_until_drawn(self):
        """Only then innerText has what `content-visibility: auto` puts off. Needs the page's scripts."""
        self.wait(DRAWN, "the page to be drawn")

    def run(self, expression):
        """The value of an expression of JavaScript; promises are awaited. If the page is loaded again meanwhile, the next
        document is asked."""
        end = time.monotonic() + SECONDS
        while True:
            try:
                result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
                break
            except RuntimeError as error:
                if not any(text in str(error) for text in DOCUMENT_IS_GONE) or time.monotonic() > end:
                    raise
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:200]}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, what=None):
        """Waits until the expression is true."""
        said = []

        def is_true():
            try:
                return self.run(f"Boolean({expression})")
            except RuntimeError as error:
                said[:] = [error]  # As while the page is being loaded again.
                return False
        try:
            wait_until(is_true, what or expression)
        except AssertionError as error:
            raise AssertionError(f"{error} {said} {self.problems}") from None

    def press(self, key, times=1, modifiers=0):
        """Presses a key of KEYS, or types a character."""
        code = KEYS.get(key) or ord(key.upper())
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        for _ in range(times):
            event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
            self.call("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def centre(self, selector):
        return self.run(f"""(() => {{
          const node = document.querySelector({json.dumps(selector)});
          node.scrollIntoView({{ block: 'nearest' }});
          const box = node.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")

    def click(self, selector):
        x, y = self.centre(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def swipe(self, selector, across):
        x, y = self.centre(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        for part in (0.3, 0.7, 1):
            self.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x + across * part, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def metrics(self):
        return {metric["name"]: metric["value"] for metric in self.call("Performance.getMetrics")["metrics"]}

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))


def wait_until(is_true, what, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain for {what}")
        time.sleep(0.02)
