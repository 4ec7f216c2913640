"""What every human format says alike of the code that was made: what became of it, what shows that it works, its patch by lines.

Plain words, not yet escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.repair import Goal, Repair, RepairOutcome
from reviewbot.domain.review import Review
from reviewbot.publish import phrases, plain
from reviewbot.publish.phrases import Tone

NO_PROOF = "no check shows that it works"
TONES = {
    RepairOutcome.FIXED: Tone.GOOD,
    RepairOutcome.SUGGESTED: Tone.WARN,
    RepairOutcome.SKIPPED: Tone.WARN,
    RepairOutcome.FAILED: Tone.BAD,
}
_HUNK = re.compile(r"@@ -\d+(?:,(\d{1,9}))? \+\d+(?:,(\d{1,9}))? @@")


class Mark(StrEnum):
    """What a line of a patch is: about a file, about a place in it, gone, come, or there before and after."""

    FILE = "file"
    PLACE = "place"
    GONE = "-"
    COME = "+"
    SAME = " "


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a patch as it is shown, its sign included."""

    mark: Mark
    text: str


def heading(review: Review) -> str:
    """What the section is called: findings and reports are fixed, everything else is made."""
    fixes = all(repair.goal in (Goal.FIX, Goal.REPORT) for repair in review.repairs)
    return "Fixes" if fixes else "What was made"


def counted(repairs: Iterable[Repair]) -> str:
    """How many ended how, best first."""
    ended = [repair.outcome for repair in repairs]
    return " · ".join(f"{ended.count(outcome)} {outcome.value}" for outcome in RepairOutcome if outcome in ended)


def place(repair: Repair, review: Review) -> str:
    """Where its finding is; nothing where it has none."""
    found = next((finding for finding in review.findings if finding.id == repair.id), None)
    return phrases.place(found) if found is not None else ""


def proof(repair: Repair) -> str:
    """What shows that it works, in one line; nothing where there is no code."""
    if repair.proof is not None:
        return "; ".join(words for words in (repair.proof.told, *repair.proof.beside) if words)
    return NO_PROOF if repair.outcome is RepairOutcome.SUGGESTED else ""


def why(repair: Repair) -> str:
    """Why it is no more than it is."""
    withheld = f"its patch is not shown: {repair.withheld}" if repair.withheld else ""
    said = "" if repair.why == proof(repair) else repair.why
    return "; ".join(words for words in (said, withheld) if words)


def tried(repair: Repair) -> Iterator[str]:
    """Who tried, and why it was not used; neither what was used nor what is told anyway."""
    return (f"{one.author}: {one.reason}" for one in repair.tries if one.reason and one.reason != repair.why)


def readable(patch: bytes) -> str:
    """A patch to be read, not to be applied: screened like all words, with and without the marks of its lines. A ``-`` before a
    token hides it from who looks for one."""
    lines = patch.decode("utf-8", "surrogateescape").replace("\r\n", "\n").strip("\n").split("\n")
    unmarked = plain.text("\n".join(line[1:] for line in lines)).split("\n")
    return plain.text("\n".join(line[:1] + rest for line, rest in zip(lines, unmarked, strict=True)))


def rows(repair: Repair) -> Iterator[Row]:
    """The patch by lines. The numbers of a hunk say which lines are of the files: one may begin like a heading."""
    gone = come = 0
    for line in readable(repair.patch).split("\n") if repair.patch else ():
        if hunk := None if gone + come > 0 else _HUNK.match(line):
            gone, come = (1 if size is None else int(size) for size in hunk.groups())
            yield Row(Mark.PLACE, line)
            continue
        mark = _mark(line) if gone + come > 0 else Mark.FILE
        gone -= mark in (Mark.GONE, Mark.SAME)
        come -= mark in (Mark.COME, Mark.SAME)
        yield Row(mark, line)


def _mark(line: str) -> Mark:
    if line.startswith("\\"):
        return Mark.PLACE  # no newline at the end of a file
    return {"-": Mark.GONE, "+": Mark.COME}.get(line[:1], Mark.SAME)
