"""Following a review: lines, JSON, and a live view in a real pseudo-terminal that leaves no trace."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from reviewbot.cli.live import JsonLines, Lines, showing
from reviewbot.cli.live_board import REMEMBERED, Board
from reviewbot.cli.live_view import drawn
from reviewbot.ports import Progress
from tests.publish.samples import HOSTILE_WORDS
from tests.rings import examples

GIVE_UP_SECONDS = 30
KEY = "ghp_" + "a1B2" * 9


class Clock:
    """A clock that the test sets."""

    now = 0.0

    def seconds(self) -> float:
        return self.now


def asked(seat: str = "critic", subject: str = "P1", **more: str | int | float) -> Progress:
    fields = {"event": "asked", "seat": seat, "model": "anthropic:claude-sonnet-5", "phase": "S1", "subject": subject, "round": 1}
    return Progress("debate", f"{seat} reads {subject}", fields | {"attempt": 1} | more)


def answered(seat: str = "critic", subject: str = "P1", **more: str | int | float) -> Progress:
    fields = {**asked(seat, subject).fields, "event": "answered", "status": "ok", "usd": 0.01, "seconds": 2.5, "calls": 1}
    return Progress("debate", f"{seat} ({subject}): answered", fields | {"replayed": 0} | more)


def seen(*events: Progress, width: int = 100, now: float = 0.0, board: Board | None = None) -> str:
    """What the view shows after these events."""
    board = board or Board()
    for event in events:
        board.see(event, 0.0)
    console = Console(file=io.StringIO(), width=width, color_system=None, _environ={})
    with console.capture() as capture:
        console.print(drawn(board, now))
    return capture.get()


def test_a_question_is_in_view_until_it_is_answered() -> None:
    waiting = seen(asked(), asked("reviewer"), now=7.0)
    assert "7 s · 2 in flight · 0 calls · $0.0000" in waiting
    assert re.search(r"critic +anthropic:claude-sonnet-5 +S1 +P1 +7 s", waiting)
    after = seen(asked(), asked("reviewer"), answered(claims=3))
    assert "1 in flight · 1 calls · $0.0100" in after
    assert "✓ critic S1 P1 3 claims  2.5 s $0.0100" in after


def test_two_questions_to_one_seat_are_two() -> None:
    view = seen(asked(subject="F1"), asked(subject="F2"), asked(subject="F2", attempt=2), answered(subject="F2"))
    assert "2 in flight" in view


def test_votes_stand_by_case_and_a_later_stance_replaces_an_earlier_one() -> None:
    said = [
        answered(subject="F1", stance="oppose"),
        answered("reviewer", "F1", stance="support"),
        answered(subject="F1", stance="neutral"),
    ]
    assert "F1  critic ○  reviewer ●" in seen(*said)


def test_what_went_wrong_is_marked_and_what_was_replayed_costs_nothing_now() -> None:
    view = seen(answered(status="timeout", summary="no answer in 120 s"), answered("reviewer", replayed=1))
    assert "✗ critic S1 P1 no answer in 120 s" in view
    assert "2.5 s replayed" in view
    assert "2 calls (1 replayed)" in view


def test_money_is_shown_against_its_cap() -> None:
    assert "$0.0100 of $0.50" in seen(answered(), board=Board(cap_usd=0.5))
    assert "9 calls · $0.2500 of $2.00" in seen(Progress("cost", "", {"usd": 0.25, "cap_usd": 2.0, "calls": 9}))


def test_the_view_stays_small_however_long_a_debate_is() -> None:
    view = seen(*(answered(subject=f"P{n}") for n in range(100)), Progress("evidence", "3 results, 2 new"))
    assert len(view.splitlines()) == 2 + REMEMBERED
    assert "evidence: 3 results, 2 new" in view


@pytest.mark.parametrize("width", [20, 40, 100])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    events = (
        asked(),
        answered("reviewer", summary="x" * 300),
        answered("optimizer", "F1", stance="support"),
        Progress("proof", "y" * 300),
    )
    rows = seen(*events, width=width).splitlines()
    assert all(len(row) <= width for row in rows)
    assert len(rows) == 6, "what is too long is cut, not wrapped"


def test_no_word_of_a_model_steers_the_terminal() -> None:
    fields = dict.fromkeys(("seat", "model", "phase", "subject", "summary", "stance"), HOSTILE_WORDS)
    events = [Progress("debate", HOSTILE_WORDS, fields | {"event": event}) for event in ("asked", "answered")]
    view = seen(events[1], events[0], Progress(HOSTILE_WORDS, HOSTILE_WORDS), width=10_000)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", view)
    assert KEY not in view
    stream = io.StringIO()
    Lines(stream, prompts=True).saw(Progress(HOSTILE_WORDS, HOSTILE_WORDS, {"prompt": HOSTILE_WORDS}))
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", stream.getvalue())
    assert not any(line.lstrip().startswith("::") for line in stream.getvalue().split("\n"))
    assert KEY not in stream.getvalue()


def test_an_event_is_one_line_of_json_with_its_moment() -> None:
    stream, clock = io.StringIO(), Clock()
    observer = JsonLines(stream, clock)
    clock.now = 1.25
    observer.saw(answered(prompt="secret question"))
    observer.saw(Progress("evidence", "running ruff"))
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first["event"] == "answered"
    assert (first["at"], first["stage"], first["usd"], first["seat"]) == (1.25, "debate", 0.01, "critic")
    assert "prompt" not in first
    assert second == {"event": "evidence", "at": 1.25, "stage": "evidence", "text": "running ruff"}


def test_prompts_are_shown_to_whom_asked_for_them() -> None:
    stream = io.StringIO()
    JsonLines(stream, Clock(), prompts=True).saw(asked(prompt="What is wrong?"))
    assert json.loads(stream.getvalue())["prompt"] == "What is wrong?"
    lines = io.StringIO()
    Lines(lines, prompts=True).saw(asked(prompt="What is wrong?\nTell."))
    assert lines.getvalue() == "reviewbot: debate: critic reads P1\n  │ What is wrong?\n  │ Tell.\n"


@settings(derandomize=True, max_examples=examples(50))
@given(st.text(st.characters(codec=None, exclude_categories=())), st.floats() | st.integers())
@example("x", float("nan"))
@example("x", float("-inf"))
def test_any_event_is_json_on_one_line_of_ascii(words: str, number: float) -> None:
    stream = io.StringIO()
    JsonLines(stream, Clock()).saw(Progress(words, f"{words} {KEY} ##[error]", {"event": words, "summary": words, "usd": number}))
    assert stream.getvalue().isascii()
    assert stream.getvalue().count("\n") == 1
    assert "##[" not in stream.getvalue()
    assert KEY not in stream.getvalue()
    assert set(json.loads(stream.getvalue())) == {"event", "at", "stage", "text", "summary", "usd"}


def test_nobody_fails_because_nobody_reads() -> None:
    closed = io.StringIO()
    closed.close()
    Lines(closed).saw(asked())
    JsonLines(closed, Clock()).saw(asked())


@pytest.mark.parametrize("reason", ["no terminal", "dumb", "prompts"])
def test_without_a_terminal_that_can_show_it_there_are_lines(reason: str) -> None:
    stream = io.StringIO()
    if reason != "no terminal":
        stream.isatty = lambda: True  # type: ignore[method-assign]
    with showing(stream, Clock(), color=True, dumb=reason == "dumb", prompts=reason == "prompts") as observer:
        observer.saw(asked())
    assert stream.getvalue() == "reviewbot: debate: critic reads P1\n"


CHILD = """
import fcntl, sys, termios, time
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from reviewbot.cli.live import showing
from tests.cli.test_live import asked, answered
class Clock:
    def seconds(self): return time.monotonic()
print("before", file=sys.stderr)
try:
    with showing(sys.stderr, Clock(), color={color}, cap_usd=0.5) as observer:
        observer.saw(answered(summary="three claims"))
        observer.saw(asked("reviewer"))
        {then}
except (KeyboardInterrupt, ValueError) as error:
    print("ended by", type(error).__name__, file=sys.stderr)
print("after", file=sys.stderr)
"""
WAITING = "import asyncio; asyncio.run(asyncio.sleep(60))"


class Terminal:
    """Our end of a pseudo-terminal: what arrived so far, and what a person would see of it."""

    def __init__(self, master: int, child: subprocess.Popen[bytes]) -> None:
        self.master = master
        self.child = child
        self.raw = ""

    def until(self, words: str) -> str:
        """Read until ``words`` arrived (``""``: until the child hangs up)."""
        end = time.monotonic() + GIVE_UP_SECONDS
        while not words or words not in self.raw:
            assert time.monotonic() < end, f"{words!r} never came: {self.raw!r}"
            if not select.select([self.master], [], [], 0.2)[0]:
                continue
            data = b""
            with suppress(OSError):  # Linux: EIO once the other side is closed
                data = os.read(self.master, 65_536)
            if not data:
                assert not words, f"{words!r} never came: {self.raw!r}"
                break
            self.raw += data.decode("utf-8", "replace")
        return self.raw

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def screen(self) -> list[str]:
        """The lines that are left, by the few sequences that a transient view uses."""
        lines, row, column = [""], 0, 0
        for token in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|.|\n|\r", self.raw, re.DOTALL):
            if token == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif token == "\r":
                column = 0
            elif token.startswith("\x1b["):
                if token.endswith("A"):
                    row = max(0, row - int(token[2:-1] or 1))
                elif token.endswith("K"):
                    lines[row] = ""
                else:
                    assert token.endswith(("m", "h", "l")), token
            else:
                lines[row] = lines[row].ljust(column)[:column] + token + lines[row][column + 1 :]
                column += 1
        return "\n".join(line.rstrip() for line in lines).rstrip("\n").split("\n")

    @property
    def has_cursor(self) -> bool:
        return self.raw.rfind("\x1b[?25h") >= self.raw.rfind("\x1b[?25l")


@contextmanager
def terminal(then: str, *, color: bool = True) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    program = CHILD.format(then=then, color=color)
    child = subprocess.Popen([sys.executable, "-c", program], stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    try:
        yield Terminal(master, child)
    finally:
        with suppress(ProcessLookupError):
            child.send_signal(signal.SIGKILL)
        child.wait()
        os.close(master)


def test_a_terminal_shows_the_debate_and_is_clean_afterwards() -> None:
    with terminal("time.sleep(0.5)") as seat:
        shown = seat.until("1 in flight")
        assert "\x1b[?25l" in shown
        seat.until("")
        assert "three claims" in seat.raw
        assert "$0.0100 of $0.50" in seat.raw
        assert seat.screen() == ["before", "after"]
        assert seat.has_cursor


@pytest.mark.parametrize("ending", ["interrupt", "exception"])
def test_however_it_ends_the_terminal_is_clean(ending: str) -> None:
    with terminal(WAITING if ending == "interrupt" else "time.sleep(0.3); raise ValueError") as seat:
        seat.until("1 in flight")
        if ending == "interrupt":
            os.write(seat.master, b"\x03")
        seat.until("")
        name = "KeyboardInterrupt" if ending == "interrupt" else "ValueError"
        assert [line.removeprefix("^C") for line in seat.screen()] == ["before", f"ended by {name}", "after"]
        assert seat.has_cursor


def test_the_view_takes_the_width_that_there_is() -> None:
    with terminal(WAITING) as seat:
        seat.until("anthropic:claude-sonnet-5")
        seat.resize(24, 30)
        seat.until("…")
        seat.raw = ""
        seat.until("in flight")
        seat.until("in fli")
        bare = re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", seat.raw)
        assert all(len(line) <= 30 for line in re.split("[\r\n]+", bare))


def test_no_colour_means_no_colour() -> None:
    with terminal("time.sleep(0.3)", color=False) as seat:
        seat.until("")
        codes = {code for found in re.findall(r"\x1b\[([\d;]*)m", seat.raw) for code in found.split(";")}
        assert not {code for code in codes if re.fullmatch("[349]\\d", code)}
