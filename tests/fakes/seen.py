"""What the fake servers saw and what they answer: plain values, in nobody's dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

TAIL_CHARACTERS = 8_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the fake says it counted. ``input`` is everything read; ``cached`` and ``cache_written`` are parts of it."""

    input: int = 0
    cached: int = 0
    output: int = 0
    cache_written: int = 0


@dataclass(frozen=True, slots=True)
class Wish:
    """A tool that the model wishes to use. ``arguments`` is a mapping, or text that is sent as it is (broken JSON)."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """An exchange that came back in a request: wishes, and results as ``(call id, text, is error)``."""

    calls: tuple[Wish, ...]
    results: tuple[tuple[str, str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model says. ``README.md`` explains every field."""

    text: str = ""
    tool_calls: tuple[Wish, ...] = ()
    stop: str = ""
    usage: Tokens | None = None
    seconds: float | None = None
    thinking: str = ""
    detail: str = ""
    shape: str = ""
    before_reply: Callable[[], object] | None = None

    @property
    def why(self) -> str:
        """Why the model stopped: what the script says, else ``tools`` with wishes and ``end`` without."""
        return self.stop or ("tools" if self.tool_calls else "end")


@dataclass(frozen=True, slots=True)
class Speed:
    """A local machine's pace: tokens a second of the prompt and of the output, seconds to load a model. ``scale`` stretches only
    what the wall clock sees: with 0.1 an answer takes a tenth of the seconds that its counters say."""

    prompt: float = 1_000_000.0
    output: float = 1_000_000.0
    load: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """What one answer of a local server took, in seconds. ``counts`` is how its version counts prompt tokens: ``cached`` (all, and
    the cached ones beside them), ``whole`` (all) or ``computed`` (the others only; left out where there are none)."""

    load: float
    prompt: float
    output: float
    counts: str = "cached"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as a wire reads it. ``cacheable`` is everything that a cache would see, in order; ``breakpoints`` are the
    offsets in it that the client marked (``None``: the vendor caches by itself)."""

    protocol: str
    model: str
    system: str = ""
    parts: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None
    tools: Mapping[str, Any] = field(default_factory=dict)
    exchanges: tuple[Step, ...] = ()
    streamed: bool = False
    max_output: int | None = None
    context: int | None = None
    forced_tool: str = ""
    cacheable: bytes = b""
    breakpoints: tuple[int, ...] | None = None


@dataclass(slots=True)
class Seen:
    """One call in the journal. What is below ``in_flight`` is filled in while it is under way."""

    number: int
    asked: Asked
    headers: Mapping[str, str]
    path: str
    body: Mapping[str, Any]
    raw: bytes
    began: float
    in_flight: int
    keys: tuple[tuple[str, str], ...] = ()
    status: int = 0
    reply_bytes: int = 0
    usage: Tokens = Tokens()
    outcome: str = ""
    replied: float | None = None
    ended: float | None = None

    @property
    def protocol(self) -> str:
        """The dialect."""
        return self.asked.protocol

    @property
    def model(self) -> str:
        """Which model was asked."""
        return self.asked.model

    @property
    def system(self) -> str:
        """The system text."""
        return self.asked.system

    @property
    def parts(self) -> tuple[str, ...]:
        """The blocks of user text, in order."""
        return self.asked.parts

    @property
    def prompt(self) -> str:
        """All user text."""
        return "".join(self.asked.parts)

    @property
    def suffix(self) -> str:
        """The question's own part: the last of several blocks, or the end of the only one."""
        return self.parts[-1] if len(self.parts) > 1 else self.prompt[-TAIL_CHARACTERS:]

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON Schema of the wanted answer, as it stood on the wire."""
        return self.asked.schema

    @property
    def tools(self) -> Mapping[str, Any]:
        """The schemas of the tools' parameters, by name."""
        return self.asked.tools

    @property
    def exchanges(self) -> tuple[Step, ...]:
        """Tools used so far."""
        return self.asked.exchanges

    @property
    def streamed(self) -> bool:
        """A stream was asked for."""
        return self.asked.streamed

    @property
    def max_output(self) -> int | None:
        """The most output tokens allowed."""
        return self.asked.max_output

    @property
    def seconds(self) -> float:
        """How long it took; raises while it is under way."""
        if self.ended is None:
            raise RuntimeError(f"call {self.number} is under way")
        return self.ended - self.began

    def document(self) -> dict[str, Any]:
        """The call as JSON."""
        names = (
            "number",
            "protocol",
            "model",
            "system",
            "prompt",
            "streamed",
            "began",
            "ended",
            "in_flight",
            "status",
            "outcome",
        )
        plain = {name: getattr(self, name) for name in names}
        return {**plain, "keys": [list(key) for key in self.keys], "cached": self.usage.cached, "input": self.usage.input}
