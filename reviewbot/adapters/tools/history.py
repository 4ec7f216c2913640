"""A long history of tool use made short for the next request. Whoever keeps the record keeps the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewbot.domain.tokens import BYTES_PER_TOKEN
from reviewbot.ports import Exchange, ToolCall, ToolResult

LONGEST_BEGINNING = 100
LONGEST_ARGUMENTS = 200
SHORTENED_TO = 1 / 2
"""Once it is too long, a history is brought down to this share, so that its beginning then stays as it is for a few steps and
a provider's cache serves it."""


def condensed(exchanges: Sequence[Exchange], most_tokens: int) -> tuple[Exchange, ...]:
    """``exchanges`` in at most ``most_tokens``, as far as that can be: results become one line each, the oldest first; the
    newest exchange stays whole. What was said of the first exchanges does not depend on the later ones."""
    kept: list[Exchange] = []
    first_whole = total = 0
    for exchange in exchanges:
        kept.append(exchange)
        total += _tokens(exchange)
        if total > most_tokens:
            while first_whole < len(kept) - 1 and total > most_tokens * SHORTENED_TO:
                total -= _tokens(kept[first_whole])
                kept[first_whole] = _shortened(kept[first_whole])
                total += _tokens(kept[first_whole])
                first_whole += 1
    return tuple(kept)


def _tokens(exchange: Exchange) -> int:
    texts = [result.text for result in exchange.results]
    texts += [exchange.opaque] if exchange.opaque else [call.name + call.arguments for call in exchange.calls]
    return sum(int(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) + 1 for text in texts)


def _shortened(exchange: Exchange) -> Exchange:
    calls = {call.id: call for call in exchange.calls}
    return replace(exchange, results=tuple(_summary(result, calls.get(result.call_id)) for result in exchange.results))


def _summary(result: ToolResult, call: ToolCall | None) -> ToolResult:
    name = f"{call.name} {call.arguments[:LONGEST_ARGUMENTS]}" if call else "a tool"
    first = result.text.split("\n", 1)[0][:LONGEST_BEGINNING]
    size = f"{result.text.count(chr(10)) + 1} lines, {len(result.text)} characters"
    line = f"[shortened to save room; call again to see it] {name} gave {size}, beginning: {first}"
    return result if len(line) >= len(result.text) else replace(result, text=line)
