"""A table to debate at: one file of code, three seats, and scripts of what is answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from reviewbot.debate.papers import Papers
from reviewbot.debate.protocol import Brief, DebateOptions, debate
from reviewbot.domain.debate import Case, Table, Transcript
from reviewbot.domain.evidence import Ledger, Severity
from reviewbot.ports import Ask, Experiment, FirstPass, Reply, ReplyStatus, Verification
from reviewbot.testing import (
    a_claim,
    a_dossier,
    a_passage,
    a_seat,
    claims_reply,
)

CODE = "def total(rows, seen=[]):\n    for row in rows:\n        seen.append(row)\n    return len(seen)"
SEATS = (a_seat("critic"), a_seat("reviewer"), a_seat("optimizer"))
NOTHING = claims_reply()
DEFAULT = a_claim("a.py", 1, "def total(rows, seen=[]):")
HIGH = replace(DEFAULT, severity=Severity.HIGH)

Answer = str | Reply | Verification
Script = Callable[[Ask | Experiment], Answer]


def hold(script: Script, *, ledger: Ledger | None = None, options: DebateOptions | None = None, **brief: object) -> Transcript:
    """Run a debate to its end against a function that answers everything."""
    passages = (a_passage("a.py", CODE),)
    evidence = ledger or Ledger()
    papers = Papers((a_dossier(*passages, ledger=evidence),))
    facts = Brief(passages, papers, frozenset({"a.py"}), evidence, **brief)  # type: ignore[arg-type]
    talk = debate(facts, Table(SEATS), options or DebateOptions())
    try:
        wanted = next(talk)
        while True:
            wanted = talk.send(tuple(_reply(script(item)) for item in wanted))
    except StopIteration as end:
        return end.value


def _reply(answer: Answer) -> Reply | Verification:
    return Reply(ReplyStatus.OK, answer) if isinstance(answer, str) else answer


def scripted(
    first: dict[str, str], later: dict[str, str | list[str]] | None = None, seen: list[Ask | Experiment] | None = None
) -> Script:
    """First passes by seat, then the answers to whatever else a seat is asked, in order."""
    queues = {name: list(said) if isinstance(said, list) else [said] * 9 for name, said in (later or {}).items()}

    def answer(asked: Ask | Experiment) -> Answer:
        if seen is not None:
            seen.append(asked)
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome="fails_at_head"))
        if isinstance(asked.question, FirstPass):
            return first.get(asked.seat.name, NOTHING)
        return queues[asked.seat.name].pop(0)

    return answer


def only(transcript: Transcript) -> Case:
    assert len(transcript.cases) == 1, transcript
    return transcript.cases[0]
