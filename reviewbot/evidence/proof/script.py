"""A program as a check, in the project's own language: laid into the tree, and run by what its suffix says.

It ends with 0 where all is well and with 1 where the trouble shows; any other end tells nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reviewbot.domain.evidence import Side
from reviewbot.evidence.parsers import go_test
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome
from reviewbot.evidence.proof.method import Ground, Method, Unfit
from reviewbot.evidence.proof.runs import Told
from reviewbot.evidence.suite import test_files
from reviewbot.evidence.view import is_inside
from reviewbot.ports import Ended, Job, Outcome

GO_TESTS = "^TestReviewbot"
"""Which functions of a written Go test are run."""


def _go(path: str) -> tuple[str, ...]:
    folder = path.rpartition("/")[0]
    return ("{tool:go}", "test", "-json", "-count=1", "-run", GO_TESTS, f"./{folder}" if folder else ".")


RUNNERS: Mapping[str, Callable[[str], tuple[str, ...]]] = {
    "_test.go": _go,
    ".sh": lambda path: ("{tool:bash}", path),
    ".bash": lambda path: ("{tool:bash}", path),
    ".js": lambda path: ("{tool:node}", path),
    ".mjs": lambda path: ("{tool:node}", path),
    ".cjs": lambda path: ("{tool:node}", path),
    ".py": lambda path: ("{python}", path),
    ".sql": lambda path: ("{own_python}", "-I", "{probes}/reviewbot_postgres.py", "check", path),
}
"""What runs a script, by the end of its name."""


def _job(ground: Ground, side: Side) -> Job:
    check, view = ground.experiment.check, ground.view
    path = check.subject
    runner = next((argv for suffix, argv in RUNNERS.items() if path.endswith(suffix)), None)
    if runner is None:
        raise Unfit(f"nothing here runs a script named {path!r}; it may end in {', '.join(RUNNERS)}")
    if not is_inside(path) or not check.source:
        raise Unfit("a script needs its text, and a path inside the tree where it is laid")
    if path in view.paths or any(path in (file.path, file.base_path) for file in view.change.files):
        raise Unfit(f"the script would replace the project's own {path}")
    support = test_files(view) if side is Side.BASE else ()
    overlay = (*support, (path, check.source.encode("utf-8", "surrogateescape")))
    environment = (("PYTHONPATH", "{tree}/src:{tree}"),) if path.endswith(".py") else ()
    return Job("proof", runner(path), ground.options.seconds, executes=True, tree=side, overlay=overlay, environment=environment)


def _told(ground: Ground, outcome: Outcome, __: Side) -> Told:
    text = (outcome.stdout + outcome.stderr).decode("utf-8", "replace") or outcome.reason
    if outcome.ended is not Ended.EXITED:
        return Told(None, f"{outcome.reason}\n{text}")
    if ground.experiment.check.subject.endswith("_test.go"):
        return _told_by_go(outcome, text)
    return Told({0: True, 1: False}.get(outcome.exit_code or 0), text)


def _told_by_go(outcome: Outcome, text: str) -> Told:
    """A test that could not be built tells nothing."""
    try:
        trials = [trial for trial in go_test.read(outcome.stderr + outcome.stdout) if not trial.is_group]
    except Unreadable as exc:
        return Told(None, f"{exc}\n{text}")
    failed = [trial for trial in trials if trial.outcome is not TestOutcome.PASSED and trial.outcome is not TestOutcome.SKIPPED]
    if failed:
        return Told(passes=False, text=failed[0].text or failed[0].message)
    passed = outcome.exit_code == 0 and any(trial.outcome is TestOutcome.PASSED for trial in trials)
    return Told(True if passed else None, "" if passed else text)


METHOD = Method(_job, _told)
