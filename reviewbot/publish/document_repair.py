"""What became of tasks, as the review document holds it: each patch with its proof, and what was tried; never whole files.

A patch is applied byte by byte, so it is written as it is or not at all: one in which redaction would change something, or for
which there is no room, is withheld, and that is said.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from reviewbot.domain.repair import Proven, Repair, Tried
from reviewbot.publish import plain
from reviewbot.publish.document_check import check_fields
from reviewbot.screen import secrets

MOST_PATCH = 1_000_000
"""Bytes of one patch."""
MOST_PATCHES, MOST_TRIED = 4_000_000, 1_000_000
"""Characters of JSON of all patches that may be used, and of all that were only tried: half of what is read [design]."""

UTF8, BASE64 = "utf-8", "base64"
SECRET = "it holds what looks like a secret"
LARGE = "it is too large"


@dataclass(slots=True)
class _Room:
    """Characters that are left for patches."""

    left: int

    def takes(self, patch: bytes, written: str) -> bool:
        """It fits; then it is in."""
        size = len(json.dumps(written))
        fits = len(patch) <= MOST_PATCH and size <= self.left
        self.left -= size if fits else 0
        return fits


def repairs_fields(repairs: Iterable[Repair]) -> list[dict[str, Any]]:
    """All of them, in their order."""
    return list(_fields(repairs, _Room(MOST_PATCHES), _Room(MOST_TRIED)))


def is_secret(patch: bytes) -> bool:
    """Redaction would change it. Each line bears a mark, which must not part a key of several lines."""
    text = patch.decode("utf-8", "replace")
    unmarked = "\n".join(line[1:] for line in text.split("\n"))
    return any(next(secrets.find(words), None) for words in (text, unmarked))


def _fields(repairs: Iterable[Repair], room: _Room, tried: _Room) -> Iterator[dict[str, Any]]:
    for repair in repairs:
        why = repair.withheld or (SECRET if is_secret(repair.patch) else "")
        patch = _patch(b"" if why else repair.patch)
        if not why and not room.takes(repair.patch, patch["patch"]):
            why, patch = LARGE, _patch(b"")
        yield {
            "finding": repair.id,
            "title": repair.title,
            "goal": repair.goal.value,
            "outcome": repair.outcome.value,
            "why": _safe(repair.why),
            "author": repair.author,
            "explanation": _safe(repair.explanation),
            **patch,
            "withheld": why,
            "proof": _proof(repair.proof) if repair.proof else None,
            "tries": [_tried(one, tried) for one in repair.tries],
            "dissent": None if repair.dissent is None else _safe(repair.dissent),
        }


def _tried(tried: Tried, room: _Room) -> dict[str, Any]:
    """Nobody applies it: what cannot be shown is left out without a word."""
    patch = _patch(tried.patch)
    shown = bool(tried.patch) and not is_secret(tried.patch) and room.takes(tried.patch, patch["patch"])
    left_out = {"patch": None, "encoding": UTF8}
    told = {"author": tried.author, "attempt": tried.attempt, "reason": _safe(tried.reason)}
    return told | (patch if shown else left_out)


def _patch(patch: bytes) -> dict[str, str]:
    """As text; in base64 where it is none, or none that JSON readers take."""
    try:
        text = patch.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if text.encode() == patch and plain.storable(text) == text:
        return {"patch": text, "encoding": UTF8}
    return {"patch": base64.b64encode(patch).decode("ascii"), "encoding": BASE64}


def _proof(proof: Proven) -> dict[str, Any]:
    return {
        "told": _safe(proof.told),
        "check": check_fields(proof.check) if proof.check else None,
        "beside": [_safe(words) for words in proof.beside],
    }


def _safe(words: str) -> str:
    """Words of models and programs without known secrets."""
    return secrets.redact(words)[0]
