"""Untrusted words made plain: they mean only themselves, in a terminal, a build log, a document or a page."""

from __future__ import annotations

import re

from reviewbot.screen import hidden, secrets
from reviewbot.screen.storable import storable as storable

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])|\x9b[0-?]*[ -/]*[@-~]")
_COLOUR = r"\x1b\[[0-9;]*m"
_LINE_COMMAND = re.compile(rf"(?m)^((?:{_COLOUR}|[^\S\n])*):(?=:)")
_OLD_COMMAND = re.compile(r"##(?=\[)")
_UNDECODABLE = re.compile("[\udc80-\udcff]")


def text(words: str) -> str:
    """No colour sequences, hidden characters and undecodable bytes visible, known secrets redacted. Lines and tabs stay."""
    stripped = _ANSI.sub("", words).replace("\r\n", "\n").rstrip("\r")
    redacted = secrets.redact(stripped)[0]
    visible = hidden.visible(_UNDECODABLE.sub(lambda byte: storable(byte.group()), redacted))
    return visible if visible == redacted else secrets.redact(visible)[0]


def terminal(words: str) -> str:
    """``text`` for a terminal or a build log: tabs are four columns, and no line is a command to the runner."""
    return defuse(text(words).expandtabs(4))


def line(words: str) -> str:
    """``terminal`` on one line."""
    return " ".join(terminal(words).split())


def defuse(output: str) -> str:
    """A whole output without workflow commands (``::error::`` at a line's start, ``##[group]`` anywhere); colours stay."""
    return _LINE_COMMAND.sub(r"\1: ", _OLD_COMMAND.sub("## ", output))


def shortened(words: str, limit: int) -> str:
    """``words``, or their beginning and how much was left out."""
    if len(words) <= limit:
        return words
    return f"{words[:limit].rstrip()} … ({len(words) - limit:,} characters left out)"
