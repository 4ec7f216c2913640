"""What became of fixes, as text."""

from __future__ import annotations

from collections.abc import Sequence

from reviewbot.reports.style import Style
from reviewbot.tasks.fix import TaskResult
from reviewbot.text.plain import plain
from reviewbot.text.secrets import redact

MAX_DIFF_LINES = 400
STATES = {
    "fixed": "fixed: everything ran with it, and nothing objects",
    "suggested": "suggested, not proven",
    "failed": "not fixed",
}


def render_fixes(results: Sequence[TaskResult], style: Style) -> str:
    """Each fix with its diff, and why others are none."""
    return "\n\n".join(_block(result, style) for result in results)


def _block(result: TaskResult, style: Style) -> str:
    by = f" (by {result.author})" if result.author else ""
    lines = [f"{', '.join(result.findings)}: {STATES[result.outcome]}{by}"]
    lines += [f"  {text}" for text in (*result.reasons, *result.dissent)]
    lines += [f"  {result.explanation}"] if result.explanation and not style.quiet else []
    diff = result.diff.split("\n") if result.diff else []
    lines += diff[:MAX_DIFF_LINES]
    lines += [f"  … {len(diff) - MAX_DIFF_LINES} more lines"] if len(diff) > MAX_DIFF_LINES else []
    if style.verbose:
        for number, attempt in enumerate(result.attempts, start=1):
            lines.append(f"  Attempt {number}: {'; '.join(attempt.reasons)}")
    return "\n".join(plain(redact(line)[0]).rstrip() for line in lines)
