"""Chromium without a window, spoken to over two pipes: https://chromedevtools.github.io/devtools-protocol/."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-gpu", "--hide-scrollbars",
    "--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text", "--disable-dev-shm-usage",
)  # fmt: skip
MOST_SECONDS = 60.0
TALLEST = 16_000
"""Pixels that Chromium draws in one piece."""


class BrowserError(RuntimeError):
    """Chromium is missing, ended, or refused."""


def found() -> str | None:
    """The browser of this machine."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser, started and ended. Raises BrowserError."""

    def __enter__(self) -> Browser:
        program = found()
        if program is None:
            raise BrowserError("no Chromium is installed: sudo apt-get install chromium")
        self._folder = TemporaryDirectory(prefix="reviewbot-pictures-", ignore_cleanup_errors=True)
        # Chromium cannot confine itself where root starts it; it shows nothing but pages that were made here.
        confined = () if os.geteuid() else ("--no-sandbox",)
        argv = (program, *FLAGS, *confined, f"--user-data-dir={self._folder.name}/profile")
        self._child, self._orders, self._answers = _started(argv, self._folder.name)
        self._rest, self._number = b"", 0
        target = self._ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        self._ask("Page.enable")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._orders)  # nobody is there to be obeyed: it ends
        os.close(self._answers)
        _ended(self._child)
        self._folder.cleanup()

    def picture(self, page: Path, *, width: int, dark: bool, tallest: int = TALLEST) -> bytes:
        """The page as PNG, ``width`` pixels wide and as tall as it is, up to ``tallest``."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 100, "deviceScaleFactor": 1, "mobile": False}
        self._ask("Emulation.setDeviceMetricsOverride", size)
        self._open(page.resolve().as_uri())
        height = min(tallest, int(self._ask("Page.getLayoutMetrics")["cssContentSize"]["height"]))
        self._ask("Emulation.setDeviceMetricsOverride", size | {"height": height})
        return base64.b64decode(self._ask("Page.captureScreenshot", {"format": "png"})["data"])

    def run(self, script: str) -> Any:
        """What a script's promise comes to, in an empty page."""
        self._open("about:blank")
        wish = {"expression": script, "awaitPromise": True, "returnByValue": True}
        answer = self._ask("Runtime.evaluate", wish)
        if "exceptionDetails" in answer:
            raise BrowserError(str(answer["exceptionDetails"]))
        return answer["result"]["value"]

    def _open(self, address: str) -> None:
        self._ask("Page.navigate", {"url": address})
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def _ask(self, method: str, wish: dict[str, Any] | None = None) -> dict[str, Any]:
        self._number += 1
        session = {"sessionId": self._session} if hasattr(self, "_session") else {}
        order = {"id": self._number, "method": method, "params": wish or {}, **session}
        _write(self._orders, json.dumps(order).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            pass
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + MOST_SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self._answers, 1 << 20) if ready else b""
            if not part:
                raise BrowserError("Chromium ended" if ready else f"Chromium said nothing for {MOST_SECONDS:g} s")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        read: dict[str, Any] = json.loads(message)
        return read


def _started(argv: tuple[str, ...], home: str) -> tuple[int, int, int]:
    """Its process, where it takes orders, where it answers: in the browser these are the descriptors 3 and 4."""
    ours, theirs = [0, 0], [0, 0]
    for (read, write), kept, given in ((os.pipe(), 1, 0), (os.pipe(), 0, 1)):
        ends = (read, write)
        ours[1 - kept] = ends[kept]
        # Out of the way of 3 and 4, which are made of them.
        theirs[given] = fcntl.fcntl(ends[given], fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(ends[given])
    nothing = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nothing, number) for number in (0, 1, 2)]
    actions += [(os.POSIX_SPAWN_DUP2, theirs[0], 3), (os.POSIX_SPAWN_DUP2, theirs[1], 4)]
    environment = {"PATH": os.environ["PATH"], "HOME": home, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    child = os.posix_spawn(argv[0], argv, environment, file_actions=actions, setpgroup=0)
    for number in (nothing, *theirs):
        os.close(number)
    return child, ours[0], ours[1]


def _ended(child: int) -> None:
    until = time.monotonic() + 5
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(0.05)
    os.killpg(child, 9)
    os.waitpid(child, 0)


def _write(number: int, data: bytes) -> None:
    while data:
        data = data[os.write(number, data) :]
