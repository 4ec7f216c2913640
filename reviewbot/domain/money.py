"""What a review consumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Usage:
    """Calls, tokens, US dollars and seconds of one panelist or all.

    ``cached_input_tokens`` are part of ``input_tokens``. ``local_tokens`` (input and output) were served by a model on this
    machine or this network. ``seconds`` is the time that answers took, summed over calls. Of ``calls``, ``replayed_calls`` were
    answered by the ledger, and of ``cost_usd`` only ``paid_usd`` was spent in this run. ``estimated_usd`` is the part of
    ``cost_usd`` that rests on an estimate because the provider did not say what it counted.
    """

    calls: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    local_tokens: int = 0
    seconds: float = 0.0
    replayed_calls: int = 0
    paid_usd: float = 0.0
    estimated_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(**{entry.name: getattr(self, entry.name) + getattr(other, entry.name) for entry in fields(self)})

    @property
    def cached_share(self) -> float:
        """The part of all input tokens that a provider's cache served, in [0, 1]."""
        return self.cached_input_tokens / self.input_tokens if self.input_tokens else 0.0

    @property
    def local_share(self) -> float:
        """The part of all tokens that local models served, in [0, 1]."""
        total = self.input_tokens + self.output_tokens
        return self.local_tokens / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Bill:
    """The usage of a whole debate and of each panelist by name."""

    total: Usage = Usage()
    by_panelist: Mapping[str, Usage] = field(default_factory=lambda: MappingProxyType({}))
