"""Keeps calls with made-up arguments from the world: what writes, starts processes or opens connections is stopped and noted.

An audit hook, so it is a guard against accidents; the sandbox is the wall against malice.
"""

from __future__ import annotations

import os
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
PROGRAMS = {"os", "shutil", "subprocess", "fcntl", "pty", "mmap", "tempfile", "syslog", "resource", "signal", "webbrowser"}
NETWORKS = {"socket", "sqlite3", "urllib", "http", "ftplib", "smtplib", "imaplib", "poplib"}
GROUPS = PROGRAMS | NETWORKS
READING = {"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr"}
HARMLESS = READING | {"os.putenv", "os.unsetenv"}


class Touched(BaseException):
    """The code under test reaches for the world."""


class Wall:
    """Stands only while ``up``. ``touched`` is the first event that was stopped."""

    def __init__(self) -> None:
        self.up = False
        self.touched = ""

    def __enter__(self) -> Wall:
        self.up = True
        return self

    def __exit__(self, *_: object) -> None:
        self.up = False

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if self.up and _reaches_out(event, args):
            self.touched = self.touched or event
            raise Touched(event)


def _reaches_out(event: str, args: tuple[Any, ...]) -> bool:
    if event == "open":
        flags = args[2] if len(args) > 2 else 0
        return isinstance(flags, int) and bool(flags & WRITING) and args[0] != os.devnull
    return event.partition(".")[0] in GROUPS and event not in HARMLESS
