"""What became of each check, in words."""

from __future__ import annotations

from collections import Counter

from reviewbot.checks.evidence import CheckResult, CheckRun, CheckState, CheckSummary, Evidence


def summarise(evidence: Evidence) -> tuple[CheckSummary, ...]:
    """A summary a check that had something to look at."""
    base = {run.check: run for run in evidence.runs if run.side == "base"}
    return tuple(
        _summary(run, base.get(run.check), [r for r in evidence.results if r.check == run.check])
        for run in evidence.runs
        if run.side == "head" and (run.files or run.kind == "test" or run.outcome != "ended")
    )


def _summary(head: CheckRun, base: CheckRun | None, results: list[CheckResult]) -> CheckSummary:
    states = Counter(result.state for result in results)
    state: CheckState = "passed"
    if head.outcome == "not_run":
        state, text = "not_run", f"was not run: {head.reason}"
    elif head.outcome == "incomplete":
        state, text = "incomplete", f"did not end: {head.reason}{_so_far(head)}"
    elif base is not None and base.outcome != "ended" and not states["new"]:
        state, text = "incomplete", f"did not end before the change: {base.reason}"
    elif head.kind == "test":
        state, text = _tests(head, results)
    elif states["new"]:
        state, text = "failed", f"{states['new']} new"
    else:
        text = "nothing new" + (f", {states['existing']} before" if states["existing"] else "")
    seconds = round(head.seconds + (base.seconds if base else 0), 2)
    return CheckSummary(
        check=head.check, kind=head.kind, state=state, text=text, seconds=seconds, files=head.files
    )


def _tests(head: CheckRun, results: list[CheckResult]) -> tuple[CheckState, str]:
    outcomes = Counter(test.outcome for test in head.report.tests)
    counts = {
        state: sum(len(result.tests) for result in results if result.state == state)
        for state in ("new", "existing", "flaky", "fixed")
    }
    words = [f"{outcomes['passed']} passed"]
    if counts["new"]:
        words.append(f"{counts['new']} failed")
    if counts["existing"]:
        words.append(f"{counts['existing']} failed before as well")
    if counts["flaky"]:
        words.append(f"{counts['flaky']} flaky")
    if counts["fixed"]:
        words.append(f"{counts['fixed']} fixed")
    if outcomes["skipped"]:
        words.append(f"{outcomes['skipped']} skipped")
    ranked: tuple[tuple[int, CheckState], ...] = (
        (counts["new"], "failed"),
        (counts["existing"], "failed_before"),
        (counts["flaky"], "flaky"),
    )
    return next((state for count, state in ranked if count), "passed"), ", ".join(words)


def _so_far(head: CheckRun) -> str:
    count = len(head.report.tests)
    return f" ({count} test{'' if count == 1 else 's'} ended)" if count else ""
