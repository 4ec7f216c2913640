"""One call of one language model, in nobody's dialect: what every provider is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from reviewbot.ports.panel import Ask
from reviewbot.ports.question import Passage


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered question. ``system`` and ``prefix`` are byte-identical for every seat and round of one portion, so that a
    provider's cache serves them; ``suffix`` is this question's own. ``schema`` is the JSON Schema of the answer.

    ``unread`` are passages of the dossier that did not fit.
    """

    system: str
    prefix: str
    suffix: str
    schema: Mapping[str, Any]
    schema_name: str
    unread: tuple[Passage, ...] = ()


class Scribe(Protocol):
    """Who turns a question into words."""

    def write(self, ask: Ask, room: int | None) -> Prompt:
        """The prompt for ``ask``; ``room`` is how many tokens of passages this seat takes now (``None``: all)."""
        ...


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it. ``parameters`` is a JSON Schema whose root is an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to use a tool. ``arguments`` is JSON text exactly as the model gave it: unchecked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave. ``is_error`` for an invalid call, whose text says how to make it valid."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """One step of tool use: what the model wished, and what it got. ``opaque`` is the provider's own record of the model's
    turn as JSON text, which it wants back unchanged in the next call (empty: rebuild it from ``calls``)."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    opaque: str = ""


class Toolbox(Protocol):
    """Read-only tools for panelists."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What there is."""
        ...

    def use(self, call: ToolCall) -> ToolResult:
        """Carry out one call. An invalid one is a result that says so; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request. The prompt is ``system``, then one user turn of ``prefix`` + ``suffix``, then the ``exchanges``.

    ``schema`` is the JSON Schema of the wanted answer, ``effort`` is ``low``, ``medium`` or ``high``; ``context_window`` the
    tokens that the model takes, where somebody said so. ``cache_key`` is equal for calls with one prefix.
    """

    model: str
    system: str
    prefix: str
    suffix: str
    schema: Mapping[str, Any]
    schema_name: str
    max_output_tokens: int = 8_000
    effort: str = "medium"
    timeout_seconds: float = 120.0
    tools: tuple[ToolSpec, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    context_window: int | None = None
    cache_key: str = ""


class Stop(StrEnum):
    """Why a model stopped. Only ``end`` may yield an answer; ``tools`` wants results first."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    REFUSED = "refused"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider counted. ``input`` is everything read, ``cached`` and ``cache_written`` are parts of it; ``output``
    holds thinking too. ``known`` is false where the provider did not say."""

    input: int = 0
    cached: int = 0
    cache_written: int = 0
    output: int = 0
    known: bool = True


@dataclass(frozen=True, slots=True)
class Timings:
    """A local server's own counters, in seconds and tokens. ``prompt_tokens`` are those it really computed."""

    load_seconds: float = 0.0
    prompt_tokens: int = 0
    prompt_seconds: float = 0.0
    output_tokens: int = 0
    output_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered. ``reason`` says in words why it stopped where that was not ``end``; ``opaque`` goes into the next
    Exchange; ``request_id`` is the provider's, for its support."""

    stop: Stop
    text: str = ""
    tokens: Tokens = Tokens()
    tool_calls: tuple[ToolCall, ...] = ()
    opaque: str = ""
    reason: str = ""
    timings: Timings | None = None
    request_id: str = ""


class Fault(StrEnum):
    """Why a call failed, by what should happen next (``faults.md`` L1–L14).

    Tried again: ``overloaded``, ``rate_limited`` (after its ``retry_after``), ``server``, ``network`` (refused, cut, a partial
    body), ``unreadable`` (not what this API answers). Shrunk once: ``too_long``. Not again, and the provider is out for this
    run: ``spent`` (quota, spend limit, billing), ``denied`` (key or permission). Not again with this model: ``no_model``.
    Not again: ``timeout``, ``invalid``.
    """

    OVERLOADED = "overloaded"
    RATE_LIMITED = "rate_limited"
    SERVER = "server"
    NETWORK = "network"
    UNREADABLE = "unreadable"
    TOO_LONG = "too_long"
    SPENT = "spent"
    DENIED = "denied"
    NO_MODEL = "no_model"
    TIMEOUT = "timeout"
    INVALID = "invalid"


class ProviderError(Exception):
    """A call that failed. The message is for people, holds no key, and is at most a line; ``retry_after`` in seconds."""

    def __init__(self, fault: Fault, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Account:
    """Where a provider answers and with which key. ``key`` never shows in a ``repr``."""

    name: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    allow_plain_http: bool = False
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


class Provider(Protocol):
    """A vendor of models: one class, made with an :class:`Account`. Importing it may be slow; making one is not.

    Retries, rate limits, budgets and the ledger are around it, not in it.
    """

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        """One answer. ``begun`` is called once, when the first bytes of the answer arrive. Raises ProviderError; a cancelled
        call closes its connection."""
        ...

    async def models(self) -> tuple[str, ...]:
        """The names of the models that this account reaches. Raises ProviderError."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...
