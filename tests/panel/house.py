"""A panel of models for tests: one seat, a scribe that keeps what it was asked for, tools that answer with their arguments."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from typing import Any

from reviewbot.adapters.panel.models import Desk, Line, ModelPanel, Sitting
from reviewbot.adapters.till import prices
from reviewbot.domain.debate import Seat
from reviewbot.domain.evidence import Category, Severity
from reviewbot.ports import (
    Ask,
    Completion,
    CrossExamination,
    Fault,
    FirstPass,
    Packet,
    Prompt,
    ProviderError,
    Reply,
    Stop,
    Tokens,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from reviewbot.testing import MemorySession, Watching, a_dossier, a_passage, a_seat
from tests.till.paying import Model, Said, Shop

DOSSIER = a_dossier(*(a_passage(f"file{number}.py", f"some code in file {number}\n" * 20) for number in range(10)))
CRITIC = replace(a_seat("critic"), model="one:m")
ASK = Ask(CRITIC, FirstPass(DOSSIER), subject="P1", timeout_seconds=100.0)
PACKET = Packet("file1.py", 1, 1, "some", Category.CORRECTNESS, Severity.HIGH, "t", "t", "c", "f", ())
LATER = replace(ASK, question=CrossExamination(PACKET, DOSSIER), subject="F1")


class Plain:
    """A scribe that writes as many passages as fit into ``room``, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.rooms: list[int | None] = []

    def write(self, ask: Ask, room: int | None) -> Prompt:
        self.rooms.append(room)
        shown, left = [], room
        passages = ask.question.dossier.passages
        for passage in passages:
            size = prices.tokens_in("\n".join(passage.lines))
            if left is not None and size > left:
                break
            left = None if left is None else left - size
            shown.append(passage)
        prefix = "".join("\n".join(passage.lines) + "\n" for passage in shown)
        words = f"{ask.seat.name} {ask.subject} {ask.round} {ask.attempt} {ask.complaint}"
        return Prompt("system", prefix, words, {"type": "object"}, "claims", passages[len(shown) :])


class Drawer:
    """Tools that answer with their arguments."""

    def __init__(self) -> None:
        self.used: list[ToolCall] = []

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("read_file", "reads a file", {"type": "object"}),)

    def use(self, call: ToolCall) -> ToolResult:
        self.used.append(call)
        return ToolResult(call.id, f"first line of {call.arguments}\nsecond line")


@dataclass
class House:
    """A panel of one seat, whose first line is ``lines[0]``."""

    shop: Shop
    scribe: Plain = field(default_factory=Plain)
    session: MemorySession = field(default_factory=MemorySession)
    watcher: Watching | None = None

    def panel(self, *lines: Line, seat: Seat = CRITIC, vacant: str = "", moderator: Sitting | None = None) -> ModelPanel:
        desk = Desk(self.scribe, self.shop.till, self.session, "high", self.watcher)
        return ModelPanel([Sitting(seat, lines, vacant)], moderator, desk)

    def line(self, **changes: Any) -> Line:
        return replace(Line(self.shop.counter, "m"), **changes)


def a_house(*said: Said, **shop: Any) -> House:
    return House(Shop(Model(*said), **shop))


def asked(house: House, ask: Ask = ASK, **line: Any) -> Awaitable[Reply]:
    return house.panel(house.line(**line)).ask(ask)


def failing(fault: Fault, message: str = "it failed") -> ProviderError:
    return ProviderError(fault, message)


def wishing(number: int = 1) -> Completion:
    """A model that wants to look something up first."""
    calls = tuple(ToolCall(f"c{number}.{index}", "read_file", f'{{"path": "{number}.{index}"}}') for index in range(2))
    return Completion(Stop.TOOLS, tokens=Tokens(input=100, output=10), tool_calls=calls, opaque=f"turn {number}")
