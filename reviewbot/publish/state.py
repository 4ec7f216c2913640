"""What is remembered of a pull request, as one hidden line of the sticky comment: versioned, compressed, capped.

The line is trusted only where :mod:`reviewbot.publish.own` found it: under our own name, in a body that opens with the
summary's marker. Reading never raises: what is odd is no memory, with the reason in words.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.domain.evidence import Category
from reviewbot.domain.history import Fate, Handled, History, Known, Mended, PullMemory
from reviewbot.domain.repair import RepairOutcome
from reviewbot.domain.review import Conclusion, Verdict
from reviewbot.errors import UsageError
from reviewbot.publish import plain
from reviewbot.publish.document_request import known_fields
from reviewbot.publish.node import Kind, Node, root
from reviewbot.screen import secrets

VERSION = 1
MOST_CHARACTERS = 20_000
"""Of the whole line: a comment holds 65,536, and the summary wants the rest."""

MOST_BYTES = 500_000
"""Of the JSON: a small line that unpacks to more is no state of ours."""

MOST_HANDLED = 200
MOST_RUNS = 10
MOST_MENDED = 100
MOST_WHY = 160
"""Characters of the reason why a fix is not there."""

_STATE = Kind("state of the pull request", "say '/debate full' to review everything again", MOST_BYTES)
_LINE = re.compile(r"<!-- reviewbot:state v(\d{1,4}) ([A-Za-z0-9._]*) -->")
_ALPHABET = b"._"
"""In place of ``+/``: no word of a comment's end, no Markdown."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The memory that a line holds, or ``None`` and why there is none."""

    memory: PullMemory | None
    reason: str = ""


def encode(memory: PullMemory) -> str:
    """The line. What does not fit is forgotten in this order: what was seen (the next review looks at everything), findings that
    were fixed, open ones from the mildest on, the oldest dismissals. Numbers are never given twice for that."""
    line = ""
    for smaller in _shrinking(_bounded(memory)):
        packed = zlib.compress(json.dumps(_written(smaller), separators=(",", ":")).encode("ascii"), 9)
        line = f"<!-- reviewbot:state v{VERSION} {base64.b64encode(packed, _ALPHABET).decode('ascii').rstrip('=')} -->"
        if len(line) <= MOST_CHARACTERS:
            break
    return line


def decode(line: str) -> Kept:
    """What a line of a body remembers."""
    if not line.startswith("<!-- reviewbot:state "):
        return Kept(None, "there is no state")
    match = _LINE.fullmatch(line) if len(line) <= MOST_CHARACTERS else None
    if match is None:
        return Kept(None, "the state is not one that reviewbot writes")
    if int(match[1]) != VERSION:
        return Kept(None, f"the state is of version {match[1]}, not {VERSION}")
    try:
        return Kept(_memory(root(_unpacked(match[2]), _STATE)))
    except (ValueError, zlib.error) as exc:
        return Kept(None, f"the state cannot be unpacked: {exc}")
    except UsageError as exc:
        return Kept(None, exc.message)


def _unpacked(words: str) -> bytes:
    packed = base64.b64decode(words + "=" * (-len(words) % 4), _ALPHABET, validate=True)
    unpacking = zlib.decompressobj()
    found = unpacking.decompress(packed, MOST_BYTES + 1)
    if len(found) > MOST_BYTES:
        raise ValueError(f"it holds more than {MOST_BYTES:,} bytes")
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("it is cut off, or goes on after its end")
    return found


def _bounded(memory: PullMemory) -> PullMemory:
    """The memory as it can be written: only the last commands, texts that JSON readers take, no known secret."""
    history = memory.history
    return replace(
        memory,
        paused_by=_storable(memory.paused_by),
        paused_at=_storable(memory.paused_at),
        handled=memory.handled[-MOST_HANDLED:],
        run_id=_storable(memory.run_id),
        base_ref=_storable(memory.base_ref),
        workflow_runs=memory.workflow_runs[-MOST_RUNS:],
        cost_usd=round(memory.cost_usd, 6),
        said=_storable(memory.said),
        mended=tuple(map(_bounded_mended, _longest(memory.mended))),
        mended_head=_storable(memory.mended_head),
        unfinished=_storable(memory.unfinished),
        autofix_why=_storable(memory.autofix_why),
        history=replace(
            history,
            head=_storable(history.head),
            base=_storable(history.base),
            course=_storable(history.course),
            seen=frozenset(map(_storable, history.seen)),
            findings=tuple(map(_bounded_known, history.findings)),
            whole=_storable(history.whole),
        ),
    )


def _bounded_known(known: Known) -> Known:
    return replace(
        known,
        id=_storable(known.id),
        fingerprint=_storable(known.fingerprint),
        path=_storable(known.path),
        title=_storable(known.title),
        text=_storable(known.text),
        rule=None if known.rule is None else _storable(known.rule),
        reason=_storable(known.reason),
        by=_storable(known.by),
        grounds=tuple(map(_storable, known.grounds)),
        near=_storable(known.near),
    )


def _longest(mended: tuple[Mended, ...]) -> Iterator[Mended]:
    """The last ones, in order. What was written or taken back is forgotten after all others: it keeps a revert from being missed,
    and the same fix from being written again."""
    spent = [one.id for one in mended if one.is_spent][-MOST_MENDED:]
    others = [one.id for one in mended if not one.is_spent]
    kept = {*spent, *others[max(len(others) - (MOST_MENDED - len(spent)), 0) :]}
    return (one for one in mended if one.id in kept)


def _bounded_mended(made: Mended) -> Mended:
    return replace(
        made,
        id=_storable(made.id),
        why=_storable(plain.shortened(made.why, MOST_WHY)),
        head=_storable(made.head),
        commit=_storable(made.commit),
    )


def _storable(words: str) -> str:
    return plain.storable(secrets.redact(words)[0])


def _shrinking(memory: PullMemory) -> Iterator[PullMemory]:
    """Ever less of it; at last nothing but who paused, and the numbers."""
    yield memory
    history = replace(memory.history, seen=frozenset())
    yield replace(memory, history=history)
    left = [known for known in history.findings if known.fate is not Fate.FIXED]
    while left:
        yield replace(memory, history=replace(history, findings=tuple(left)))
        going = max(len(left) // 8, 1)
        mildest = sorted(range(len(left)), key=lambda at: (left[at].fate is Fate.DISMISSED, left[at].severity, at))[:going]
        left = [known for at, known in enumerate(left) if at not in mildest]
    bare = replace(memory, history=replace(history, findings=()))
    yield bare
    written = tuple(one for one in memory.mended if one.is_spent)[-20:]
    yield replace(bare, handled=memory.handled[-20:], mended=written)


def _written(memory: PullMemory) -> dict[str, Any]:
    history = memory.history
    return {
        "head": history.head,
        "base": history.base,
        "course": history.course,
        "seen": " ".join(sorted(history.seen)),
        "conclusion": history.conclusion,
        "verdict": history.verdict,
        "findings": [known_fields(known) for known in history.findings],
        "next_number": history.next_number,
        "whole": history.whole,
        "paused_by": memory.paused_by,
        "paused_at": memory.paused_at,
        "stopped": memory.stopped,
        "autofix_off": memory.autofix_off,
        "handled": [[command.comment_id, command.at] for command in memory.handled],
        "run_id": memory.run_id,
        "runs": memory.runs,
        "cost_usd": memory.cost_usd,
        "status_comment": memory.status_comment,
        "said": memory.said,
        "base_ref": memory.base_ref,
        "workflow_runs": list(memory.workflow_runs),
        "mended": [_mended_fields(made) for made in memory.mended],
        "mended_head": memory.mended_head,
        "unfinished": memory.unfinished,
        "autofix_why": memory.autofix_why,
    }


def _mended_fields(made: Mended) -> dict[str, Any]:
    return {
        "id": made.id,
        "outcome": made.outcome,
        "why": made.why,
        "head": made.head,
        "commit": made.commit,
        "pull": made.pull,
    }


def _memory(node: Node) -> PullMemory:
    at = node.fields(
        "head base course seen conclusion verdict findings next_number whole paused_by paused_at stopped autofix_off handled "
        "run_id runs cost_usd status_comment said base_ref workflow_runs",
        later="mended mended_head unfinished autofix_why",
    )
    history = History(
        head=at["head"].text(),
        base=at["base"].text(),
        course=at["course"].text(),
        seen=frozenset(at["seen"].text().split()),
        conclusion=at["conclusion"].maybe(lambda item: item.word(Conclusion)),
        verdict=at["verdict"].maybe(lambda item: item.word(Verdict)),
        findings=at["findings"].each(_known),
        next_number=at["next_number"].count(),
        whole=at["whole"].text(),
    )
    return PullMemory(
        history=history,
        paused_by=at["paused_by"].text(),
        paused_at=at["paused_at"].text(),
        stopped=at["stopped"].truth(),
        autofix_off=at["autofix_off"].truth(),
        handled=at["handled"].each(_handled),
        run_id=at["run_id"].text(),
        runs=at["runs"].count(),
        cost_usd=float(at["cost_usd"].amount()),
        status_comment=at["status_comment"].maybe(Node.count),
        said=at["said"].text(),
        base_ref=at["base_ref"].text(),
        workflow_runs=at["workflow_runs"].each(Node.count),
        mended=at["mended"].each(_mended) if "mended" in at else (),
        mended_head=_later(at, "mended_head"),
        unfinished=_later(at, "unfinished"),
        autofix_why=_later(at, "autofix_why"),
    )


def _later(at: Mapping[str, Node], name: str) -> str:
    """A text that the first releases did not write."""
    return at[name].text() if name in at else ""


def _mended(node: Node) -> Mended:
    at = node.fields("id outcome why head commit pull")
    return Mended(
        id=at["id"].text(),
        outcome=at["outcome"].word(RepairOutcome),
        why=at["why"].text(),
        head=at["head"].text(),
        commit=at["commit"].text(),
        pull=at["pull"].count(),
    )


def _known(node: Node) -> Known:
    at = node.fields(
        "id fingerprint path start_line line severity category title text rule fate reason by is_question is_proven grounds near "
        "probability"
    )
    return Known(
        id=at["id"].text(),
        fingerprint=at["fingerprint"].text(),
        path=at["path"].text(),
        start_line=at["start_line"].count(),
        line=at["line"].count(),
        severity=at["severity"].severity(),
        category=at["category"].word(Category),
        title=at["title"].text(),
        text=at["text"].text(),
        rule=at["rule"].maybe(Node.text),
        fate=at["fate"].word(Fate),
        reason=at["reason"].text(),
        by=at["by"].text(),
        is_question=at["is_question"].truth(),
        is_proven=at["is_proven"].truth(),
        grounds=at["grounds"].texts(),
        near=at["near"].text(),
        probability=float(at["probability"].probability()),
    )


def _handled(node: Node) -> Handled:
    pair = node.each(Node.count)
    if len(pair) != 2:
        raise node.wrong("a comment's number and a time are expected")
    return Handled(*pair)
