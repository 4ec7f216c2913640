"""A program at a real terminal, and somebody who types."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

PATIENCE = 60.0
"""Seconds without a word after which a test gives up."""


class Terminal:
    """Start a program at a terminal of 24 lines and 100 columns. What it says gathers in ``said``."""

    def __init__(self, command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> None:
        self.main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.process = subprocess.Popen(
            list(command), cwd=folder, env=environment, stdin=side, stdout=side, stderr=side, start_new_session=True
        )
        os.close(side)
        self.said = ""
        self._read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left running."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=PATIENCE)
            os.close(self.main)

    def read(self, until: str) -> str:
        """What it says from where was read last up to these words."""
        while until not in self.said[self._read :]:
            ready, _, _ = select.select([self.main], [], [], PATIENCE)
            assert ready, f"{until!r} was not said: {self.said}"
            try:
                data = os.read(self.main, 65536)
            except OSError:
                data = b""  # nobody is at the other end any more
            assert data, f"{until!r} was not said: {self.said}"
            self.said += data.decode(errors="replace")
        end = self.said.index(until, self._read) + len(until)
        told, self._read = self.said[self._read : end], end
        return told

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.main, keys.encode())

    def answer(self, question: str, words: str) -> str:
        """Wait for a question and type the answer; what was said up to it."""
        told = self.read(question)
        self.type(f"{words}\n")
        return told

    def end(self) -> int:
        """Read until it ends; its exit code."""
        try:
            while data := os.read(self.main, 65536):
                self.said += data.decode(errors="replace")
        except OSError:
            pass  # nobody is at the other end any more
        os.close(self.main)
        return self.process.wait(timeout=PATIENCE)
