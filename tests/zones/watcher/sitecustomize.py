"""On the path of a Python process: it writes down every process that is started and every socket that is made.

An audit hook sees what the interpreter does, whatever library asks for it.
"""

from __future__ import annotations

import os
import sys

FILE = "EVENTS_FILE"
WATCHED = (
    "subprocess.Popen",
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "os.system",
    "os.exec",
    "socket.__new__",
    "socket.connect",
)


def watch(event: str, arguments: tuple[object, ...]) -> None:
    """Keep one event, in the process that was told where."""
    if event in WATCHED and (where := os.environ.get(FILE)):
        handle = os.open(where, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{event} {arguments!r}\n".encode())
        os.close(handle)


sys.addaudithook(watch)
