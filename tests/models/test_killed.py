"""The process is killed when a call arrives at the server, at every one of them: what was answered before is not paid again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections import Counter
from typing import Any

import pytest

from tests.fakes import Answer, Models, Seen
from tests.fakes.scripts import perform
from tests.models.stage import FEW_CALLS as CALLS
from tests.models.stage import Ran, Stage, disputed, essence, one_vendor, panelist

TO_TAKE_IN = 0.3
"""Seconds that the client has to write an answer into its ledger: some hundred times what that takes."""


Undisturbed = tuple[dict[str, Any], Counter[bytes]]


class Assassin:
    """A script that kills its client when its call ``number`` arrives, ``wait`` seconds later, and before any byte of its answer."""

    def __init__(self, script: Any, number: int, wait: float) -> None:
        self._script = script
        self._number = number
        self._wait = wait
        self._seen = 0
        self.victim: subprocess.Popen[bytes] | None = None
        self.at: float | None = None

    def __call__(self, seen: Seen) -> Answer:
        answer = perform(self._script, seen)
        assert isinstance(answer, Answer)
        self._seen += 1
        if self._seen != self._number:
            return answer
        return Answer(answer.text, before_reply=self._kill)

    def _kill(self) -> None:
        time.sleep(self._wait)
        assert self.victim is not None
        os.kill(self.victim.pid, signal.SIGKILL)
        self.at = time.monotonic()


def script(stage: Stage) -> Any:
    """A debate with two rounds about one of two claims, and the moderator."""
    return panelist(disputed(stage.text, functions=(0, 2)), courses=(0, 2))


def answered(calls: list[Seen], before: float) -> Counter[bytes]:
    """The requests whose whole answers were sent before a moment."""
    return Counter(call.raw for call in calls if call.outcome == "answered" and call.ended is not None and call.ended <= before)


def killed_at(stage: Stage, models: Models, number: int, wait: float) -> tuple[Counter[bytes], Counter[bytes]]:
    """Run until the kill. Which answers the client surely has, and which it may have."""
    assassin = Assassin(script(stage), number, wait)
    models.script = assassin
    process = assassin.victim = stage.reviewing()
    assert stage.ended(process).code == -signal.SIGKILL
    models.wait_idle()
    assert assassin.at is not None
    models.script = script(stage)
    return answered(models.calls, assassin.at - TO_TAKE_IN), answered(models.calls, assassin.at)


# Fails while the key of a debate differs from process to process (the repr of its options holds the address of a function).
def check_resumed(again: Ran, undisturbed: dict[str, Any], *, resumed: bool = True) -> None:
    """The same review, which says that it went on."""
    assert again.code == 0, again.err
    assert essence(again.document, without_usage=True) == essence(undisturbed, without_usage=True)
    assert ("an interrupted debate was resumed" in again.document["notes"]) is resumed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The review as it is when nobody is killed, and what is asked for it. The commits are the same in every folder."""
    stage = Stage(tmp_path_factory.mktemp("undisturbed"))
    with Models(script=script(stage)) as models:
        stage.configure(one_vendor(models))
        made = stage.review().document
        asked = Counter(call.raw for call in models.calls)
    stage.close()
    assert sum(asked.values()) == CALLS
    return made, asked


def check_killed(stage: Stage, models: Models, number: int, undisturbed: Undisturbed, wait: float) -> None:
    """Kill at call ``number``, run again: nothing is paid twice, nothing is left out."""
    made, asked = undisturbed
    surely, perhaps = killed_at(stage, models, number, wait)
    before = len(models.calls)
    again = stage.review()
    check_resumed(again, made)
    repeated = Counter(call.raw for call in models.calls[before:])
    assert not surely - (asked - repeated), "a call was made again whose answer had arrived"
    assert asked - perhaps <= repeated <= asked - surely
    assert again.document["usage"]["replayed_calls"] == CALLS - repeated.total()


@pytest.mark.matrix
@pytest.mark.ci
@pytest.mark.parametrize("number", range(1, CALLS + 1))
def test_whenever_a_process_is_killed_no_answer_is_paid_for_twice(
    number: int, stage: Stage, models: Models, undisturbed: Undisturbed
) -> None:
    stage.configure(one_vendor(models))
    check_killed(stage, models, number, undisturbed, wait=TO_TAKE_IN + 0.1)


@pytest.mark.parametrize("number", [2, 5, 9])
def test_a_process_that_is_killed_at_once_is_taken_up_where_it_was(
    number: int, stage: Stage, models: Models, undisturbed: Undisturbed
) -> None:
    stage.configure(one_vendor(models))
    check_killed(stage, models, number, undisturbed, wait=0.0)


def test_an_interrupted_debate_is_shown_as_such_until_it_is_resumed(
    stage: Stage, models: Models, undisturbed: Undisturbed
) -> None:
    stage.configure(one_vendor(models))
    killed_at(stage, models, 6, TO_TAKE_IN)
    (between,) = json.loads(stage.run("status", "--format", "json").out)["open"]
    assert between["state"] == "interrupted"
    check_resumed(stage.review(), undisturbed[0])
    (after,) = json.loads(stage.run("sessions", "list", "--format", "json").out)
    assert (after["id"], after["state"]) == (between["id"], "converged")
    assert after["usage"]["calls"] == CALLS


@pytest.mark.ci
def test_a_process_that_is_killed_again_and_again_gets_there(stage: Stage, models: Models, undisturbed: Undisturbed) -> None:
    stage.configure(one_vendor(models))
    made, asked = undisturbed
    for number in (2, 3, 3):
        killed_at(stage, models, number, TO_TAKE_IN)
    check_resumed(stage.review(), made)
    assert not [raw for raw, times in Counter(call.raw for call in models.calls).items() if times > 4]
    assert set(asked) == {call.raw for call in models.calls}
    (session,) = json.loads(stage.run("sessions", "list", "--format", "json").out)
    assert session["state"] == "converged"
