"""What is answered to people on GitHub, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from reviewbot.debate.judge import Consultation
from reviewbot.reports import markdown, words
from reviewbot.reports.words import redacted
from reviewbot.tasks.task import TaskResult
from reviewbot.text.markdown import block, code, inline
from reviewbot.text.plain import shortened_bytes
from reviewbot.text.secrets import redact
from reviewbot.verdict.document import Finding, Memory, Review

MAX_OPINION = 2_000  # characters
MAX_ROWS = 100


def consultation(said: Consultation) -> str:
    """What each panelist says, and who gave no answer."""
    said = redacted(said)
    parts = []
    for opinion in said.opinions:
        text = inline(words.shortened(opinion.reason, MAX_OPINION))
        cited = ", ".join(map(code, opinion.citations))
        text += f" ({cited})" if cited else ""
        text += f" So: {words.STANCES[opinion.stance]}." if said.judges_claim else ""
        parts.append(f"**{inline(opinion.panelist)}:** {text}")
    parts += [f"**{inline(a.panelist)}** gave no answer: {inline(a.reason)}" for a in said.absences]
    parts += [f"Cost: ${said.usage.cost_usd:.4f}."] if said.usage.cost_usd else []
    return "\n\n".join(parts)


def explanation(finding: Finding) -> str:
    said = [f"- {inline(text)}" for text in words.debate(redacted(finding))]
    debate = "\n".join(["\n\n**Debate**\n", *said]) if said else ""
    return shortened_bytes(markdown.comment(finding) + debate, markdown.MAX_BYTES)


def fixes(results: Sequence[TaskResult], commits: Sequence[str], problem: str) -> str:
    """What was committed, what is only suggested, and why the rest is not fixed.

    `commits` are of fixed results, as far as they could be made; `problem` is why no more were.
    """
    if not results:
        return "There is nothing to fix."
    made = iter(commits)
    parts = [f"{inline(problem)}.\n"] if problem else []
    for result in results:
        names = ", ".join(map(inline, result.findings)) or inline(result.title)
        why = "".join(f" {inline(text)}" for text in (*result.reasons, *result.dissent)[:5])
        if result.outcome == "fixed":
            commit = next(made, "")
            done = f"committed as {code(commit[:10])}" if commit else "not committed"
            parts.append(f"- {names} (by {inline(result.author)}): {done}")
        elif result.outcome == "suggested":
            shown = block(redact(result.diff)[0][: MAX_OPINION * 4], "diff")
            parts.append(f"- {names}: suggested, not proven.{why}\n\n{shown}")
        else:
            parts.append(f"- {names}: not fixed.{why}")
    return shortened_bytes("\n".join(parts), markdown.MAX_BYTES)


def audit(review: Review, last: Memory, page: markdown.Page, room: int) -> str:
    """A review of the whole tree: what differs from the last one first."""
    review = redacted(review)
    before = {known.key for known in last.findings}
    reported = review.reported
    new = [finding for finding in reported if finding.key not in before]
    gone = [known for known in last.findings if known.key not in {f.key for f in reported}]
    rest = replace(review, verdict="comment")
    since = f"Since the last audit: {len(new)} new, {len(gone)} gone, "
    since = f"{since if before else 'The first audit: '}{len(reported)} in all."
    parts = [f"**{words.outcome(rest)}**. {since}"]
    if before and new:
        parts += ["### New", _listed(map(_line, new))]
    if gone:
        lines = (f"{inline(k.id)}: {inline(k.title)}, {code(k.path) or 'no file'}" for k in gone)
        parts += ["### Gone", _listed(lines)]
    groups: dict[str, list[Finding]] = {}
    for finding in reported:
        name = finding.result.check if finding.result else "panel"
        groups.setdefault(f"{name}: {finding.rule}", []).append(finding)
    for name, findings in sorted(groups.items(), key=lambda group: -len(group[1])):
        parts += [f"### {inline(name)} ({len(findings)})", _listed(map(_line, findings))]
    body = shortened_bytes("\n\n".join(parts), room - 3_000)
    left = room - len(body.encode()) - len("\n\n---\n\n")
    # Its first paragraph says what came of it, and that stands above.
    tail = markdown.summary(replace(rest, findings=()), page, left).partition("\n\n")[2]
    return f"{body}\n\n---\n\n{tail}"


def _line(finding: Finding) -> str:
    place = words.place(finding.location)
    return f"{inline(finding.id)} ({finding.severity}): {inline(finding.title)}, {code(place)}"


def _listed(lines: Iterator[str]) -> str:
    every = [f"- {line}" for line in lines]
    more = [f"- and {len(every) - MAX_ROWS} more"] if len(every) > MAX_ROWS else []
    return "\n".join([*every[:MAX_ROWS], *more])
