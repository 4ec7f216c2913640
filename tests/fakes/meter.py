"""Counting tokens as vendors bill them: four bytes each, and a cache of prompt prefixes."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fakes.seen import Answer, Asked, Seen, Tokens

BYTES_PER_TOKEN = 4
LEAST_CACHED = 1_024
CACHE_STEP = 128


def common_prefix(one: bytes, other: bytes) -> int:
    """How many bytes both share from the first on; by halving, since prompts are long."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def counted(asked: Asked, answer: Answer, earlier: Sequence[Seen]) -> Tokens:
    """The default usage: what ``earlier`` calls of the same model put into the cache is read from there."""
    said = len(answer.text) + len(answer.thinking) + sum(len(str(wish.arguments)) + len(wish.name) for wish in answer.tool_calls)
    total, output = len(asked.cacheable) // BYTES_PER_TOKEN, max(1, said // BYTES_PER_TOKEN)
    if asked.breakpoints is None:
        shared = max((common_prefix(asked.cacheable, call.asked.cacheable) for call in earlier), default=0) // BYTES_PER_TOKEN
        cached = shared // CACHE_STEP * CACHE_STEP if shared >= LEAST_CACHED else 0
        return Tokens(total, min(cached, total), output)
    kept = [end for end in asked.breakpoints if end // BYTES_PER_TOKEN >= LEAST_CACHED]
    known = {call.asked.cacheable[:end] for call in earlier for end in call.asked.breakpoints or ()}
    read = max((end for end in kept if asked.cacheable[:end] in known), default=0) // BYTES_PER_TOKEN
    return Tokens(total, read, output, max(kept, default=0) // BYTES_PER_TOKEN - read)


def share_of_shared_bytes(calls: Sequence[Seen]) -> float:
    """The share of all prompt bytes that repeat the beginning of an earlier call of the same protocol and model."""
    total = shared = 0
    for index, call in enumerate(calls):
        alike = [one for one in calls[:index] if (one.protocol, one.model) == (call.protocol, call.model)]
        total += len(call.asked.cacheable)
        shared += max((common_prefix(call.asked.cacheable, one.asked.cacheable) for one in alike), default=0)
    return shared / total if total else 0.0
