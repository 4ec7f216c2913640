"""Output of tools, made fit to be seen: no secrets, nothing hidden, no escape sequences, not too much."""

from __future__ import annotations

import re

from reviewbot.screen import hidden, secrets

LIMIT = 4000
_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,16}\b")
"""Where an object lay in memory: other in every run, and of no use to anybody."""
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")


def excerpt(text: str, limit: int = LIMIT) -> str:
    """The text, its middle left out where it is longer than ``limit`` characters."""
    clean = _clean(text if len(text) <= 20 * limit else text[: 10 * limit] + text[-10 * limit :])
    if len(clean) <= limit:
        return clean
    half = limit // 2
    return f"{clean[:half]}\n... {len(clean) - 2 * half} characters left out ...\n{clean[-half:]}"


def sentence(text: str, limit: int = 200) -> str:
    """The text on one line."""
    clean = " ".join(_clean(text[: 20 * limit]).split())
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def first_line(text: str) -> str:
    """What a failure says first: pytest explains itself on further lines."""
    return sentence(text.strip().partition("\n")[0])


def output(data: bytes, limit: int = LIMIT) -> str:
    """Bytes of a process."""
    return excerpt(data.decode("utf-8", "replace"), limit)


def _clean(text: str) -> str:
    return hidden.visible(secrets.redact(_ADDRESS.sub("0x…", _ESCAPES.sub("", text)))[0])
