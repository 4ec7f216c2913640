"""What a journal of the fake servers tells of a debate. A call is a mapping with the keys of their ``Seen.document``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from reviewbot.adapters.till import prices
from reviewbot.ports import Tokens

Calls = Sequence[Mapping[str, Any]]


def open_seconds(calls: Calls) -> float:
    """Seconds in which at least one call was under way: the union of their intervals."""
    total, until = 0.0, -math.inf
    for began, ended in sorted((call["began"], call["ended"]) for call in calls):
        total += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return total


def waves(calls: Calls) -> int:
    """The longest chain of calls of which each began when the one before had ended: how many answers were waited for in turn."""
    chain, until = 0, -math.inf
    for ended, began in sorted((call["ended"], call["began"]) for call in calls):
        if began >= until:
            chain, until = chain + 1, ended
    return chain


def most_in_flight(calls: Calls) -> int:
    """The most calls that were under way at once, by the server's count at each arrival."""
    return max((call["in_flight"] for call in calls), default=0)


def share_of_bytes(calls: Calls) -> float:
    """The share of all bytes of prompts, in [0, 1], that repeat the beginning of an earlier call of the same model.

    The descriptions of tools stand before the prompts and are all the same; they are left out, which makes the share smaller.
    """
    total = shared = 0
    earlier: dict[tuple[str, str], list[bytes]] = {}
    for call in calls:
        alike = earlier.setdefault((call["protocol"], call["model"]), [])
        text = (call["system"] + call["prompt"]).encode("utf-8", "surrogatepass")
        total += len(text)
        shared += max((_common(text, one) for one in alike), default=0)
        alike.append(text)
    return shared / total if total else 0.0


def first_wait(calls: Calls, events: str) -> float:
    """Seconds of the first question beyond its call: what it waits for before anybody hears it, most of all the SDK's import.

    ``events`` are what ``--log-format json`` printed.
    """
    if not calls:
        return 0.0
    told = [json.loads(line) for line in events.splitlines() if line.startswith("{")]
    asked = next(event for event in told if event["event"] == "asked")
    answered = next(event for event in told if event["event"] == "answered" and event["seat"] == asked["seat"])
    return float(answered["at"] - asked["at"] - (calls[0]["ended"] - calls[0]["began"]))


def dollars(calls: Calls, output_tokens: int, model: str) -> tuple[float, float]:
    """What the calls cost at the published price of ``provider:model``: as the server cached them, and with nothing cached."""
    price = prices.PriceTable(prices.published()).price(*model.split(":", 1))
    if price.estimated:
        raise ValueError(f"no price is published for {model}")
    written = prices.cost(Tokens(output=output_tokens), price)
    cached = sum(prices.cost(Tokens(input=call["input"], cached=call["cached"]), price) for call in calls)
    plain = sum(prices.cost(Tokens(input=call["input"]), price) for call in calls)
    return cached + written, plain + written


def _common(one: bytes, other: bytes) -> int:
    """How many bytes both share from the first on; by halving, since prompts are long."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
