"""A command as a check: it ends with 0 where all is well, and with another number where the trouble shows."""

from __future__ import annotations

from reviewbot.domain.evidence import Side
from reviewbot.evidence.proof.method import Ground, Method, Unfit
from reviewbot.evidence.proof.runs import Told
from reviewbot.evidence.suite import test_files
from reviewbot.ports import Ended, Job, Outcome

PYTHONS = ("python", "python3")
NOT_STARTED = (125, 126, 127)
"""How shells say that a command could not be begun."""
BY_SIGNAL = 128


def _job(ground: Ground, side: Side) -> Job:
    argv = ground.experiment.check.command
    if not argv or not argv[0].strip():
        raise Unfit("the check names no command")
    support = test_files(ground.view) if side is Side.BASE else ()
    return Job("proof", known(argv), ground.options.seconds, executes=True, tree=side, overlay=support)


def known(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command with its program found as the sandbox finds programs."""
    program, rest = argv[0], argv[1:]
    if program in PYTHONS:
        return ("{python}", *rest)
    if program == "pytest":
        return ("{python}", "-m", "pytest", *rest)
    return argv if "/" in program else (f"{{tool:{program}}}", *rest)


def _told(_: Ground, outcome: Outcome, __: Side) -> Told:
    text = (outcome.stdout + outcome.stderr).decode("utf-8", "replace")
    code = outcome.exit_code
    if outcome.ended is not Ended.EXITED or code is None or code < 0 or code in NOT_STARTED or code > BY_SIGNAL:
        return Told(None, f"{outcome.reason}\n{text}".strip())
    return Told(code == 0, text)


METHOD = Method(_job, _told)
