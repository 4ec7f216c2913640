"""The code that a debate made, in its record: every task, every try, every file that was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reviewbot.domain.repair import CodeVersion, Repair, Tried
from reviewbot.publish import plain, repaired
from reviewbot.publish.document_repair import repairs_fields


def lines(repairs: tuple[Repair, ...]) -> Iterator[str]:
    """For a terminal or a file."""
    for repair in repairs:
        by = f" by {repair.author}" if repair.author else ""
        yield ""
        yield plain.line(f"════ {repair.id} {repair.outcome.value}{by}: {repair.title}")
        for label, words in (("proof", repaired.proof(repair)), ("why", repaired.why(repair)), ("dissent", repair.dissent)):
            if words:
                yield f"     {label}: {plain.line(words)}"
        if repair.patch:
            yield from block("patch", repaired.readable(repair.patch))
        for number, tried in enumerate(repair.tries, start=1):
            told = f"try {number} by {tried.author}, attempt {tried.attempt}: {tried.reason or 'it was used'}"
            yield f"  {plain.line(told)}"
            for version in tried.versions:
                yield from _version(version)
            if tried.patch:
                yield from block("patch", repaired.readable(tried.patch))


def fields(repairs: tuple[Repair, ...]) -> list[dict[str, Any]]:
    """For a program: as the review document has them, and with every version of every try. To be read, not to be applied: known
    secrets are redacted in it, and hidden characters made visible in patches."""
    written = repairs_fields(repairs)
    for one, repair in zip(written, repairs, strict=True):
        one |= {"patch": repaired.readable(repair.patch), "tries": [_tried(tried) for tried in repair.tries]}
        del one["encoding"]
    return written


def words_of(data: bytes) -> str:
    """Bytes of a file as words."""
    return data.decode("utf-8", "surrogateescape")


def block(label: str, words: str) -> Iterator[str]:
    """Words of several lines below a label."""
    yield f"  {plain.line(label)}:"
    yield from (f"    │ {row}" for row in plain.terminal(words).strip("\n").split("\n"))


def _version(version: CodeVersion) -> Iterator[str]:
    name = f"version {version.number} of {version.path} by {version.by}"
    if version.content is None:
        yield f"  {plain.line(name)}: it went"
    else:
        yield from block(name, words_of(version.content))


def _tried(tried: Tried) -> dict[str, Any]:
    return {
        "author": tried.author,
        "attempt": tried.attempt,
        "reason": tried.reason,
        "patch": repaired.readable(tried.patch),
        "versions": [
            {
                "number": version.number,
                "path": version.path,
                "by": version.by,
                "content": None if version.content is None else words_of(version.content),
            }
            for version in tried.versions
        ],
    }
