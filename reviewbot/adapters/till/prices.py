"""What a call costs. Prices are US dollars per million tokens; ``prices.json`` says where each was read and of what day it is.

Some vendors ask more for every token of a long prompt (``above``). A model that is not in the table is charged the dearest
price that is, and so are its worst cases: too dear a guess stops a review early, too cheap a one overruns its cap.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reviewbot.domain.tokens import estimate
from reviewbot.ports import Clock, Tokens

MILLION = 1_000_000

WORST_FACTOR = 1.5
"""Newer tokenizers make up to a third more tokens of the same text than those the estimate was measured with."""

MOST_UNSEEN_TOKENS = 100_000
"""What a provider may count beyond a token a byte of the prompt: its own words, and those of tools and schemas."""

MOST_WRITTEN_TOKENS = 1_000_000
"""No model writes more in one answer, its unseen thoughts included."""

BORROWED_FACTOR = 1.1
"""On a price that another seller of the same model asks: some of Bedrock's endpoints are dearer."""

DATED = re.compile(
    r"(?:[-@](?:preview-)?(?:\d{3,4}|\d{8}|\d{2}-\d{2}|\d{2}-\d{4}|\d{4}-\d{2}-\d{2}|latest|preview))?(?:-v\d+(?::\d+)?)?"
)
"""What may follow a model's name without making another model of it: a date, a snapshot's number, a version of Bedrock's."""

MAKERS = {"google": "gemini"}
"""Names of makers in ``maker/model``, where they differ from the provider's."""

BEDROCK_PLACE = re.compile(r"(?:.*/)?(?:(?:us|us-gov|eu|apac|jp|au|ca|global)\.)?")
"""What Bedrock puts before a model's name: the address of an inference profile, a part of the world."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens of ``model`` (``provider:model``). ``estimated``: not published for this very model.

    ``above`` holds instead for the whole of a call whose prompt has more than ``above_tokens`` tokens.
    """

    model: str
    input: float
    cached_input: float
    cache_write: float
    output: float
    date: str = ""
    source: str = ""
    estimated: bool = False
    above_tokens: int | None = None
    above: Price | None = None

    def at(self, prompt_tokens: int) -> Price:
        """The price of a call with a prompt of this length."""
        if self.above is None or self.above_tokens is None or prompt_tokens <= self.above_tokens:
            return self
        return self.above


def read_price(record: Mapping[str, Any]) -> Price:
    """A record of ``prices.json`` or of the configuration. Where it has no ``cached_input`` or ``cache_write``, these cost
    what other input costs."""
    above = record.get("above")
    high = None if above is None else read_price({**record, **above, "above": None})
    return Price(
        model=record["model"],
        input=float(record["input"]),
        cached_input=float(record.get("cached_input", record["input"])),
        cache_write=float(record.get("cache_write", record["input"])),
        output=float(record["output"]),
        date=record.get("date", ""),
        source=record.get("source", ""),
        above_tokens=None if above is None else int(above["tokens"]),
        above=high,
    )


def published() -> tuple[Price, ...]:
    """The prices that come with the program."""
    text = Path(__file__).with_name("prices.json").read_text(encoding="utf-8")
    return tuple(read_price(record) for record in json.loads(text)["prices"])


def free(model: str) -> Price:
    """What a model on a machine of the user's costs."""
    return Price(model, 0.0, 0.0, 0.0, 0.0, source="served locally")


class PriceTable:
    """Prices by name. ``overrides`` are the user's and win."""

    def __init__(self, prices: Iterable[Price], *, overrides: Iterable[Price] = ()) -> None:
        self._tables = tuple({price.model: price for price in table} for table in (tuple(overrides), tuple(prices)))

    def price(self, provider: str, model: str, *, local: bool = False) -> Price:
        """What ``model`` costs at ``provider`` (the vendor's name, or the account's where the user priced that).

        Found by its own name, then by its name without a date. Local models and those of Ollama are free unless the user
        says otherwise. A Claude on Bedrock, and ``maker/model`` at a reseller, costs what its maker asks and some more;
        anything else that is unknown costs as much as the dearest model of its provider, or of all where the provider is
        unknown.
        """
        name = BEDROCK_PLACE.sub("", model, count=1) if provider == "bedrock" else model
        for table in self._tables:
            found = _named(table, f"{provider}:{model}") or _named(table, f"{provider}:{name}")
            if found is not None:
                return found
            if local or provider == "ollama":
                return free(f"{provider}:{model}")
        if provider == "bedrock" and name.startswith("anthropic."):
            borrowed = _named(self._tables[1], "anthropic:" + name.removeprefix("anthropic."))
            if borrowed is not None:
                return _guess(borrowed, f"{provider}:{model}", BORROWED_FACTOR)
        maker, _, resold = model.partition("/")
        sold = _named(self._tables[1], f"{MAKERS.get(maker, maker)}:{resold}") if resold else None
        if sold is not None:
            return _guess(sold, f"{provider}:{model}", BORROWED_FACTOR)
        return self._dearest(provider, model)

    def _dearest(self, provider: str, model: str) -> Price:
        everything = tuple(price for table in self._tables for price in table.values())
        # Bedrock sells models of other vendors, so its own are no measure of the dearest.
        same = () if provider == "bedrock" else tuple(p for p in everything if p.model.startswith(f"{provider}:"))
        dearest = max(same or everything, key=lambda price: (price.output, price.input, price.model))
        return _guess(dearest, f"{provider}:{model}", 1.0)


def tokens_in(text: str) -> int:
    """An estimate that errs upwards for most models; ``worst_case`` adds a margin for the rest."""
    size = len(text.encode("utf-8", "surrogatepass"))
    blanks = text.count(" ") + text.count("\n") + text.count("\t")
    return estimate(size, blanks)


def worst_tokens(prompt_tokens: int, max_output_tokens: int) -> int:
    """The most tokens, read and written, that a call with an estimated prompt may take."""
    return int(prompt_tokens * WORST_FACTOR) + 1 + max_output_tokens


def worst_case(prompt_tokens: int, max_output_tokens: int, price: Price) -> float:
    """The most that one attempt with an estimated prompt may cost, in US dollars: no cache helps, and all is written to it."""
    prompt = int(prompt_tokens * WORST_FACTOR) + 1
    rate = price.at(prompt)
    return (prompt * max(rate.input, rate.cached_input, rate.cache_write) + max_output_tokens * rate.output) / MILLION


def cost(tokens: Tokens, price: Price) -> float:
    """What a call cost in US dollars, by what its provider counted."""
    rate = price.at(tokens.input)
    plain = max(0, tokens.input - tokens.cached - tokens.cache_written)
    parts = (
        plain * rate.input,
        tokens.cached * rate.cached_input,
        tokens.cache_written * rate.cache_write,
        tokens.output * rate.output,
    )
    return sum(parts) / MILLION


def counted(tokens: Tokens, prompt: str, answer: str) -> Tokens:
    """The provider's count, or where it said none, or one that no call of this size can have, from the bytes that went and came
    (``known`` is false then): a server that lies must not empty everybody's budget, nor say what no ledger can store."""
    believable = tokens if _is_believable(tokens, prompt) else Tokens(known=False)
    if believable.known:
        return believable
    return Tokens(
        input=max(believable.input, tokens_in(prompt)),
        cached=0,
        cache_written=0,
        output=max(believable.output, tokens_in(answer)),
        known=False,
    )


def _is_believable(tokens: Tokens, prompt: str) -> bool:
    most = len(prompt.encode("utf-8", "surrogatepass")) + MOST_UNSEEN_TOKENS
    return max(tokens.input, tokens.cached, tokens.cache_written) <= most and tokens.output <= MOST_WRITTEN_TOKENS


class Meter:
    """The bill of a machine that is rented by the hour: it costs while at least one call is under way.

    Each moment is split evenly between the calls under way in it, so that their shares add up to what the machine cost, and
    no call pays more than its own duration. Calls that fail keep the machine busy too and pay their share.
    """

    def __init__(self, usd_per_hour: float, clock: Clock) -> None:
        self._usd_per_second = usd_per_hour / 3600
        self._clock = clock
        self._shares: dict[int, float] = {}
        self._since = clock.seconds()
        self._tickets = 0

    def worst_case(self, seconds: float) -> float:
        """The most that a call of this length pays, in US dollars."""
        return seconds * self._usd_per_second

    def started(self) -> int:
        """A call begins; the number is to be given back to ``ended``."""
        self._pass_time()
        self._tickets += 1
        self._shares[self._tickets] = 0.0
        return self._tickets

    def ended(self, ticket: int) -> float:
        """The call is over, however it ended. What it pays, in US dollars."""
        self._pass_time()
        return self._shares.pop(ticket) * self._usd_per_second

    def _pass_time(self) -> None:
        now = self._clock.seconds()
        if self._shares:
            share = (now - self._since) / len(self._shares)
            self._shares = {ticket: seconds + share for ticket, seconds in self._shares.items()}
        self._since = now


def _named(table: Mapping[str, Price], name: str) -> Price | None:
    exact = table.get(name)
    if exact is not None:
        return exact
    longest_first = sorted(table, key=len, reverse=True)
    return next((table[key] for key in longest_first if name.startswith(key) and DATED.fullmatch(name[len(key) :])), None)


def _guess(price: Price, model: str, factor: float) -> Price:
    made = replace(
        price,
        model=model,
        input=price.input * factor,
        cached_input=price.cached_input * factor,
        cache_write=price.cache_write * factor,
        output=price.output * factor,
        source=f"no published price; charged as {price.model}",
        estimated=True,
    )
    return made if price.above is None else replace(made, above=_guess(price.above, model, factor))
