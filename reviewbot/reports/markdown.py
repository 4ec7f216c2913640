"""The report for a pull request, in GitHub's Markdown.

What stands in <summary> is ours: there, GitHub reads HTML and no escape of Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from reviewbot.reports import words
from reviewbot.reports.style import Style
from reviewbot.text.files import language_of
from reviewbot.text.markdown import block, code, inline
from reviewbot.verdict.document import Finding, Review

# GitHub refuses a comment over 65,536 characters. Bytes count here, which are never fewer.
MAX_BYTES = 60_000
MAX_SECTION = 10_000
MAX_TITLE, MAX_PROSE, MAX_CODE = 200, 1_000, 4_000  # characters


def render(review: Review, style: Style) -> str:
    head = f"## {words.headline(review)}\n\n{_prose(words.coverage_line(review))}"
    tail = "\n\n".join(_tail(review))
    findings = _findings(review.reported, style, MAX_BYTES - _size(head) - _size(tail) - 10)
    return "\n\n".join(part for part in (head, *findings, tail) if part)


def _findings(reported: Sequence[Finding], style: Style, room: int) -> list[str]:
    """As many in full as there is room for, and a line for each of the others."""
    lines = [f"- {_heading(finding)}, {_place(finding)}" for finding in reported]
    room_for_lines = min(sum(map(_size, lines)), room // 3)
    room -= room_for_lines + 500
    shown: list[str] = []
    for finding in reported:
        full = _finding(finding, style)
        room -= _size(full)
        if room < 0:
            more = len(lines) - len(shown)
            head = f"### {more} more\n\nThere is no room for all about these findings."
            return [*shown, head, _listed(lines[-more:], room_for_lines)]
        shown.append(full)
    return shown


def _finding(finding: Finding, style: Style) -> str:
    language = (language_of(finding.location.path) if finding.location else None) or ""
    excerpt = words.shortened(finding.excerpt, MAX_CODE)
    objections = [f"- {_prose(f'{who} {said}')}" for who, said in words.objections(finding)]
    parts = [
        f"### {_heading(finding)}",
        _place(finding),
        block(excerpt, language) if excerpt.strip() else "",
        _prose(words.sentence(finding.consequence)),
        f"**{words.STATUSES[finding.status]}:** {_prose(words.why(finding))}",
        "\n".join(objections),
        *_evidence(finding),
    ]
    if style.verbose and (paragraphs := list(words.debate(finding))):
        parts.append(_folded("Debate", *(f"- {_prose(text)}" for text in paragraphs)))
    return "\n\n".join(filter(None, parts))


def _place(finding: Finding) -> str:
    place = words.shortened(words.place(finding.location), MAX_TITLE)
    return code(place) if finding.location else place


def _heading(finding: Finding) -> str:
    title = inline(words.shortened(finding.title, MAX_TITLE)) or "(no title)"
    return f"{inline(finding.id)} ({finding.severity}): {title}"


def _evidence(finding: Finding) -> Iterator[str]:
    """What was executed, folded."""
    tests = words.failed_tests(finding)
    output = finding.result.output if finding.result else ""
    if tests or output.strip():
        failed = _listed([f"- {code(words.shortened(test, MAX_TITLE))}" for test in tests], 2_000)
        title = "The test that fails" if len(tests) == 1 else "The tests that fail"
        yield _folded(title if tests else "Output", failed, _output(output))
    if proof := finding.proof:
        source = words.shortened(proof.reproduction.source, MAX_CODE)
        test = block(source, proof.reproduction.language)
        title = "The test that was written for it"
        yield _folded(title, _prose(words.proof_line(proof)), test, _output(proof.output))


def _tail(review: Review) -> Iterator[str]:
    if review.gaps or not review.complete:
        gaps = [f"- {_prose(gap)}" for gap in review.gaps]
        yield "### Not complete"
        yield _listed(gaps, MAX_SECTION) or "It is not known what was left out."
    if review.checks:
        rows = [
            f"| {_cell(check.check)} | {check.state.replace('_', ' ')} | {_cell(check.text)} |"
            for check in review.checks
        ]
        yield "### Checks"
        yield "| check | result | |\n|---|---|---|\n" + _listed(rows, MAX_SECTION)
    if review.notes:
        yield _listed([f"- {_prose(note)}" for note in review.notes], MAX_SECTION)
    yield "---"
    yield _prose(words.panel_line(review))


def _listed(lines: Sequence[str], room: int) -> str:
    """As many lines as there is room for, and how many more there are."""
    count = sum(size <= room for size in accumulate(map(_size, lines)))
    more = [f"\nand {len(lines) - count} more"] if count < len(lines) else []
    return "\n".join([*lines[:count], *more])


def _output(text: str) -> str:
    """The end of an output."""
    return block(text[-MAX_CODE:]) if text.strip() else ""


def _folded(title: str, *parts: str) -> str:
    inner = "\n\n".join(filter(None, parts))
    return f"<details>\n<summary>{title}</summary>\n\n{inner}\n\n</details>"


def _prose(text: str) -> str:
    return inline(words.shortened(text, MAX_PROSE))


def _cell(text: str) -> str:
    return _prose(text).replace("|", r"\|")


def _size(text: str) -> int:
    return len(text.encode()) + 2
