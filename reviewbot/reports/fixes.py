"""What became of fixes, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reviewbot.reports import words
from reviewbot.reports.words import Style
from reviewbot.tasks.task import TaskResult
from reviewbot.text.plain import plain
from reviewbot.text.secrets import redact
from reviewbot.verdict.document import Finding

MAX_DIFF_LINES = 400
# Of a commit that reviewbot made. Anybody can write it, so who pushed counts as well.
TRAILER = "\nReviewbot-Finding: "
STATES = {
    "fixed": "everything ran with it, and nothing objects",
    "suggested": "Suggested, not proven",
    "failed": "Nothing that was drafted is accepted",
}


def render_fixes(results: Sequence[TaskResult], findings: Sequence[Finding], style: Style) -> str:
    """Each fix with what it fixes and its diff, and why others are none."""
    return "\n\n".join("\n".join(_block(result, findings, style)) for result in results)


def commit_message(result: TaskResult, findings: Sequence[Finding]) -> tuple[str, str]:
    """Headline and body of a commit, with trailers by which it is known again."""
    found = [finding for finding in findings if finding.id in result.findings]
    if not found:
        said = "\n".join([*map(plain, result.facts), "", f"Reviewbot-Goal: {result.kind}"])
        return plain(result.title), said
    trailers = "".join(f"{TRAILER}{finding.key}" for finding in found)
    if len(found) == 1:
        return f"Fix: {plain(found[0].title)}", trailers.lstrip()
    listed = "\n".join(f"- {plain(finding.title)}" for finding in found)
    return f"Fix {len(found)} findings", f"{listed}\n{trailers}"


def _block(result: TaskResult, findings: Sequence[Finding], style: Style) -> Iterator[str]:
    found = {finding.id: finding for finding in findings}
    if not result.findings:
        yield _safe(result.title)
    for finding in (found[id] for id in result.findings if id in found):
        place = words.place(finding.location)
        yield _safe(f"{finding.id} {finding.severity:<8} {place}: {finding.title}")
    by = f" (by {result.author})" if result.author else ""
    done = "Fixed: " if result.kind in ("fix", "bug") else "Done: "
    yield _safe(f"  {done if result.outcome == 'fixed' else ''}{STATES[result.outcome]}{by}.")
    yield from (_safe(f"  {text}") for text in (*result.facts, *result.reasons, *result.dissent))
    if result.explanation and not style.quiet:
        yield _safe(f"  {result.explanation}")
    diff = result.diff.split("\n") if result.diff else []
    yield from map(_safe, diff[:MAX_DIFF_LINES])
    if len(diff) > MAX_DIFF_LINES:
        yield f"  … {len(diff) - MAX_DIFF_LINES} more lines"
    if style.verbose:
        for number, attempt in enumerate(result.attempts, start=1):
            yield _safe(f"  Attempt {number}: {'; '.join(attempt.reasons)}")


def _safe(line: str) -> str:
    return plain(redact(line)[0]).rstrip()
