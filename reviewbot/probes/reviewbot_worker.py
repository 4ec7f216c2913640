"""Calls a target again and again for another process: JSON lines on standard input, answers on the descriptor it is told.

The first line is the target. Its answer is ``{"parameters": …, "constants": …}`` or ``{"unable": code, "reason"}``. Each further
line is ``{"arguments": [text…]}``; the answers are described in ``reviewbot_replay``. That a call does not end, or ends the
process, the one who asks must notice.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

from reviewbot_targets import Loaded, Unloadable, constants, load
from reviewbot_values import (
    Teller,
    Unbuildable,
    argument,
    ascii_text,
    cut,
    drained,
)
from reviewbot_wall import Touched, Wall

ROOM = 512 * 1024 * 1024
"""Bytes of memory a call may take beyond what the loaded code takes."""
MAX_PRINTED = 1_000_000
Answer = dict[str, Any]


class Paper(io.StringIO):
    """What is printed, as far as it is kept."""

    def write(self, text: str) -> int:
        return super().write(text) if self.tell() < MAX_PRINTED else len(text)


def main(descriptor: int) -> None:
    with os.fdopen(os.dup(0), encoding="utf-8") as questions, os.fdopen(descriptor, "w", encoding="utf-8") as answers:
        quiet = os.open(os.devnull, os.O_RDONLY)
        os.dup2(quiet, 0)
        wall = Wall()
        sys.addaudithook(wall)
        target = _Target(wall)
        answer: Callable[[Any], Answer] = target.loaded
        for line in questions:
            answers.write(json.dumps(answer(json.loads(line))) + "\n")
            answers.flush()
            answer = target.called


class _Target:
    def __init__(self, wall: Wall) -> None:
        self._wall = wall
        self._loaded: Loaded | None = None

    def loaded(self, target: Any) -> Answer:
        """The first answer."""
        sys.path.append(sys.path.pop(0))  # this folder, after everything that the code under test may mean
        sys.argv = [target.get("path", "specification.py")]
        try:
            self._loaded = load(target)
            told = {"parameters": self._loaded.parameters(), "constants": constants(target)}
        except Unloadable as exc:
            return {"unable": exc.code, "reason": ascii_text(exc)}
        limit()
        return told

    def called(self, question: Any) -> Answer:
        """What comes of one call."""
        if self._loaded is None:
            return {"unable": "spoilt", "reason": "it was asked before it was loaded"}
        self._wall.touched = ""
        try:
            answer = call(self._loaded, question["arguments"], self._wall)
        except Touched:
            answer = {}
        finally:
            self._wall.up = False
        return {"touches": self._wall.touched} if self._wall.touched else answer


def limit() -> None:
    """Let a call that takes too much memory fail before the whole sandbox does."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize() + ROOM
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        if soft == resource.RLIM_INFINITY or taken < soft:
            resource.setrlimit(resource.RLIMIT_AS, (taken, hard))


def call(loaded: Loaded, texts: list[str], wall: Wall) -> Answer:
    """One call, and what it left behind."""
    try:
        wall.up = True
        given = [argument(text, loaded.names) for text in texts]
    except Exception as exc:  # making a value runs code of the tree
        return {"unbuildable": ascii_text(exc if isinstance(exc, Unbuildable) else f"{type(exc).__name__}: {ascii_text(exc)}")}
    before = _state(given, loaded, private=False)[0]
    paper = Paper()
    with contextlib.redirect_stdout(paper):
        answer, returned = _ended(loaded, given)
    if loaded.judges or "unbuildable" in answer:
        return answer
    after = _state(given, loaded, private=False)[0]
    changed = {name: text for name, text in after.items() if text != before[name]}
    private, hidden = _state([*given, ("return", returned)], loaded, private=True)
    if changed:
        answer["mutated"] = changed
    if paper.getvalue():
        answer["printed"] = cut(ascii(paper.getvalue()))
    if hidden:
        answer["private"] = {"names": sorted(map(ascii_text, hidden)), "text": cut("; ".join(private.values()))}
    return answer


def _ended(loaded: Loaded, given: list[tuple[str, Any]]) -> tuple[Answer, Any]:
    """The answer, and the value returned."""
    try:
        words = {word: value for word, value in given if word}
        returned = drained(loaded.call(*(value for word, value in given if not word), **words))
    except Touched:
        raise
    except MemoryError:
        return {"unbuildable": "it takes more memory than there is"}, None
    except BaseException as exc:
        return {"raises": ascii_text(type(exc).__qualname__), "message": ascii_text(exc)}, None
    if loaded.judges:
        return returned, None
    return {"returns": _told(returned, Teller(private=False))}, returned


def _state(given: list[tuple[str, Any]], loaded: Loaded, *, private: bool) -> tuple[dict[str, str], set[str]]:
    """What the arguments hold, by parameter, and the names of private attributes."""
    teller = Teller(private=private)
    names = list(loaded.signature.parameters)
    told = {word or names[place]: _told(value, teller) for place, (word, value) in enumerate(given) if word or place < len(names)}
    return told, teller.hidden


def _told(value: Any, teller: Teller) -> str:
    try:
        return str(cut(teller.tell(value)))
    except Touched:
        raise
    except BaseException as exc:
        return f"<{ascii_text(type(value).__name__)} that cannot be told: {ascii_text(type(exc).__name__)}>"


if __name__ == "__main__":
    main(int(sys.argv[1]))
