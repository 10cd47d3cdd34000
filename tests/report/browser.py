"""A small driver of headless Chromium, over the DevTools protocol and two pipes: no package, no port.

A ``Browser`` is one process; a ``Page`` is one tab with its own cookies and cache, which remembers what was
printed, thrown and requested. Messages are JSON, each ended by a NUL byte; Chromium reads them on descriptor 3 and
writes on 4.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
]
# Puts the two descriptors where Chromium looks for them, then becomes Chromium.
BECOME = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36}
KEYS |= {"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
TYPED = {" ": " ", "Enter": "\r"}


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


class BrowserError(AssertionError):
    """The browser refused a command, took too long, or the page threw."""


class Browser:
    def __init__(self, program: str, timeout: float = 20.0) -> None:
        self.timeout = timeout
        self._profile = tempfile.mkdtemp(prefix="driftmdp-chromium-")
        self._last = 0
        self._buffer = b""
        self._pages: dict[str, Page] = {}
        theirs_read, self._write = os.pipe()
        self._read, theirs_write = os.pipe()
        command = [program, *FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-SEc", BECOME, str(theirs_read), str(theirs_write), *command],
            pass_fds=(theirs_read, theirs_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(theirs_read)
        os.close(theirs_write)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def call(self, method: str, parameters: dict[str, Any] | None = None, session: str | None = None) -> Any:
        """Send a command and return its result; what happens meanwhile goes to the pages."""
        self._last += 1
        number = self._last
        message = {"id": number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = session
        payload = json.dumps(message).encode() + b"\0"
        while payload:
            payload = payload[os.write(self._write, payload) :]
        deadline = time.monotonic() + self.timeout
        while True:
            answer = self._receive(deadline, method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            self._dispatch(answer)

    def page(self) -> Page:
        context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", {"url": "about:blank", "browserContextId": context})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session, context)
        self._pages[session] = page
        page.start()
        return page

    def forget(self, page: Page) -> None:
        self._pages.pop(page.session, None)
        self.call("Target.disposeBrowserContext", {"browserContextId": page.context})

    def close(self) -> None:
        """End the process and all that it started, and remove its profile."""
        try:
            self.timeout = 3.0
            with contextlib.suppress(OSError, BrowserError):
                self.call("Browser.close")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            os.close(self._read)
            os.close(self._write)
            shutil.rmtree(self._profile, ignore_errors=True)

    def _receive(self, deadline: float, waiting_for: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise BrowserError(f"{waiting_for}: no answer within {self.timeout:g} s")
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                raise BrowserError(f"{waiting_for}: the browser ended")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _dispatch(self, event: dict[str, Any]) -> None:
        page = self._pages.get(event.get("sessionId", ""))
        if page and "method" in event:
            page.on_event(event["method"], event["params"])


class Page:
    """A tab. ``requests`` are addresses; ``messages`` is everything that the console would show."""

    def __init__(self, browser: Browser, session: str, context: str) -> None:
        self.browser = browser
        self.session = session
        self.context = context
        self.requests: list[str] = []
        self.messages: list[str] = []
        self.dialogs = 0

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *error: object) -> None:
        self.browser.forget(self)

    def start(self) -> None:
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", {"enabled": True})
        self.viewport(1280, 900)

    def call(self, method: str, parameters: dict[str, Any] | None = None) -> Any:
        return self.browser.call(method, parameters, self.session)

    def on_event(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            said = [str(value.get("value", value.get("description"))) for value in parameters["args"]]
            self.messages.append(f"{parameters['type']}: {' '.join(said)}")
        elif method == "Runtime.exceptionThrown":
            self.messages.append(f"exception: {_thrown(parameters['exceptionDetails'])}")
        elif method == "Log.entryAdded":
            self.messages.append(f"{parameters['entry']['level']}: {parameters['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.dialogs += 1
            self.browser.call("Page.handleJavaScriptDialog", {"accept": True}, self.session)

    # ---- Going somewhere ----

    def open(self, path: Path, fragment: str = "", scripts: bool = True) -> Page:
        """Open a file and wait until its charts are drawn."""
        self.call("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        address = path.resolve().as_uri()
        failed = self.call("Page.navigate", {"url": address + fragment}).get("errorText")
        if failed:
            raise BrowserError(f"{address}: {failed}")
        self.wait("document.readyState === 'complete'")
        if scripts:
            self.evaluate("driftmdp.ready.then(() => true)")
        return self

    def evaluate(self, code: str) -> Any:
        """Return the value of a JavaScript expression, after its promise is kept."""
        answer = self.call("Runtime.evaluate", {"expression": code, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise BrowserError(f"{code}: {_thrown(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        deadline = time.monotonic() + self.browser.timeout
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                raise BrowserError(f"not true within {self.browser.timeout:g} s: {condition}")
            time.sleep(0.01)

    # ---- What a reader does ----

    def press(self, *keys: str) -> None:
        for key in keys:
            event = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
            self.call("Input.dispatchKeyEvent", {"type": "keyDown", "text": TYPED.get(key, ""), **event})
            self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def point(self, selector: str, across: float = 0.5, down: float = 0.5) -> tuple[float, float]:
        """Move the mouse onto the first such element; return where that is."""
        x, y = self.evaluate(
            "(() => {"
            f"const element = document.querySelector({json.dumps(selector)});"
            "element.scrollIntoView({block: 'center', behavior: 'instant'});"
            "const box = element.getBoundingClientRect();"
            f"return [box.x + {across} * box.width, box.y + {down} * box.height];"
            "})()"
        )
        self.call("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
        return x, y

    def click(self, selector: str) -> None:
        x, y = self.point(selector)
        event = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", {"type": "mousePressed", **event})
        self.call("Input.dispatchMouseEvent", {"type": "mouseReleased", **event})

    # ---- What a reader has ----

    def viewport(self, width: int, height: int, mobile: bool = False) -> None:
        scale = 2 if mobile else 1
        sizes = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile}
        self.call("Emulation.setDeviceMetricsOverride", sizes)

    def prefer(self, **features: str) -> None:
        """Set media features: ``prefer(color_scheme="dark")``."""
        wanted = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", {"features": wanted})

    def screenshot(self, path: Path, whole: bool = False) -> None:
        answer = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": whole})
        path.write_bytes(base64.b64decode(answer["data"]))


def _thrown(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details.get("text"))
