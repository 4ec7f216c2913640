"""The fake servers as a process of their own: for benchmarks, and for tests that kill their client."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

TOP = Path(__file__).parents[2]
START_SECONDS = 20.0


class Process:
    """``python -m tests.fakes``, started and ended. Options are those of the command line: ``seconds=1.0, parallel=2, names="a,b"``."""

    def __init__(self, **options: Any) -> None:
        self._options = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        self.url = ""

    def __enter__(self) -> Process:
        self._folder = TemporaryDirectory()
        port_file = Path(self._folder.name) / "port"
        command = [sys.executable, "-m", "tests.fakes", f"--port-file={port_file}", *self._options]
        self._child = subprocess.Popen(command, cwd=TOP, stdin=subprocess.PIPE)
        until = time.monotonic() + START_SECONDS
        while not (port_file.exists() and (port := port_file.read_text().strip())):
            if self._child.poll() is not None or time.monotonic() > until:
                self.__exit__()
                raise RuntimeError("the fake models did not start")
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        """Its standard input ends, so it does; it would also if this process were killed."""
        assert self._child.stdin is not None
        self._child.stdin.close()
        try:
            self._child.wait(5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._folder.cleanup()

    @property
    def pid(self) -> int:
        """The process."""
        return self._child.pid

    @property
    def code(self) -> int | None:
        """Its exit code: 0 where it ended by itself, ``None`` while it runs."""
        return self._child.poll()

    def journal(self) -> list[dict[str, Any]]:
        """Every call so far."""
        found: list[dict[str, Any]] = self._ask("journal", None)
        return found

    def speed(self, **speed: float) -> None:
        """Another pace of the local machine, from now on."""
        self._ask("speed", speed)

    def seconds(self, seconds: float) -> None:
        """Another latency, from the next call on."""
        self._ask("seconds", seconds)

    def reset(self) -> None:
        """Forget all calls."""
        self._ask("reset", {})

    def _ask(self, order: str, body: Any) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/__fakes/{order}", data=data), timeout=10) as reply:
            return json.load(reply)
