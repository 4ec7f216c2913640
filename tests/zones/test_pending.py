"""A round that holds experiments for somebody else: what was asked is answered, and the debate waits."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from reviewbot import drive
from reviewbot.adapters.handover import NO_RUNNER, Handover, NoRunner, ToldSession
from reviewbot.debate.rounds import Answers, Round
from reviewbot.domain.debate import Check
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import GitError
from reviewbot.ports import Ask, Ended, Experiment, FirstPass, Job, RawDiff, SessionState, Verification
from reviewbot.testing import FakeClock, MemorySession, ScriptedPanel, Watching, a_dossier
from tests.publish import samples

ONE, OTHER = (Experiment("F1", Check((name,)), "a.py", 1, 1) for name in ("one", "other"))


def held(panel: ScriptedPanel, known: dict[Experiment, Verification]) -> Answers:
    """What a conversation of one round hears."""

    def conversation() -> Generator[Round, Answers, Answers]:
        return (yield (Ask(panel.table.seats[0], FirstPass(a_dossier())), ONE, OTHER))

    deadline = drive.Deadline(FakeClock(), 10.0)
    return drive.converse(conversation(), panel, drive.Laboratory(known.get), deadline=deadline, observer=Watching())


def test_a_round_is_over_where_every_experiment_is_known() -> None:
    known = {one: Verification(one.check, "1 failed") for one in (ONE, OTHER)}
    reply, *shown = held(ScriptedPanel({"critic": ["an answer"]}), known)
    assert reply.text == "an answer"
    assert shown == list(known.values())


def test_the_questions_of_a_round_are_answered_before_the_debate_waits() -> None:
    panel = ScriptedPanel({"critic": ["an answer"]})
    with pytest.raises(drive.Awaited) as waiting:
        held(panel, {ONE: Verification(ONE.check)})
    assert waiting.value.experiments == (OTHER,)
    assert len(panel.asked) == 1
    assert panel.closed


def test_nothing_but_what_was_handed_over_is_there(tmp_path: Path) -> None:
    raw = RawDiff(b"", b"", b"patch")
    handover = Handover(samples.REVISIONS, raw, blobs={"1" * 40: b"text"}, entries={})
    assert handover.resolve(Target(TargetKind.STAGED)) is samples.REVISIONS
    assert handover.diff(samples.REVISIONS) is raw
    assert handover.blob("1" * 40) == b"text"
    assert handover.entries("2" * 40) == ()
    with pytest.raises(GitError, match="was not handed over"):
        handover.blob("2" * 40)
    with pytest.raises(GitError, match="was not handed over"):
        handover.export("2" * 40, tmp_path)


@pytest.mark.parametrize("executes", [True, False])
def test_where_models_are_asked_nothing_runs_not_even_what_only_reads(executes: bool) -> None:
    outcome = NoRunner().run(Job("ruff", ("/bin/true",), 1.0, executes=executes))
    assert (outcome.ended, outcome.reason) == (Ended.REFUSED, NO_RUNNER)


def test_what_was_told_comes_before_what_is_remembered() -> None:
    within = MemorySession({"evidence": {"from": "memory"}, "paces": {"from": "memory"}})
    session = ToldSession({"evidence": {"from": "document"}}, within)
    assert session.recall("evidence") == {"from": "document"}
    assert session.recall("paces") == {"from": "memory"}
    assert session.recall("proof") is None
    session.keep("order", {"a": 1}, SessionState.IN_DEBATE)
    session.close(samples.CLEAN, SessionState.CONVERGED)
    assert within.kept["order"] == {"a": 1}
    assert within.states == [SessionState.IN_DEBATE, SessionState.CONVERGED]
    assert within.review is samples.CLEAN
