"""What a model does before it answers: it looks things up, and (asked for code) writes some."""

from __future__ import annotations

import asyncio
import json

from reviewbot.adapters.till import record
from reviewbot.adapters.tools.code import Bench, Workshop
from reviewbot.domain.repair import CodeVersion
from reviewbot.ports import Ask, Completion, Exchange, Session, Toolbox, ToolCall, ToolResult, ToolSpec, ToolUse

MOST_LOOKS = 32
"""Look-ups that one reply may ask for. Each result is up to 24 kB: a reply with room for thousands of wishes would fill memory,
the ledger, and the time of everybody [design]."""

MAKING_STEPS = 16
"""Steps of one ask in which code is written, where others take fewer: to read, write and look again [design]."""

LONGEST_ARGUMENTS = 400
"""Characters of a write's arguments that its record keeps; what was written is kept whole, as a version."""


class Looks:
    """The tools of one ask put to one model, from its first call to its last. Who begins again begins with an empty bench."""

    def __init__(
        self, ask: Ask, model: str, *, tools: Toolbox | None, steps: int, workshop: Workshop | None, session: Session
    ) -> None:
        self._ask = ask
        self._model = model
        self._tools = tools
        self._session = session
        self._bench: Bench | None = None
        if tools is not None and workshop is not None:
            self._bench = workshop.bench(ask.question, ask.seat.name)
        self._steps = max(steps, MAKING_STEPS) if self._bench is not None else steps
        self.uses: list[ToolUse] = []

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What is offered: to every ask the same, and the tool that writes to those that want code."""
        offered = self._tools.specs if self._tools is not None else ()
        return (*offered, self._bench.spec) if self._bench is not None else offered

    @property
    def written(self) -> tuple[CodeVersion, ...]:
        """What was written so far."""
        return self._bench.written if self._bench is not None else ()

    def excess(self, made: Completion, step: int) -> str:
        """Why a reply that wishes for tools is no answer; empty where its wishes may be heard."""
        if step > self._steps or self._tools is None:
            return f"it went on using tools after {self._steps} steps"
        if len(made.tool_calls) > MOST_LOOKS:
            return f"it asked for {len(made.tool_calls)} look-ups at once"
        return ""

    async def taken(self, made: Completion, step: int) -> Exchange:
        """What the tools gave, logged."""
        results = []
        for index, call in enumerate(made.tool_calls):
            result = await self._used(call, f"{step}.{index}") if step < self._steps else _no_more(call)
            self.uses.append(ToolUse(call.name, self._told(call), result.text.split("\n", 1)[0]))
            results.append(result)
        return Exchange(made.tool_calls, tuple(results), made.opaque)

    async def _used(self, call: ToolCall, place: str) -> ToolResult:
        """What a tool gives, in a thread of its own. What was looked up is kept, so that who resumes the debate asks the same: a
        command that is run again, or a database that went on, says something else. What is written is written again, on the
        same head to the same end: a memory would hold the words and not the files."""
        if self._is_writing(call):
            assert self._bench is not None
            return await asyncio.to_thread(self._bench.use, call)
        ask, tools = self._ask, self._tools
        assert tools is not None
        course = (self._model, ask.seat.name, type(ask.question).__name__, ask.subject, f"{ask.round} {ask.attempt} {place}")
        name = f"look-up {record.digest(*course, call.name, call.arguments)[:32]}"
        kept = self._session.recall(name)
        if kept is not None:
            return ToolResult(call.id, str(kept["text"]), is_error=bool(kept["is_error"]))
        result = await asyncio.to_thread(tools.use, call)
        self._session.keep(name, {"text": result.text, "is_error": result.is_error})
        return result

    def _is_writing(self, call: ToolCall) -> bool:
        return self._bench is not None and call.name == self._bench.spec.name

    def _told(self, call: ToolCall) -> str:
        """A call's arguments for the record."""
        missing = len(call.arguments) - LONGEST_ARGUMENTS
        if missing <= 0 or not self._is_writing(call):
            return call.arguments
        return f"{call.arguments[:LONGEST_ARGUMENTS]}⟨{missing} more characters⟩"


def _no_more(call: ToolCall) -> ToolResult:
    message = "no more look-ups in this question: answer now with what is known"
    refusal = {"error": {"kind": "refused", "message": message, "expected": None}}
    return ToolResult(call.id, json.dumps(refusal), is_error=True)
