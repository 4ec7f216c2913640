"""Talking to a part of the debate: a generator that asks, a function that answers, and every round that was put."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from reviewbot.debate.rounds import Answers, Round
from reviewbot.domain.debate import Seat
from reviewbot.ports import Ask, Dossier, Passage, Reply, ReplyStatus, Trialled, Verification
from reviewbot.testing import a_dossier, a_passage, a_seat

T = TypeVar("T")
Answer = str | Reply | Verification | Trialled


@dataclass(frozen=True)
class Talk(Generic[T]):
    """What came of it, and what was asked."""

    end: T
    rounds: list[Round]

    @property
    def asks(self) -> list[Ask]:
        return [asked for put in self.rounds for asked in put if isinstance(asked, Ask)]

    def told(self) -> list[list[tuple[str, str]]]:
        """(seat, subject) of every ask, by round."""
        return [[(asked.seat.name, asked.subject) for asked in put if isinstance(asked, Ask)] for put in self.rounds]


def talked(conversation: Generator[Round, Answers, T], answer: Callable[[Any], Answer]) -> Talk[T]:
    """Hold it to its end."""
    rounds: list[Round] = []
    try:
        put = next(conversation)
        while True:
            rounds.append(put)
            put = conversation.send(tuple(_reply(answer(asked)) for asked in put))
    except StopIteration as end:
        return Talk(end.value, rounds)


def _reply(answer: Answer) -> Reply | Verification | Trialled:
    return Reply(ReplyStatus.OK, answer) if isinstance(answer, str) else answer


def local_seat(name: str) -> Seat:
    return replace(a_seat(name), local=True)


def portions(*names: str, lines: int = 2) -> tuple[Dossier, ...]:
    """Dossiers with one passage each, of a file named after the portion."""
    text = "\n".join(f"line {number}" for number in range(1, lines + 1))
    return tuple(a_dossier(a_passage(f"{name}.py", text), portion=name, of=len(names)) for name in names)


def rest(dossier: Dossier, first: int) -> tuple[Passage, ...]:
    """The passage of a dossier from line ``first`` on."""
    (passage,) = dossier.passages
    lines = passage.lines[first - passage.start :]
    return (replace(passage, start=first, lines=lines, changed=frozenset(n for n in passage.changed if n >= first)),)


def argued(*cites: str, claim: str = "because", reasoning: str = "") -> dict[str, object]:
    """One argument, as an answer holds it."""
    return {"claim": claim, "evidence": list(cites), "reasoning": reasoning, "counter_arguments": []}


def judgement_reply(decision: str, *cites: str) -> str:
    return json.dumps({"arguments": [argued(*cites, claim="the judge's reason")], "decision": decision})


def draft_reply(decision: str, start: int = 1, line: int = 1, replacement: str = "", explanation: str = "better") -> str:
    return json.dumps(
        {"decision": decision, "start_line": start, "line": line, "replacement": replacement, "explanation": explanation}
    )


def assignment_reply(*pairs: tuple[str, str]) -> str:
    return json.dumps({"assignments": [{"panelist": who, "portion": what} for who, what in pairs]})
