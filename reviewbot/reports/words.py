"""What reports share: what a user chose, documents without secrets, and sentences.

What is untrusted in the sentences is not neutralised yet.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from reviewbot.debate.case import NEAR_LINES, Ruling, Stance
from reviewbot.git.change import Location
from reviewbot.llm.client import Totals
from reviewbot.proofs.proof import Outcome as TestResult
from reviewbot.proofs.proof import Proof
from reviewbot.text.hidden import find_hidden, visible
from reviewbot.text.secrets import redact
from reviewbot.verdict.decide import copies_of
from reviewbot.verdict.document import CoverageState, Finding, Review, Status

Document = TypeVar("Document", bound=Struct)
Outcome = Literal["Changes requested", "Incomplete", "Nothing to review", "Reviewed", "Approved"]

NO_PANEL = "No language model was asked: only executed checks decide."
ADD_PANEL = "Set ANTHROPIC_API_KEY, OPENAI_API_KEY or OLLAMA_HOST to add a panel."
ADD_ON_GITHUB = "No language model reads along: add the secret ANTHROPIC_API_KEY to have a panel."
ENDS = ".!?:;…`\u3002\uff01\uff1f\u061f\u06d4\u0964"  # of sentences, also in other scripts
STATUSES: dict[Status, str] = {
    "proven": "Proven",
    "agreed": "Agreed",
    "question": "Question",
    "recorded": "Not reported",
}
COVERAGE: dict[CoverageState, str] = {
    "reviewed": "reviewed",
    "scanned": "only scanned",
    "not_reviewed": "not reviewed",
    "not_applicable": "with nothing to review",
}
STANCES: dict[Stance | Ruling, str] = {
    **{"real": "it is real", "not_real": "it is not real"},
    **{"unsure": "not sure", "undecided": "undecided"},
}
# Why findings block, in the singular and the plural, by the kind of what was executed.
WHY_IT_BLOCKS = {
    "broken_file": ("a file of tests cannot be loaded", "{count} files of tests cannot be loaded"),
    "broken_test": ("a test that passed fails now", "{count} tests that passed fail now"),
    "failing_test": ("a {new}test fails", "{count} {new}tests fail"),
    "diagnostic": ("1 {new}problem ({checks})", "{count} {new}problems ({checks})"),
    "claim": ("a test written for a claim fails", "tests written for {count} claims fail"),
    "carried": ("an earlier finding stands", "{count} earlier findings stand"),
}
TEST_RESULTS: dict[TestResult, str] = {
    "passes": "passes",
    "fails": "fails",
    "errors": "stops with an error",
    "unstable": "gives two different results",
    "does_not_run": "does not run",
    "not_run": "is not run",
}


class Style(Struct, frozen=True, kw_only=True):
    """What a user chose. A format ignores what it has no use for.

    Attributes:
        width: columns that prose is wrapped to.
        verbose: print the debate and what was not reported, too.
        quiet: print only findings, and what was not reviewed.
    """

    color: bool = False
    width: int = 80
    verbose: bool = False
    quiet: bool = False


DEFAULT = Style()


def redacted(document: Document) -> Document:
    """The document with placeholders such as `«secret:jwt»` in every text.

    Reports shorten texts, and half a token is not recognised any more.
    """

    def hidden(value: object) -> object:
        if isinstance(value, str):
            return redact(value)[0]
        if isinstance(value, dict):
            return {key: hidden(item) for key, item in value.items()}
        return [*map(hidden, value)] if isinstance(value, list | tuple) else value

    return msgspec.convert(hidden(msgspec.to_builtins(document)), type(document))


def dumps(document: object) -> str:
    """JSON in which hidden characters are escaped, so that no terminal obeys them.

    A lone surrogate, which no JSON may hold, is written as ⟨U+D800⟩.
    """
    text = json.dumps(document, indent=2, ensure_ascii=False)
    shown = list(text)
    for hidden in find_hidden(text):
        sign = text[hidden.offset]
        escape = json.dumps(sign)[1:-1] if sign != "\x7f" else "\\u007f"  # json leaves it alone
        shown[hidden.offset] = visible(sign) if "\ud800" <= sign <= "\udfff" else escape
    return "".join(shown)


def outcome(review: Review) -> Outcome:
    """There is nothing to review if no changed file needs a review, and nobody did one."""
    if review.verdict == "request_changes":
        return "Changes requested"
    if review.gaps or not review.complete:
        return "Incomplete"
    if not review.reported and all(entry.state != "reviewed" for entry in review.coverage):
        return "Nothing to review"
    return "Approved" if review.verdict == "approve" and not review.reported else "Reviewed"


def headline(review: Review, *, explains: bool = False) -> str:
    """The outcome, whether it is that of a part of the change only, and how many findings.

    Where it is to explain that, it says why findings block in place of their number.
    """
    found, rest = outcome(review), list(review.reported)
    if found == "Nothing to review":
        what = "tree" if is_whole(review) else "change"
        return f"{found}: the {what} has no {'code' if review.coverage else 'file'} to review"
    is_cut = found == "Changes requested" and not (review.complete and not review.gaps)
    said = list(_why_it_blocks(review)) if explains else []
    if said:
        rest = [finding for finding in rest if not finding.blocks]
    questions = sum(finding.status == "question" for finding in rest)
    counts = {"other finding" if said else "finding": len(rest) - questions, "question": questions}
    said += (_numbered(count, noun) for noun, count in counts.items() if count)
    if explains and len(said) > 1:
        said[-1] = f"and {said[-1]}"
    return f"{found}{' (incomplete)' if is_cut else ''}: {', '.join(said) or 'no findings'}"


def is_whole(review: Review) -> bool:
    return review.target.partition(" ")[0] == "--all"


def _why_it_blocks(review: Review) -> Iterator[str]:
    counts: Counter[str] = Counter()
    checks: dict[str, None] = {}
    for finding in (finding for finding in review.reported if finding.blocks):
        result = finding.result
        kind: str = result.kind if result else "claim" if finding.proof else "carried"
        kind = "broken_file" if result and result.at_import and kind == "broken_test" else kind
        counts[kind] += len(failed_tests(finding)) or 1
        checks |= {result.check: None} if result and kind == "diagnostic" else {}
    new, names = "" if is_whole(review) else "new ", ", ".join(checks)
    for kind, (one, more) in WHY_IT_BLOCKS.items():
        if count := counts[kind]:
            yield (one if count == 1 else more).format(count=count, new=new, checks=names)


def place(location: Location | None) -> str:
    """`path:line`, or the path alone for a whole file."""
    if location is None:
        return "the whole change"
    words = str(location) if location.line > 0 else location.path
    return f"{words} (before the change)" if location.side == "base" else words


def sentence(text: str) -> str:
    """The text with a full stop."""
    text = text.strip()
    return f"{text}." if text and text[-1] not in ENDS else text


def why(finding: Finding) -> str:
    """What decided, after the name of the status: what was executed, who supports it, and why it
    stands although nobody looked at it again.
    """
    reason = finding.reason.strip().removesuffix(".")
    result = finding.result
    if result and result.tests[1:]:
        reason = reason.replace("This test", "These tests").replace(" is new", " are new")
        reason = reason.replace("fails", "fail")
    if result:
        reason += f" ({result.check}{f' {result.name}' if result.kind == 'diagnostic' else ''})"
        if count := result.passes_without:
            some = f"{count} of them {'passes' if count == 1 else 'pass'}"
            all_ = "They pass" if result.tests[1:] else "It passes"
            reason += f". {all_ if count >= len(result.tests) else some} without this edit"
    # Of what was executed, nobody else was asked.
    is_held = bool(finding.support) and finding.status != "proven"
    support = f" {finding.support} find it real." if is_held else ""
    stands = f" It stands from an earlier review: {finding.carried}." if finding.carried else ""
    return f"{reason[:1].lower()}{reason[1:]}.{support}{stands}"


def decision(finding: Finding) -> Iterator[str]:
    """What decided, what a panelist makes of a check's result, and who disagrees."""
    yield f"{STATUSES[finding.status]}: {why(finding)}"
    yield from cause(finding)
    for who, said in objections(finding):
        yield f"{who} {said}"


def cause(finding: Finding) -> Iterator[str]:
    """Where else it is, what a panelist adds to what a check saw, and who rules."""
    at = finding.location
    places = [claim.location for claim in finding.claims]
    if others := [place(each) for each in places if not (at and each.is_near(at, NEAR_LINES))]:
        yield f"Also at {', '.join(dict.fromkeys(others))}."
    for claim in finding.claims[:1] if finding.result else ():
        yield f"{claim.by}: {sentence(claim.title)} {sentence(claim.consequence)}"
    if finding.ruling_reason:
        yield f"moderator: {finding.ruling_reason}"


def objections(finding: Finding) -> Iterator[tuple[str, str]]:
    """Who disagrees, and how: panelists by their last position, and the author of the change."""
    last = {p.panelist: p for p in sorted(finding.positions, key=lambda p: p.round)}
    against = (position for position in last.values() if position.stance == "not_real")
    yield from ((position.panelist, f"disagrees: {position.reason}") for position in against)
    cited = (intention for intention in finding.intentions if intention.citation)
    yield from ((each.panelist, f"finds it intended: {each.citation}") for each in cited)
    if finding.opposed_by_author:
        yield "The change", f"ignores it inline: {finding.opposed_by_author}"


def failed_tests(finding: Finding) -> tuple[str, ...]:
    """Ids of tests that fail; none for what a linter or a panelist says."""
    result = finding.result
    if result is None or result.kind == "diagnostic":
        return ()
    return tuple(dict.fromkeys((result.name, *result.tests)))


def proof_line(proof: Proof) -> str:
    base = "cannot run" if proof.result == "only_at_head" else TEST_RESULTS[proof.base]
    head = TEST_RESULTS[proof.head]
    both = f"{base} before the change and {head} with it"
    said = f"{head} with the change" if proof.base == "not_run" else both
    end = ", so it shows nothing" if proof.result == "inconclusive" else ""
    return f"{proof.by}'s {proof.reproduction.name} {said}{end}."


def debate(finding: Finding) -> Iterator[str]:
    """What was said about a finding, in order, a paragraph each."""
    for claim in finding.claims:
        yield f"{claim.by} claims ({claim.severity}, {claim.category}): {claim.title}"
        yield f"When: {claim.trigger}"
        yield f"Then: {claim.consequence}"
        yield f"Refuted if: {claim.refuted_if}"
    for position in sorted(finding.positions, key=lambda position: position.round):
        cited = f" [{', '.join(position.citations)}]" if position.citations else ""
        said = f"{STANCES[position.stance]}: {position.reason}{cited}"
        yield f"Round {position.round}, {position.panelist}: {said}"
    for intention in finding.intentions:
        finds = f"finds the difference intended [{intention.citation}]"
        finds = finds if intention.citation else "names no line that says that it is intended"
        reason = f": {intention.reason}" if intention.reason else ""
        yield f"{intention.panelist} {finds}{reason}" if intention.panelist else intention.reason
    if finding.ruling:
        yield f"The moderator: {STANCES[finding.ruling]}."


def coverage_line(review: Review) -> str:
    """How many files were looked at, and how many lines the tests executed; empty without files."""
    states = Counter(entry.state for entry in review.coverage)
    if not (total := states.total()):
        return ""
    parts = [f"{states[state]} {words}" for state, words in COVERAGE.items() if states[state]]
    text = f"{_numbered(total, 'file' if is_whole(review) else 'changed file')}: {', '.join(parts)}"
    if statements := sum(entry.statements for entry in review.coverage):
        executed = sum(entry.executed for entry in review.coverage)
        lines = "lines" if is_whole(review) else "changed lines"
        text += f"; tests executed {executed} of {statements} {lines}"
    if review.read_earlier:
        files = _numbered(len(review.read_earlier), "file")
        text += f". What earlier reviews read in {files} was not read again"
    return f"{text}."


def recorded_line(review: Review) -> str:
    count = len(review.findings) - len(review.reported) - len(copies_of(review))
    verb = "is" if count == 1 else "are"
    return f"{_numbered(count, 'recorded finding')} {verb} not reported." if count else ""


def passed_checks(review: Review) -> str:
    """The checks that passed, on one line, with what there is to say about one."""
    passed = (check for check in review.checks if check.state == "passed")
    said = [c.check + _note(c.text.removeprefix("nothing new").removeprefix(", ")) for c in passed]
    return f"Checks passed: {', '.join(said)}" if said else ""


def panel_line(review: Review, *, on_github: bool = False) -> str:
    """Who took part and what it cost: calls, tokens, dollars, seconds."""
    if not review.panel and review.read_earlier:
        return "Panel: nothing new to read."
    if not review.panel:
        # There is nothing to read, or a note says what to do.
        if not review.coverage or any(" is not asked: " in note for note in review.notes):
            return NO_PANEL
        return ADD_ON_GITHUB if on_github else f"{NO_PANEL} {ADD_PANEL}"
    models = {member.model for member in review.panel}
    members = ", ".join(
        member.name
        + _note(member.model if len(models) > 1 else "", "" if member.answered else "no answer")
        for member in review.panel
    )
    seconds = f"{review.seconds:.1f} s" if review.seconds < 10 else f"{review.seconds:.0f} s"
    one_model = _note(*models) if len(models) == 1 else ""
    return f"Panel: {members}{one_model}. {usage_words(review.usage)}, {seconds}."


def usage_words(usage: Totals) -> str:
    calls = _numbered(usage.calls, "call")
    calls += f" and {usage.recorded_calls} recorded" if usage.recorded_calls else ""
    total = usage.input_tokens + usage.output_tokens
    parts = {"cached": usage.cached_input_tokens, "local": usage.local_tokens}
    shares = [f"{100 * count // total} % {name}" for name, count in parts.items() if count]
    tokens = f"{total:,} tokens{_note(*shares)}"
    if usage.cost_usd:
        saved = f"${usage.saved_usd:.4f} of it paid before" if usage.saved_usd else ""
        tokens += f", ${usage.cost_usd:.4f}{_note(saved)}"
    if usage.lost_calls:
        tokens += f", {_numbered(usage.lost_calls, 'call')} without an answer"
    return f"{calls}, {tokens}"


def _note(*parts: str) -> str:
    words = ", ".join(filter(None, parts))
    return f" ({words})" if words else ""


def _numbered(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
