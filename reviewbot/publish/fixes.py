"""Fixes in words: the message of a commit, what the summary says of them, a replacement on the lines of a finding, and answers.

A message is read by programs: nothing that others wrote may close an issue in it, call anybody or keep checks from running.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reviewbot.domain.forge import (
    Author,
)
from reviewbot.domain.history import Mended, PullMemory
from reviewbot.domain.repair import CHECK_TRAILER, COMMAND_TRAILER, FINDING_TRAILER, UNDO_TRAILER, Repair, RepairOutcome
from reviewbot.publish import phrases, plain
from reviewbot.publish.markdown_finding import details, fitting
from reviewbot.publish.sanitise import code_block, code_span, inline

SHORT = 10
"""Characters of a commit's id."""

QUIET = "github-actions[bot]"
"""Whose pushes start no workflow: GitHub keeps a job's own token from that (``faults.md`` G28)."""

STARTS_NOTHING = (
    "GitHub starts no workflow for what a job's own token pushes: other checks do not run for it until somebody else pushes, or "
    "closes and reopens the pull request. With an App's token they do (docs/github.md)."
)

_OURS = "fixed by commit "
_HEADLINE, _WIDTH, _PROSE, _PATCH, _ROWS_BYTES = 72, 72, 1_200, 8_000, 4_000
_DEAD = (
    (re.compile(r"@(?=\w)"), "@ "),
    (re.compile(r"#(?=\d)"), "no. "),
    (re.compile(r"\bgh-(?=\d)", re.IGNORECASE), "GH "),
    (re.compile(r"://"), ": //"),
    (re.compile(r"\[([^\[\]]*\b(?:skip|no)\b[^\[\]]*)\]", re.IGNORECASE), r"(\1)"),
    (re.compile(r"\*{2,}"), "*"),
)
"""What programs read in a message: calls, numbers of issues, addresses, words that keep checks from running."""


@dataclass(frozen=True, slots=True)
class Run:
    """Lines of a file of the head that are replaced, all of them in one run: ``text`` is what stands there then, without the last
    line feed."""

    path: str
    start_line: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A fix that the gate admits, as it is offered on the lines of its finding (``id``). ``patch`` is git's diff, ``told`` says
    what shows that it works, or why nothing does. ``run`` is ``None`` where it is more than one run of lines of one file."""

    id: str
    is_proven: bool
    told: str
    patch: str
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """The message of a commit of ours: ``trailers`` are its last lines, by which it is known again."""

    headline: str
    body: str
    trailers: tuple[str, ...]


def message(repair: Repair, *, beside: tuple[str, ...] = ()) -> Message:
    """What the commit of a fix says. ``beside`` are ids of fixes that it was proven together with and that are not there."""
    parts = [dead(plain.shortened(repair.explanation, _PROSE)), _proof(repair)]
    if beside:
        parts.append(f"It was proven together with the fix of {', '.join(beside)}, which is not in this branch.")
    proof = repair.proof
    shown = phrases.check(proof.check) if proof and proof.check else proof.told if proof else "none"
    marks = (f"{FINDING_TRAILER}: {dead(repair.id)}", f"{CHECK_TRAILER}: {_cut(dead(shown), 200)}")
    return _message(f"Fix {dead(repair.id)}: {dead(repair.title)}", parts, marks)


def undoing(finding: str, commit: str, *, command: int) -> Message:
    """What the commit says that takes one of ours back. ``command`` is the number of the comment that asks for it."""
    marks = (f"{FINDING_TRAILER}: {finding}", f"{UNDO_TRAILER}: {commit}", f"{COMMAND_TRAILER}: {command}")
    return _message(f"Take the fix of {finding} back", [f"This reverts commit {commit}."], marks)


def _message(headline: str, parts: Iterable[str], marks: tuple[str, ...]) -> Message:
    told = [textwrap.fill(part, _WIDTH, break_long_words=False, break_on_hyphens=False) for part in parts if part]
    return Message(_cut(headline, _HEADLINE), "\n\n".join((*told, "\n".join(marks))), marks)


def dead(words: str) -> str:
    """Words of others as one line of a message that means only itself."""
    line = plain.line(words)
    for alive, instead in _DEAD:
        line = alive.sub(instead, line)
    return line


def mended(commit: str) -> str:
    """Why a finding is no more that a commit of ours mended."""
    return f"{_OURS}{commit[:SHORT]}"


def closing(reason: str) -> str:
    """What is said under the thread of such a finding; nothing where it is gone for another reason."""
    return f"F{reason[1:]}." if reason.startswith(_OURS) else ""


def offered(offer: Offer, *, start_line: int, line: int) -> str:
    """The fix below a finding whose comment is about these lines: with a button where it replaces exactly them, and is shown
    exactly as it was tried; else as a diff. Nothing where even that would not be what was tried."""
    about = inline(offer.told, limit=400)
    if offer.run is not None and (offer.run.start_line, offer.run.line) == (start_line, line):
        block = replacement(offer.run.text)
        if block:
            return f"**{'Suggestion' if offer.is_proven else 'Suggestion, unproven'}** ({about}):\n\n{block}"
    shown = diff(offer)
    return details(f"A fix, {'proven' if offer.is_proven else 'unproven'}", f"{about}\n\n{shown}") if shown else ""


def replacement(text: str) -> str:
    """A block that a button commits, and nothing where it would not commit exactly ``text``."""
    words = text.strip("\n")
    if not words or len(text) > _PATCH:
        return ""
    block = code_block(words, "suggestion", limit=_PATCH)
    fence = block.partition("suggestion")[0]
    intact = block == f"{fence}suggestion\n{words}\n{fence}" and plain.defuse(block) == block
    return f"{fence}suggestion\n{text}\n{fence}" if intact else ""


def diff(offer: Offer) -> str:
    """Its patch, to be read."""
    return code_block(offer.patch, "diff", limit=_PATCH) if offer.patch.strip() else ""


def note(memory: PullMemory, me: Author) -> str:
    """What the summary says of fixes: what became of each, whether any more come, and what does not run."""
    parts = []
    if memory.mended:
        parts.append(f"**Fixes:**\n\n{rows(memory.mended)}")
    if memory.autofix_off:
        parts.append(f"**No more fixes are written on this pull request:** {inline(memory.autofix_why)}.")
    if is_quiet(me) and any(made.outcome is RepairOutcome.FIXED for made in memory.mended):
        parts.append(STARTS_NOTHING)
    return "\n\n".join(parts)


def rows(made: Iterable[Mended]) -> str:
    """What became of each, as a list in the order of their numbers."""
    every = sorted(made, key=lambda one: (len(one.id), one.id))
    kept = fitting(map(_row, every), _ROWS_BYTES, least=0)
    more = [f"- and {len(every) - len(kept)} more"] if len(kept) < len(every) else []
    return "\n".join((*kept, *more))


def is_quiet(me: Author) -> bool:
    """What we push starts no workflow."""
    return me.login.casefold() == QUIET


def body_of_pull(number: int, made: Iterable[tuple[Repair, str]]) -> str:
    """What a pull request of ours says: each fix with its commit and its proof."""
    parts = [f"Fixes for findings of #{number}, each in a commit of its own. Merging this brings them into that pull request."]
    for repair, commit in made:
        parts.append(
            f"### {inline(repair.id, limit=40)}: {inline(repair.title, limit=200)}\n\n"
            f"{commit[:SHORT]} · {inline(repair.explanation, limit=_PROSE) or 'no explanation was given'}\n\n"
            f"**Proof:** {inline(_proof(repair), limit=_PROSE) or 'none'}"
        )
    return plain.defuse("\n\n".join(fitting(parts, 50_000, least=0))) + "\n"


def title_of_pull(number: int, ids: Iterable[str]) -> str:
    """The title of that."""
    return _cut(f"Fix {', '.join(ids)} of pull request {number}", _HEADLINE)


def _row(made: Mended) -> str:
    why = f": {inline(made.why, limit=200)}" if made.why else ""
    name = code_span(made.id, limit=40)
    if made.outcome is RepairOutcome.FIXED and made.pull:
        return f"- {name} waits in #{made.pull}{why}"
    if made.outcome is RepairOutcome.FIXED:
        return f"- {name} fixed by {_commit(made.commit)}{why}"
    return f"- {name} {_OUTCOMES[made.outcome]}{why}"


_OUTCOMES = {
    RepairOutcome.SUGGESTED: "offered, not written",
    RepairOutcome.SKIPPED: "skipped",
    RepairOutcome.FAILED: "failed",
}


def _commit(sha: str) -> str:
    """A commit of ours as a forge links it."""
    return sha[:SHORT] if re.fullmatch(r"[0-9a-f]{40,64}", sha) else code_span(sha, limit=80)


def _proof(repair: Repair) -> str:
    """What shows that it works, in one line."""
    proof = repair.proof
    if proof is None:
        return ""
    return "; ".join(dead(words) for words in (proof.told, *proof.beside) if words)


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1].rstrip()}…"


def listed(ids: Iterable[str]) -> str:
    """Findings by their ids."""
    return ", ".join(code_span(name, limit=40) for name in ids)


def told(made: Iterable[Mended], *, more: Iterable[str] = ()) -> str:
    """The answer to a command: what became of every finding that was asked for, and what else is to be said (safe Markdown)."""
    return "\n\n".join(_paragraphs(tuple(made), more))


def _paragraphs(made: tuple[Mended, ...], more: Iterable[str]) -> Iterator[str]:
    written = [one for one in made if one.outcome is RepairOutcome.FIXED]
    yield f"{len(written)} of {len(made)} {'is' if len(written) == 1 else 'are'} fixed:" if made else "There is nothing to fix."
    if made:
        yield rows(made)
    yield from (part for part in more if part)
