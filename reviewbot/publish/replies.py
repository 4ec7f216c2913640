"""What a command is answered with: Markdown for the one status comment. None of it is a command, or calls anybody."""

from __future__ import annotations

from collections.abc import Iterable

from reviewbot.domain.counted import counted
from reviewbot.domain.history import Fate, Known, PullMemory
from reviewbot.domain.review import Finding, Review
from reviewbot.publish import markdown_finding, markers, phrases, plain
from reviewbot.publish.sanitise import code_block, code_span, inline

MOST_ROWS = 60
_SHORT = 10


def page(asked: str, by: str, answer: str) -> str:
    """The status comment: what was asked last and by whom, and the answer. ``answer`` is safe Markdown."""
    head = f"**{code_span(asked, limit=200)}** by {code_span(by, limit=60)}" if asked else "**reviewbot**"
    return plain.defuse(f"{markers.STATUS}\n{head}\n\n{answer.strip()}") + "\n"


def status(memory: PullMemory, running: str = "") -> str:
    """What is known of the pull request, and whether anything runs."""
    history = memory.history
    lines = [f"- {inline(running)}"] if running else []
    if history.head:
        verdict = history.verdict.value.replace("_", " ") if history.verdict else "none"
        whole = history.conclusion.value.replace("_", " ") if history.conclusion else "unknown"
        lines.append(f"- last review: {code_span(history.head[:_SHORT])}, {whole}, verdict {verdict}")
    else:
        lines.append("- no review is remembered yet")
    told = ((fate, found) for fate in Fate if (found := _of(history.findings, fate)))
    lines += [f"- {counted(len(found), 'finding')} {fate.value}: {_ids(found)}" for fate, found in told]
    lines.append(f"- {counted(memory.runs, 'review')} so far, {money(memory.cost_usd)}")
    if memory.stopped:
        lines.append("- stopped: nothing is done here until somebody says to resume")
    elif memory.paused_by:
        lines.append(f"- paused by {code_span(memory.paused_by)}: pushes are not reviewed by themselves")
    return "\n".join(lines)


def cost(memory: PullMemory) -> str:
    """What all reviews of this pull request cost so far."""
    return f"{counted(memory.runs, 'review')} of this pull request: {money(memory.cost_usd)} so far."


def money(usd: float) -> str:
    """Dollars; cents alone would hide what small models cost."""
    return f"${usd:.2f}" if usd >= 1 or not usd else f"${usd:.4f}"


def configuration(table: str) -> str:
    """The configuration that holds here: keys, values, origins."""
    rows = table.splitlines()
    more = f"\n\nand {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return f"The configuration that holds for this pull request, as far as it differs from the defaults:\n\n{_block(rows)}{more}"


def refused(why: str) -> str:
    """Why a command was not done."""
    return f"Not done: {why}"


def failed(why: str) -> str:
    """Why a command could not be done: the words of an error of ours, which may name files of the change."""
    return f"Not done: {inline(why, limit=400)}"


def unknown(finding: str, known: Iterable[Known]) -> str:
    """A finding that is not remembered."""
    ids = _ids(tuple(known))
    return refused(f"no finding {code_span(finding)} is remembered here; known are {ids}.")


def settled(known: Known) -> str:
    """There is nothing to argue about any more."""
    return refused(f"{code_span(known.id)} is {known.fate.value} already.")


def explained(finding: Finding, review: Review) -> str:
    """Everything that a review knows of its finding."""
    evidence = {item.id: item for item in review.evidence}
    head = f"### {inline(finding.id)}: {inline(finding.title, limit=markdown_finding.TITLE)}"
    place = f"{code_span(phrases.place(finding), limit=markdown_finding.TITLE)} · {markdown_finding.kind(finding)}"
    told = markdown_finding.parts(finding, review, evidence, fix=markdown_finding.draft(finding))
    return markdown_finding.joined((head, place, markdown_finding.code(finding), *told))


def remembered(known: Known) -> str:
    """What is left of a finding where its debate is not at hand."""
    where = code_span(f"{known.path}:{known.line}" if known.line else known.path, limit=markdown_finding.TITLE)
    why = f" by {code_span(known.by)}" if known.by else ""
    return (
        f"{code_span(known.id)}: {inline(known.title, limit=markdown_finding.TITLE)}\n\n"
        f"{where} · {known.severity.label} · {known.category.value} · {known.fate.value}{why}\n\n"
        "The transcript of its debate did not travel to this run: its thread and the artifact of the review have it."
    )


def dismissed(known: Known) -> str:
    """A finding will not be raised again."""
    reason = f" ({inline(known.reason, limit=300)})" if known.reason else ""
    return f"{code_span(known.id)} is dismissed by {code_span(known.by)}{reason}: it is not raised again on this pull request."


def _block(rows: list[str]) -> str:
    return code_block("\n".join(rows[:MOST_ROWS]), limit=12_000) if rows else "nothing differs from the defaults"


def _of(findings: tuple[Known, ...], fate: Fate) -> tuple[Known, ...]:
    return tuple(known for known in findings if known.fate is fate)


def _ids(findings: tuple[Known, ...]) -> str:
    shown = ", ".join(code_span(known.id) for known in findings[:40])
    more = f" and {len(findings) - 40} more" if len(findings) > 40 else ""
    return f"{shown}{more}" or "none"
