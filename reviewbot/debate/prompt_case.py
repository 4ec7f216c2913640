"""What a question brings along: a claim without its author, arguments without their speakers, drafts, tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reviewbot.debate.prompt_fence import cut, indented, one_line, screened
from reviewbot.domain.debate import Stance
from reviewbot.ports import Assignment, Draft, Packet, Word

MOST_FIELD = 2_000
"""Characters of one field that a model wrote."""
MOST_WORDS = 24
MOST_LATE = 8_000
MOST_CITES, MOST_CITE = 20, 300
MOST_PATHS = 12

SIDES = {Stance.SUPPORT: "for the claim", Stance.OPPOSE: "against the claim", Stance.NEUTRAL: "undecided"}


def packet(claim: Packet) -> str:
    """A claim as fields. Who raised it and how sure they were is not in a Packet."""
    fields = (
        ("where", f"{one_line(claim.path)}, {_lines(claim.start_line, claim.line)}"),
        ("title", claim.title),
        ("category", claim.category.value),
        ("severity", claim.severity.label),
        ("trigger", claim.trigger),
        ("consequence", claim.consequence),
        ("falsifier", claim.falsifier),
        ("rule", claim.rule or ""),
        ("evidence", _cites(claim.evidence)),
    )
    quote = "\n".join(f"| {line}" for line in screened(claim.quote.strip("\n")).split("\n")) if claim.quote.strip() else ""
    lines = [f"{name}: {cut(indented(value), MOST_FIELD)}" for name, value in fields if value.strip()]
    return "\n".join((*lines, f"quote:\n{cut(quote, MOST_FIELD)}" if quote else "quote: none"))


def words(said: Iterable[Word], *, sides: bool = True) -> str:
    """Arguments, each once, in an order that tells nothing of who spoke when."""
    known = list(dict.fromkeys(_word(word, sides=sides) for word in sorted(said, key=_by_what_is_said)))
    more = len(known) - MOST_WORDS
    return "\n".join((*known[:MOST_WORDS], *([f"- {more} more arguments left out"] if more > 0 else [])))


def side(said: Sequence[Word]) -> str:
    """What a case argues, where all of its arguments do."""
    stances = {word.stance for word in said}
    return {
        frozenset({Stance.SUPPORT}): " holds that the claim is true.",
        frozenset({Stance.OPPOSE}): " holds that it is not.",
    }.get(frozenset(stances), ".")


def late(outcomes: Sequence[str]) -> str:
    """Outcomes of checks that were run in the course of the debate."""
    most = MOST_LATE // max(len(outcomes), 1)
    return "\n".join(f"- {cut(indented(outcome), most)}" for outcome in outcomes)


def draft(written: Draft) -> str:
    """A replacement, line by line."""
    head = f"replaces: {one_line(written.path)}, {_lines(written.start_line, written.line)}"
    body = "\n".join(f"| {line}" for line in screened(written.replacement.removesuffix("\n")).split("\n"))
    return f"{head}\nexplanation: {cut(indented(written.explanation), MOST_FIELD)}\nreplacement:\n{body}"


def portions(asked: Assignment) -> str:
    """What there is to read, a portion a line."""
    rows = [f"{one_line(item.name)} | {item.tokens} | {_paths(item.paths)}" for item in asked.portions]
    return "\n".join(("portion | tokens | files", *rows))


def paces(asked: Assignment) -> str:
    """How fast each local panelist is, a panelist a line."""
    rows = [
        f"{one_line(pace.seat)} | {one_line(pace.model)} | {pace.prompt_tokens_per_second:.0f} | "
        f"{pace.output_tokens_per_second:.1f} | {pace.load_seconds:.0f} | {pace.room}"
        for pace in asked.paces
    ]
    return "\n".join(("panelist | model | reads tokens/s | writes tokens/s | loads in s | room in tokens", *rows))


def errors(asked: Assignment) -> str:
    """How earlier predictions fared, one a line."""
    rows = [f"{one_line(seat)} | {predicted:.0f} | {real:.0f}" for seat, predicted, real in asked.errors]
    return "\n".join(("panelist | predicted s | real s", *rows)) if rows else ""


def _word(word: Word, *, sides: bool) -> str:
    opening = f"{SIDES[word.stance]}, " if sides else ""
    texts = (word.claim, word.reasoning)
    said = "\n  ".join(cut(indented(text), MOST_FIELD) for text in texts if text.strip())
    return f"- {opening}citing {_cites(word.evidence) or 'nothing'}: {said}"


def _by_what_is_said(word: Word) -> tuple[str, str, str]:
    return word.claim, word.reasoning, word.stance.value


def _cites(cited: Sequence[str]) -> str:
    return ", ".join(cut(one_line(name), MOST_CITE) for name in cited[:MOST_CITES])


def _lines(start: int, end: int) -> str:
    if not end:
        return "the file as a whole"
    return f"line {end}" if start == end else f"lines {start}-{end}"


def _paths(paths: Sequence[str]) -> str:
    more = len(paths) - MOST_PATHS
    return ", ".join(one_line(path) for path in paths[:MOST_PATHS]) + (f" and {more} more" if more > 0 else "")
