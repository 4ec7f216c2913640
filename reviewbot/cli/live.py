"""Following a review: a live view on a terminal, plain lines elsewhere, lines of JSON for programs.

Observers are called from several threads and never raise: nobody's review fails because nobody could watch it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TextIO

from reviewbot.cli.live_board import Board
from reviewbot.ports import Clock, Observer, Progress
from reviewbot.publish import plain
from reviewbot.screen import secrets

FRAMES_PER_SECOND = 8
PROMPT = "prompt"
"""The field that holds what a panelist is asked; shown only where that was wished."""


class Lines:
    """A line for people per event. Repeats nothing that a terminal would obey."""

    def __init__(self, stream: TextIO, *, prompts: bool = False) -> None:
        self._writer = _Writer(stream)
        self._prompts = prompts

    def saw(self, progress: Progress) -> None:
        """One line, and the prompt below it."""
        told = f"reviewbot: {plain.line(progress.stage)}: {plain.line(progress.text)}\n"
        if self._prompts and (prompt := str(progress.fields.get(PROMPT, ""))):
            told += "".join(f"  │ {row}\n" for row in plain.terminal(prompt).split("\n"))
        self._writer.write(told)


class JsonLines:
    """A JSON object per event: ``event``, ``at`` (seconds since the start), ``stage``, ``text``, and the event's own fields."""

    def __init__(self, stream: TextIO, clock: Clock, *, prompts: bool = False) -> None:
        self._writer = _Writer(stream)
        self._clock = clock
        self._started = clock.seconds()
        self._prompts = prompts

    def saw(self, progress: Progress) -> None:
        """One line."""
        fields = {name: _value(value) for name, value in progress.fields.items() if self._prompts or name != PROMPT}
        told = {
            **fields,
            "event": fields.get("event", progress.stage),
            "at": round(self._clock.seconds() - self._started, 3),
            "stage": progress.stage,
            "text": _value(progress.text),
        }
        line = json.dumps(told, ensure_ascii=True, allow_nan=False).replace("##[", "\\u0023#[")
        self._writer.write(line + "\n")


class _Writer:
    """A stream that threads may share and that may go away."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = Lock()

    def write(self, words: str) -> None:
        """The words at once, or not at all."""
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(words)
            self._stream.flush()


class _View:
    """The observer behind the live view."""

    def __init__(self, board: Board, clock: Clock) -> None:
        self._board = board
        self._clock = clock
        self._lock = Lock()

    def saw(self, progress: Progress) -> None:
        """The next frame shows it."""
        with self._lock:
            self._board.see(progress, self._clock.seconds())

    def __rich__(self) -> object:
        from reviewbot.cli.live_view import drawn

        with self._lock:
            return drawn(self._board, self._clock.seconds())


@contextmanager
def showing(
    stream: TextIO, clock: Clock, *, color: bool, cap_usd: float | None = None, dumb: bool = False, prompts: bool = False
) -> Iterator[Observer]:
    """A live view on a terminal while the block runs, plain lines where ``stream`` is none or is ``dumb``.

    The view takes as many columns and rows as there are at each frame. However the block ends, the view is gone afterwards and
    the cursor is back. Prompts are too long for a view: whoever wants them gets lines.
    """
    if dumb or prompts or not stream.isatty():
        yield Lines(stream, prompts=prompts)
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, no_color=not color, highlight=False, markup=False, emoji=False, _environ={"TERM": "xterm"})
    view = _View(Board(started=clock.seconds(), cap_usd=cap_usd), clock)
    try:
        with Live(
            get_renderable=view.__rich__,  # type: ignore[arg-type]
            console=console,
            transient=True,
            refresh_per_second=FRAMES_PER_SECOND,
            redirect_stdout=False,
            redirect_stderr=False,
        ):
            yield view
    finally:  # also where an interrupt arrives while the view is being taken down
        with suppress(OSError, ValueError):
            console.show_cursor(show=True)


def _value(value: str | int | float) -> str | int | float:
    """A text without known secrets and storable, a number that JSON knows."""
    if isinstance(value, str):
        return plain.storable(secrets.redact(value)[0])
    return value if isinstance(value, int) or math.isfinite(value) else str(value)
