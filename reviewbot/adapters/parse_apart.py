"""A parser of another package, in a process of its own: what it reads was written by code of the change, and it may do anything.

The process has no environment, and limits of memory, time and output. A parser that crashes it, hangs, or leaves the
program is then no harm to the review. What comes back is JSON, and whoever asked reads it strictly. It is no wall: the process
is the same user's.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import asdict, is_dataclass
from itertools import islice
from typing import Any

from reviewbot.adapters.installed import Broken, Extension, guarded, loaded
from reviewbot.screen import strict_json

SECONDS = 30.0
"""For one report, the start of Python included [design]."""
MEMORY_BYTES = 1024 * 1024 * 1024
"""Of address space: a report of the largest size that is kept, as text and as values."""
MOST_BYTES = 16_000_000
"""Of what comes back."""
MOST_ITEMS = 10_000
"""Things that one report says; further ones are not carried over [design]."""
LONGEST = 20_000
"""Characters of each text that is carried over."""
REASON = "Unreadable"
"""The name of the one exception that a parser may raise."""
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from reviewbot.adapters.parse_apart import serve; serve()"


class Failed(Exception):
    """There are no items. The message says why, in words."""


def items(one: Extension, report: bytes) -> list[Any]:
    """What a parser made of a report: the fields of each value, as JSON has them. Raises Failed."""
    path = [entry for entry in sys.path if entry]
    command = [sys.executable, "-I", *(("-B",) if sys.dont_write_bytecode else ()), "-c", _PROGRAM, *path]
    head = json.dumps(asdict(one)).encode("ascii")
    try:
        with tempfile.TemporaryFile() as said:  # a pipe would have to be read, however much comes out of it
            done = subprocess.run(
                command,
                input=head + b"\n" + report,
                stdout=said,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                timeout=SECONDS,
                start_new_session=True,
                check=False,
            )
            said.seek(0)
            answer = said.read(MOST_BYTES + 1)
    except subprocess.TimeoutExpired:
        raise Failed(f"it took longer than {SECONDS:g} s") from None
    except OSError as error:
        raise Failed(f"it could not be begun: {error.strerror}") from error
    if done.returncode:
        raise Failed(_ended(done.returncode))
    return _read(answer)


def serve() -> None:
    """The other side: an entry point on a line and a report from standard input, what was made of it to standard output."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_BYTES + 1, MOST_BYTES + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(int(SECONDS) + 1)  # also where nobody is left to end it
    said = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # what a parser prints, or a program that it calls, must not stand in its answer
    head = sys.stdin.buffer.readline()
    report = sys.stdin.buffer.read()
    answer = _answer(Extension(**json.loads(head)), report)
    said.write(answer if len(answer) <= MOST_BYTES else json.dumps({"why": f"what it made is larger than {MOST_BYTES} bytes"}))
    said.flush()


def _answer(one: Extension, report: bytes) -> str:
    try:
        with guarded():
            return json.dumps({"items": [_fields(item) for item in islice(loaded(one).read(report), MOST_ITEMS)]})
    except Broken as exc:
        return json.dumps({"why": str(exc).removeprefix(f"{REASON}: ")})


def _fields(item: object) -> dict[str, Any]:
    if not is_dataclass(item) or isinstance(item, type):
        raise TypeError(f"it made {type(item).__name__}, which is no remark and no trial")
    return {name: value[:LONGEST] if isinstance(value, str) else value for name, value in asdict(item).items()}


def _read(answer: bytes) -> list[Any]:
    try:
        document = strict_json.loads(answer, max_bytes=MOST_BYTES)
    except strict_json.InvalidJson as exc:
        raise Failed(f"what it made cannot be carried over: {exc}") from exc
    if isinstance(document, dict) and isinstance(document.get("items"), list):
        return list(document["items"])
    raise Failed(str(document.get("why", "it made nothing")) if isinstance(document, dict) else "it made nothing")


def _ended(code: int) -> str:
    return f"it was ended by signal {-code}" if code < 0 else f"it ended with {code} and made nothing"
