"""Commands as a person runs them: in a terminal of so many columns, with a home of their own."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path

ROWS = 50
REVIEWBOT = str(Path(sys.executable).with_name("reviewbot"))


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a command knows of this machine: where programs are, and nothing else."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "TZ": "UTC", **more}


def shown(command: tuple[str, ...], *, columns: int, folder: Path, environ: Mapping[str, str]) -> str:
    """What the command writes to a terminal until it has ended."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    child = subprocess.Popen(
        command, cwd=folder, env=dict(environ), stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    written = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    child.wait()
    return written.decode("utf-8")


def _read(terminal: int) -> bytes:
    """What comes next; nothing once the other side is gone, which Linux calls an error."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError as gone:
        if gone.errno != errno.EIO:
            raise
        return b""
