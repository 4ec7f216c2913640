"""One round of questions: put side by side, read strictly, asked once more where an answer was invalid."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.debate.minutes import Minutes
from reviewbot.debate.strict import InvalidReply
from reviewbot.domain.debate import Transcript
from reviewbot.ports import Ask, Experiment, Passage, Reply, ReplyStatus, Trial, Trialled, Verification

Round = tuple[Ask | Experiment | Trial, ...]
Answers = tuple[Reply | Verification | Trialled, ...]
Conversation = Generator[Round, Answers, Transcript]
Read = Callable[[Ask, str], Any]
"""Turns the text of a reply into a value. Raises InvalidReply."""
ReadWhole = Callable[[Ask, Reply], Any]
"""The same where more than its text counts: what was written with tools before it."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a question: its value (``None`` where there is none), and what of the dossier was not shown."""

    value: Any
    unread: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """A round, ended: what was heard for each ask, what was shown by each experiment, in their orders."""

    heard: tuple[Heard, ...]
    verified: tuple[Verification, ...] = ()


Holding = Generator[Round, Answers, Held]


def hold(asks: list[Ask], read: Read, minutes: Minutes, *, experiments: tuple[Experiment, ...] = ()) -> Holding:
    """Put questions and experiments, and read what comes back. An invalid answer is asked for once more, quoting its fault."""
    return (yield from hold_whole(asks, lambda ask, answer: read(ask, answer.text), minutes, experiments=experiments))


def attempt(trial: Trial, minutes: Minutes) -> Generator[Round, Answers, Trialled]:
    """Put a candidate on trial."""
    (answer,) = yield (trial,)
    assert isinstance(answer, Trialled)
    minutes.tried(trial, answer)
    return answer


def hold_whole(asks: list[Ask], read: ReadWhole, minutes: Minutes, *, experiments: tuple[Experiment, ...] = ()) -> Holding:
    """The same, where replies are read whole."""
    if not asks and not experiments:
        return Held(())
    sent = yield (*asks, *experiments)
    verified = tuple(answer for answer in sent if isinstance(answer, Verification))
    for experiment, verification in zip(experiments, verified, strict=True):
        minutes.tested(experiment, verification)
    replies = [answer for answer in sent if isinstance(answer, Reply)]
    values = [_value(ask, answer, read=read, minutes=minutes) for ask, answer in zip(asks, replies, strict=True)]
    again = [index for index, value in enumerate(values) if isinstance(value, InvalidReply)]
    if again:
        asks_again = [replace(asks[index], attempt=2, complaint=str(values[index])) for index in again]
        sent = yield tuple(asks_again)
        for index, ask, answer in zip(again, asks_again, sent, strict=True):
            assert isinstance(answer, Reply)
            replies[index] = answer
            values[index] = _value(ask, answer, read=read, minutes=minutes)
    return Held(tuple(_heard(value, answer) for value, answer in zip(values, replies, strict=True)), verified)


def _heard(value: Any, answer: Reply) -> Heard:
    return Heard(None) if isinstance(value, InvalidReply) else Heard(value, answer.unread)


def _value(ask: Ask, answer: Reply, *, read: ReadWhole, minutes: Minutes) -> Any:
    """What the answer says, ``None`` for a failure, an InvalidReply where it cannot be read."""
    if answer.status is not ReplyStatus.OK:
        minutes.answered(ask, answer)
        return None
    try:
        value = read(ask, answer)
    except InvalidReply as exc:
        minutes.answered(ask, answer, problem=str(exc))
        return exc
    minutes.answered(ask, answer)
    return value
