"""A shop in which code is made: tasks about a file of ten lines, what panelists answer, and a sandbox that is told what holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reviewbot.debate.making import Made, MakeOptions, Shop, make
from reviewbot.debate.making.tree import Tree
from reviewbot.debate.papers import Papers
from reviewbot.domain.debate import Attendance, Check, Seat, SeatStatus, Transcript
from reviewbot.domain.evidence import Category, Ledger, Severity
from reviewbot.domain.money import Bill, Usage
from reviewbot.domain.repair import CodeVersion, Edit, Goal, Repair
from reviewbot.ports import (
    Appraisal,
    Arbitration,
    Ask,
    Drafting,
    Packet,
    Proposal,
    Refinement,
    Reply,
    ReplyStatus,
    Splice,
    Task,
    Trial,
    Trialled,
)
from reviewbot.testing import a_dossier, a_passage, a_seat, evidence_item
from tests.debate.conversation import Answer, Talk, argued, talked

CODE = b"".join(b"line %d\n" % number for number in range(1, 11))
FILES: Mapping[str, bytes] = {"a.py": CODE, "b.py": b"other\n"}
LEDGER = Ledger(items=(evidence_item(1, "a.py", 3),))
DOSSIER = a_dossier(a_passage("a.py", CODE.decode().rstrip("\n")), ledger=LEDGER)
CRITIC, REVIEWER, OPTIMIZER, PROPOSER = (a_seat(name) for name in ("critic", "reviewer", "optimizer", "proposer"))
MODERATOR = a_seat("moderator")
TABLE = (CRITIC, REVIEWER, OPTIMIZER)
CHECK = Check(("pytest", "-q", "t.py"), "def test(): ...", "t.py::test")
GREEN = Trialled(patch=b"the patch")


def a_task(name: str = "F1", line: int = 3, *proposals: Proposal, **changes: Any) -> Task:
    packet = Packet(
        "a.py", line, line, f"line {line}", Category.CORRECTNESS, Severity.MEDIUM, "wrong", "a trigger", "a harm", "none", ()
    )
    task = Task(name, Goal.FIX, "wrong", packet, paths=frozenset({"a.py"}), proposals=proposals)
    return replace(task, **changes)


def an_offer(line: int, text: str = "", *, author: str = "ruff", path: str = "a.py") -> Proposal:
    """Another text for a line of ``CODE``."""
    start = CODE.index(b"line %d\n" % line)
    new = (text or f"mended {line}").encode() + b"\n"
    return Proposal(author, (Splice(path, start, start + len(b"line %d\n" % line), new),), f"mends line {line}")


def swap(find: str, replace: str, path: str = "a.py") -> dict[str, str]:
    return {"path": path, "find": find, "replace": replace}


def wrote(*swaps: dict[str, str], explanation: str = "because") -> str:
    return json.dumps({"explanation": explanation, "edits": list(swaps)})


def with_tool(*writes: tuple[str, bytes | None], text: str | None = None) -> Reply:
    """A reply before which these files were written with the tool."""
    versions = tuple(CodeVersion(number, path, content, "proposer") for number, (path, content) in enumerate(writes, 1))
    return Reply(ReplyStatus.OK, wrote() if text is None else text, written=versions)


def point(text: str = "it breaks", *cites: str, critical: bool = True) -> dict[str, object]:
    return {"text": text, "critical": critical, "cites": list(cites)}


def verdict(letter: str = "A", *points: dict[str, object], acceptable: bool | None = None, score: float = 7) -> dict[str, object]:
    accepts = not any(one["critical"] for one in points) if acceptable is None else acceptable
    return {"letter": letter, "points": list(points), "acceptable": accepts, "score": score}


def judged(*verdicts: dict[str, object]) -> str:
    return json.dumps({"verdicts": list(verdicts or (verdict(),))})


REFUSES = judged(verdict("A", point("it breaks line 1", "a.py:1"), score=2))
ACCEPTS = judged()


def arbitrated(decision: str, *cites: str) -> str:
    return json.dumps({"arguments": [argued(*cites)], "decision": decision})


def green_where(word: str) -> Callable[[Trial], Trialled]:
    """A sandbox in which only files with a word in them pass."""
    told = Trialled(red=("F1",), output="assert 1 == 2")
    return lambda trial: GREEN if word in after(trial) else told


def after(trial: Trial, path: str = "a.py") -> str:
    """A file of a candidate, as text."""
    return (Tree(FILES, trial.edits).content(path) or b"").decode()


def scored(scores: Mapping[str, float], *points: dict[str, object]) -> Callable[[Ask], str]:
    """A judge who scores candidates by a word in them, has ``points`` against those with the last one, and accepts the others."""

    def answer(ask: Ask) -> str:
        assert isinstance(ask.question, Appraisal)
        found = []
        for one in ask.question.candidates:
            word = next((word for word in scores if word in one.patch), "")
            against = points if points and word == list(scores)[-1] else ()
            found.append(verdict(one.letter, *against, score=scores.get(word, 7)))
        return judged(*found)

    return answer


Said = Answer | Callable[[Ask], str]


@dataclass
class Panel:
    """Answers by seat and kind of question, used up in order; the last of a kind is given again. Who has none writes nothing and
    accepts everything. ``lab`` says what comes of a trial: by default all is well."""

    said: Mapping[tuple[str, type], Sequence[Said]] = field(default_factory=dict)
    lab: Callable[[Trial], Trialled] = lambda _: GREEN
    asked: list[Ask] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    _given: dict[tuple[str, type], int] = field(default_factory=dict)

    def __call__(self, asked: Ask | Trial) -> Answer:
        if isinstance(asked, Trial):
            self.trials.append(asked)
            return self.lab(asked)
        self.asked.append(asked)
        key = (asked.seat.name, type(asked.question))
        said = self.said.get(key) or [_USUAL[type(asked.question)]]
        number = self._given.get(key, 0)
        self._given[key] = number + 1
        answer = said[min(number, len(said) - 1)]
        return answer(asked) if callable(answer) else answer


_USUAL: Mapping[type, Said] = {
    Refinement: wrote(),
    Appraisal: scored({}),
    Drafting: wrote(),
    Arbitration: arbitrated("undecided"),
}


def a_transcript(*seats: Seat) -> Transcript:
    return Transcript(
        attendance=tuple(Attendance(seat, SeatStatus.OK) for seat in seats),
        bill=Bill(Usage(calls=1), {seat.name: Usage(calls=1) for seat in seats}),
        notes=("said before",),
        rounds=2,
    )


def held(
    panel: Panel,
    *tasks: Task,
    seats: Sequence[Seat] = TABLE,
    moderator: Seat | None = None,
    unproven: bool = False,
    files: Mapping[str, bytes] = FILES,
    **options: Any,
) -> Talk[Made]:
    shop = Shop(files, Papers((DOSSIER,)), moderator, unproven)
    work = make(tasks or (a_task(),), shop, a_transcript(*seats), options=MakeOptions(**options))
    return talked(work, panel)


def one(talk: Talk[Made]) -> Repair:
    (repair,) = talk.end.repairs
    return repair


def by_id(repairs: Iterable[Repair]) -> dict[str, Repair]:
    return {repair.id: repair for repair in repairs}


def content(edits: Iterable[Edit], path: str = "a.py") -> str:
    return next((edit.content or b"" for edit in edits if edit.path == path), b"").decode()


def kinds(panel: Panel) -> list[tuple[str, str]]:
    """Who was asked what, in order."""
    return [(ask.seat.name, type(ask.question).__name__) for ask in panel.asked]


def drafting(panel: Panel, index: int = 0) -> Drafting:
    """One of the questions to who writes."""
    return [ask.question for ask in panel.asked if isinstance(ask.question, Drafting)][index]
