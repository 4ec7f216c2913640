"""The panel of language models: every seat a model of some provider, its questions written by a scribe and paid at the till.

One ask is one or several calls: a model may look things up first, a prompt that was too long is shortened once, and where a
provider is down the seat's fallback answers in its place. What fails is a reply that says so, never an exception.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from reviewbot.adapters.panel.local import Allowance, LocalHost
from reviewbot.adapters.panel.looking import Looks
from reviewbot.adapters.till import prices, record
from reviewbot.adapters.till.till import Capped, Counter, Served, Till
from reviewbot.adapters.tools.code import Workshop
from reviewbot.adapters.tools.history import condensed
from reviewbot.domain.debate import Seat, Table
from reviewbot.domain.money import Usage
from reviewbot.ports import (
    Ask,
    Completion,
    Drafting,
    Exchange,
    Fault,
    FirstPass,
    ModelCall,
    Observer,
    Passage,
    Progress,
    Prompt,
    ProviderError,
    Refinement,
    Reply,
    ReplyStatus,
    Scribe,
    Session,
    Stop,
    Toolbox,
    ToolUse,
    Wanted,
)

MOST_OUTPUT_TOKENS = 8_000
"""Of one answer, thinking included, where nobody configured it [design]."""

LATER_OUTPUT = 0.5
"""Of that, for answers about one claim: every call sets its longest answer aside, and there are many of them [design]."""

HISTORY_TOKENS = 12_000
"""Results of tools beyond this are summarised, oldest first [design]."""

ENVELOPE_WORDS = '\nPut that object into an envelope: {"answer": …}\n'
"""For those whose schema is the envelope."""

SHRUNK_TO = 0.6
"""Of the passages, when a provider says that a prompt is too long."""

MARGIN = 1.2
"""On estimated tokens, where a window is a hard border."""

_LONG = (FirstPass, Drafting, Refinement)
"""Questions whose answers may be as long as a model's may be at all: about the whole change, or with code in them."""

_STATUS = {Stop.REFUSED: ReplyStatus.REFUSED, Stop.LENGTH: ReplyStatus.TRUNCATED}
_GIVES_WAY = frozenset(
    {
        Fault.OVERLOADED,
        Fault.RATE_LIMITED,
        Fault.SERVER,
        Fault.NETWORK,
        Fault.UNREADABLE,
        Fault.SPENT,
        Fault.DENIED,
        Fault.NO_MODEL,
    }
)
"""Faults after which a fallback is asked: its provider, not this question, was the trouble."""


@dataclass(frozen=True, slots=True)
class Line:
    """A model that can be asked: by which counter, under which name, within which limits.

    ``tools`` are offered with every call or with none, because they stand before the prefix that is cached; ``steps`` is how
    often they may be used in one ask; where code is to be written, the ``workshop`` adds a tool to them. ``envelope`` is one
    schema for every kind of question, for vendors whose caches compare schemas too.
    """

    counter: Counter
    model: str
    max_output_tokens: int = MOST_OUTPUT_TOKENS
    context_window: int | None = None
    host: LocalHost | None = None
    tools: Toolbox | None = None
    steps: int = 0
    workshop: Workshop | None = None
    envelope: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """``provider:model``."""
        return f"{self.counter.name}:{self.model}"


@dataclass(frozen=True, slots=True)
class Sitting:
    """Who answers for a seat, best first. ``vacant`` says why nobody does."""

    seat: Seat
    lines: tuple[Line, ...]
    vacant: str = ""


@dataclass(frozen=True, slots=True)
class Desk:
    """What every conversation needs: who writes, where calls are paid, what is remembered; ``effort`` is ``low``, ``medium`` or
    ``high``; ``watcher`` wants to see every prompt."""

    scribe: Scribe
    till: Till
    session: Session
    effort: str = "medium"
    watcher: Observer | None = None
    pen: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)


class ModelPanel:
    """See the module."""

    def __init__(self, sittings: Iterable[Sitting], moderator: Sitting | None, desk: Desk) -> None:
        seated = tuple(sittings)
        judge = moderator if moderator and not moderator.vacant else None
        self.table = Table(tuple(sitting.seat for sitting in seated), judge.seat if judge else None)
        everyone = (*seated, judge) if judge else seated
        self._sittings: Mapping[str, Sitting] = {sitting.seat.name: sitting for sitting in everyone}
        self._desk = desk

    async def ask(self, ask: Ask) -> Reply:
        """One answer, by the seat's own model or a fallback."""
        sitting = self._sittings[ask.seat.name]
        if sitting.vacant:
            return Reply(ReplyStatus.FAILED, reason=sitting.vacant)
        reply = Reply(ReplyStatus.FAILED, reason="nobody sits there")
        usage = Usage()
        uses: tuple[ToolUse, ...] = ()
        for line in sitting.lines:
            reply, gives_way = await _Conversation(ask, line, self._desk).held()
            usage, uses = usage + reply.usage, (*uses, *reply.tools)
            reply = replace(reply, usage=usage, tools=uses, model=line.name)
            if not gives_way:
                break
        return reply

    async def close(self) -> None:
        """Close every connection that was opened, and the till."""
        counters = {id(line.counter): line.counter for sitting in self._sittings.values() for line in sitting.lines}
        await asyncio.gather(*(counter.opened.close() for counter in counters.values()))
        self._desk.till.close()


class _Conversation:
    """One ask put to one line."""

    def __init__(self, ask: Ask, line: Line, desk: Desk) -> None:
        self._ask = ask
        self._line = line
        self._desk = desk
        self._usage = Usage()
        self._uses: list[ToolUse] = []
        self._looks = self._begun()

    async def held(self) -> tuple[Reply, bool]:
        """The reply, and whether a fallback should be asked instead."""
        host = self._line.host
        async with host.turn if host is not None else nullcontext():
            try:
                return await self._held()
            except Capped as capped:
                # A replay knows no failures: what this line did not answer, the fallback may have.
                return self._reply(ReplyStatus.CAPPED, reason=capped.reason), self._desk.till.offline

    async def _held(self) -> tuple[Reply, bool]:
        allowance = self._allowance()
        async with self._desk.pen:
            prompt = self._written(self._ask.seat.room, allowance)
            # One prompt at a time, and between two whatever can go on: the first is asked before the last is written.
            await asyncio.sleep(0)
        if _is_blank(prompt, self._ask):
            return self._reply(ReplyStatus.FAILED, reason=f"{self._line.name} has no room or time for any of it"), True
        served = await self._answered(prompt, allowance)
        if served.error is not None and served.error.fault is Fault.TOO_LONG:
            prompt = self._written(int(_material(prompt) * SHRUNK_TO), allowance)
            if not _is_blank(prompt, self._ask):
                served = await self._answered(prompt, allowance)
        if served.completion is not None:
            return self._read(served.completion, prompt), False
        assert served.error is not None
        status = ReplyStatus.TIMEOUT if served.error.fault is Fault.TIMEOUT else ReplyStatus.FAILED
        return self._reply(status, reason=served.error.message), served.error.fault in _GIVES_WAY

    def _allowance(self) -> Allowance | None:
        """What a local model may read and write for this ask. Kept, so that who resumes the debate asks the same."""
        ask, line, session = self._ask, self._line, self._desk.session
        if line.host is None:
            return None
        name = record.digest(
            "room", line.name, ask.seat.name, repr(type(ask.question)), ask.subject, f"{ask.round} {ask.attempt}"
        )
        kept = session.recall(f"allowance {name[:32]}")
        if kept is not None:
            return Allowance(int(kept["prompt_tokens"]), int(kept["output_tokens"]))
        made = line.host.allowance(line.model, ask.timeout_seconds)
        session.keep(f"allowance {name[:32]}", asdict(made))
        return made

    def _written(self, room: int | None, allowance: Allowance | None) -> Prompt:
        """The prompt, as much of it as fits the model's window and (for a local model) its pace."""
        whole = self._whole(allowance)
        prompt = self._desk.scribe.write(self._ask, room)
        for _ in range(4):
            excess = prices.tokens_in(prompt.system + prompt.prefix + prompt.suffix) - (whole or 0)
            if whole is None or excess <= 0:
                break
            room = max(min(room or _material(prompt), _material(prompt)) - excess - 50, 0)
            prompt = self._desk.scribe.write(self._ask, room)
        return prompt

    def _whole(self, allowance: Allowance | None) -> int | None:
        """Tokens that the whole prompt may take."""
        line = self._line
        window = None if line.context_window is None else int((line.context_window - line.max_output_tokens) / MARGIN)
        limits = [limit for limit in (window, allowance.prompt_tokens if allowance else None) if limit is not None]
        return max(min(limits), 1) if limits else None

    async def _answered(self, prompt: Prompt, allowance: Allowance | None) -> Served:
        """The model's last word, after it looked up what it wanted to know. Raises Capped."""
        steps: tuple[Exchange, ...] = ()
        self._uses += self._looks.uses
        looks = self._looks = self._begun()
        while True:
            served = await self._called(prompt, allowance, steps)
            self._usage += served.usage
            made = served.completion
            if made is None or made.stop is not Stop.TOOLS:
                return served
            if excess := looks.excess(made, len(steps)):
                return Served(None, ProviderError(Fault.INVALID, excess), Usage(), 0.0)
            steps = (*steps, await looks.taken(made, len(steps)))

    def _begun(self) -> Looks:
        line, session = self._line, self._desk.session
        return Looks(self._ask, line.name, tools=line.tools, steps=line.steps, workshop=line.workshop, session=session)

    async def _called(self, prompt: Prompt, allowance: Allowance | None, steps: tuple[Exchange, ...]) -> Served:
        ask, line, till = self._ask, self._line, self._desk.till
        most = line.max_output_tokens if isinstance(ask.question, _LONG) else int(line.max_output_tokens * LATER_OUTPUT)
        call = ModelCall(
            model=line.model,
            system=prompt.system,
            prefix=prompt.prefix,
            suffix=prompt.suffix + (ENVELOPE_WORDS if line.envelope else ""),
            schema=line.envelope or prompt.schema,
            schema_name="envelope" if line.envelope else prompt.schema_name,
            max_output_tokens=min(most, allowance.output_tokens) if allowance else most,
            effort=self._desk.effort,
            timeout_seconds=ask.timeout_seconds,
            tools=self._looks.specs,
            exchanges=condensed(steps, HISTORY_TOKENS) if steps else (),
            context_window=line.context_window,
            cache_key=record.digest(line.name, prompt.system, prompt.prefix),
        )
        self._show(call)
        serving = till.serve(line.counter, call, _wanted(ask, line.name, call, step=len(steps)))
        return await (serving if line.host is None else line.host.watched(call, serving))

    def _show(self, call: ModelCall) -> None:
        """For who wants to see what is asked, word for word."""
        if self._desk.watcher is not None:
            fields = {"event": "prompted", "seat": self._ask.seat.name, "model": self._line.name}
            prompt = "\n".join((call.system, call.prefix, call.suffix))
            text = f"{self._ask.seat.name}: what {self._line.name} is asked"
            self._desk.watcher.saw(Progress("debate", text, {**fields, "prompt": prompt}))

    def _read(self, made: Completion, prompt: Prompt) -> Reply:
        """A completion as a reply: only one that ended by itself counts as an answer."""
        if made.stop is Stop.END:
            return replace(self._reply(ReplyStatus.OK), text=made.text, unread=prompt.unread)
        status = _STATUS.get(made.stop, ReplyStatus.FAILED)
        return self._reply(status, reason=made.reason or f"it stopped with {made.stop.value}")

    def _reply(self, status: ReplyStatus, reason: str = "") -> Reply:
        looks = self._looks
        return Reply(status, reason=reason, usage=self._usage, tools=(*self._uses, *looks.uses), written=looks.written)


def _wanted(ask: Ask, model: str, call: ModelCall, *, step: int) -> Wanted:
    return Wanted(
        key=record.key(call, model=model, seat=ask.seat.name, attempt=ask.attempt),
        model=model,
        seat=ask.seat.name,
        phase=ask.phase,
        subject=ask.subject,
        round=ask.round,
        attempt=ask.attempt,
        step=step,
        system=call.system,
        prefix=call.prefix,
        suffix=call.suffix,
        exchanges=record.exchanges(call.exchanges),
        parameters=record.parameters(call),
    )


def _material(prompt: Prompt) -> int:
    """What the shown material takes: an upper estimate of its passages."""
    return prices.tokens_in(prompt.prefix)


def _is_blank(prompt: Prompt, ask: Ask) -> bool:
    """Nothing of the change is shown, though there is something to show. Of a deleted file only removed lines are."""
    passages = ask.question.dossier.passages
    return bool(prompt.unread) and _rows(prompt.unread) >= _rows(passages)


def _rows(passages: Iterable[Passage]) -> int:
    return sum(len(passage.lines) + len(passage.removed) for passage in passages)
