"""One finding as Markdown, in the summary and on its lines: what happens when, the proof, the votes, and a draft of a fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from reviewbot.domain.debate import Position
from reviewbot.domain.evidence import Evidence
from reviewbot.domain.review import Finding, FindingStatus, Review
from reviewbot.publish import phrases, plain, regression, suggested
from reviewbot.publish.phrases import Mark
from reviewbot.publish.sanitise import code_block, code_span, inline, markdown

TITLE = 200
"""Characters of a title or path."""

_PROSE, _CODE, _LEAST_BYTES = 1_500, 2_500, 400


def parts(finding: Finding, review: Review, evidence: Mapping[str, Evidence], *, fix: str) -> Iterator[str]:
    """What there is to say below the headline, in order; a part may be empty. ``fix`` is how a replacement is offered."""
    yield labelled("When", markdown(finding.failure_scenario, limit=_PROSE))
    yield labelled("Then", markdown(finding.body, limit=_PROSE))
    yield labelled("Proof", _proof(finding))
    yield labelled("Votes", votes(finding, review, at_length=True))
    yield labelled("Dissent", inline(finding.dissent or "", limit=_PROSE))
    yield fix
    yield details("A regression test", _regression_test(finding))
    yield details("Evidence and debate", "\n".join(_record(finding, evidence)))


def joined(said: Iterable[str]) -> str:
    """Paragraphs, without the empty ones."""
    return "\n\n".join(part for part in said if part)


def kind(finding: Finding) -> str:
    """How bad it is, what sort of harm and how sure; what else is to be known at once."""
    said = [finding.severity.label, finding.category.value, phrases.percent(finding.probability)]
    said += [phrases.status(finding)] if finding.status is not FindingStatus.ACCEPTED else []
    said += ["there before the change"] if finding.pre_existing else []
    return " · ".join(said)


def votes(finding: Finding, review: Review, *, at_length: bool = False) -> str:
    """Who stands where; nothing where nobody was asked, as of what was carried along."""
    said = []
    every = phrases.votes(finding, review)
    for vote in every if any(vote.mark is not Mark.SILENT for vote in every) else ():
        number = "raised" if vote.raised else phrases.percent(vote.probability) if vote.probability is not None else ""
        said.append(f"{inline(vote.panelist, limit=40)} {vote.mark.value}" + (f" {number}" if at_length and number else ""))
    return ", ".join(said)


def labelled(label: str, words: str) -> str:
    """Words with a label before them, or nothing for nothing."""
    if words.startswith(("- ", "```")):
        return f"**{label}:**\n\n{words}"
    return f"**{label}:** {words}" if words else ""


def details(summary: str, words: str) -> str:
    """Words that are folded away."""
    return f"<details><summary>{summary}</summary>\n\n{words}\n\n</details>" if words else ""


def code(finding: Finding) -> str:
    """Numbered lines, the lines meant marked with ``>``; the quote where no code is at hand."""
    if not finding.code:
        return code_block(finding.quote, limit=_CODE) if finding.quote.strip() else ""
    digits = len(str(finding.code[-1].number))
    rows = []
    for line in finding.code:
        mark = ">" if finding.start_line <= line.number <= finding.line else " "
        text = plain.text(line.text).replace("\n", " ")
        rows.append(f"{mark} {line.number:>{digits}} {'+' if line.changed else ' '} {text}".rstrip())
    return code_block("\n".join(rows), limit=_CODE)


def draft(finding: Finding) -> str:
    """A replacement as a diff: nothing that a button could commit."""
    rows = suggested.lines(finding)
    if not rows:
        return ""
    shown = code_block("\n".join(f"{row.mark}{row.text}" for row in rows), "diff", limit=_CODE)
    return f"**Suggestion ({suggested.LABEL})** instead of {suggested.place(finding)}:\n\n{shown}"


def fitting(parts: Iterable[str], room: int, *, least: int = _LEAST_BYTES) -> list[str]:
    """Which parts fit into ``room`` bytes, in order; one that is too long gives its place to later ones, while there is room."""
    kept = []
    for part in parts:
        if (needed := size(part) + 2) <= room:
            kept.append(part)
            room -= needed
        if room < least:
            break
    return kept


def size(text: str) -> int:
    """UTF-8 bytes, the largest of the ways in which a forge may count."""
    return len(text.encode("utf-8", "replace"))


def _regression_test(finding: Finding) -> str:
    check = regression.test(finding)
    return f"{regression.LABEL}\n\n{code_block(check.source, limit=_CODE)}" if check else ""


def _proof(finding: Finding) -> str:
    if finding.check is None:
        return phrases.proof(finding)
    command = code_span(phrases.check(finding.check), limit=400)
    return f"{phrases.proof(finding)}: {command} ({phrases.outcome(finding.check)})"


def _record(finding: Finding, evidence: Mapping[str, Evidence]) -> Sequence[str]:
    last = f"- settled by {finding.settled_by.value}: {inline(finding.stop_reason)}"
    return [*_said(finding, evidence), last]


def _said(finding: Finding, evidence: Mapping[str, Evidence]) -> Iterator[str]:
    for name in finding.evidence:
        if item := evidence.get(name):
            yield from _evidence(item)
    for position in finding.positions:
        yield from _position(position)


def _evidence(item: Evidence) -> Iterator[str]:
    result = item.result
    rule = f" {code_span(result.rule, limit=80)}" if result.rule else ""
    place = code_span(phrases.spot(item), limit=TITLE) or "the change"
    yield f"- {inline(item.id)}: {inline(result.tool, limit=80)}{rule} at {place} ({item.status.value})"
    if shown := (result.excerpt or result.message).strip():
        yield "\n".join(f"  {line}" for line in code_block(shown, limit=800).split("\n"))


def _position(position: Position) -> Iterator[str]:
    stance = f"{position.stance.value} at {phrases.percent(position.probability)}"
    yield f"- round {position.round}, {inline(position.panelist, limit=40)}: {stance}"
    for argument in position.arguments:
        cites = ", ".join(code_span(cite, limit=120) for cite in argument.evidence[:8])
        words = ". ".join(part for part in (inline(argument.claim), inline(argument.reasoning)) if part)
        yield f"  - {words or 'no words'}" + (f" ({cites})" if cites else "")
