"""What calls cost, and the cap; on the user's own hardware, the time that they take.

Amounts are whole nano-dollars, so that sums are exact.
"""

import asyncio
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.errors import BudgetExceeded
from reviewbot.journal import Journal, key_of
from reviewbot.llm.provider import ModelRequest, Usage

DOLLAR = 1_000_000_000
# prices.json: US dollars for a million tokens, with the day and the place where they were read.
TABLE = Path(__file__).with_name("prices.json")
# What a vendor may add to a prompt: words of its own about tools and schemas.
UNSEEN_TOKENS = 1_000
# Fewer tokens than one for so many bytes are a wrong count. Source code has 3 to 4 bytes a token.
MOST_BYTES_A_TOKEN = 16
# What may follow a model's name without making another model of it: a date, Bedrock's version.
SNAPSHOT = re.compile(r"(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest|preview))?(?:-v\d+(?::\d+)?)?$")
# What Bedrock puts before the maker of a model: a part of the world.
BEDROCK_PLACE = re.compile(r"^(?:us|us-gov|eu|apac|jp|au|ca|global)\.")
# Resellers of a model, some of Bedrock's endpoints among them, ask up to a tenth more.
RESELLER = 1.1
QUESTION_TOKENS = 1_300  # what a question and its tools have beside the change
ANSWER_TOKENS = 1_500  # what an answer usually has
GROWTH = 1.5


class Rates(Struct, frozen=True, kw_only=True):
    """US dollars for a million tokens. What has no price of its own costs what other input does."""

    input: float
    output: float
    cached_input: float | None = None
    cache_write: float | None = None

    def times(self, factor: float) -> Self:
        prices = {name: getattr(self, name) for name in Rates.__struct_fields__}
        return replace(self, **{name: price and price * factor for name, price in prices.items()})


class LongPrompt(Rates, frozen=True, kw_only=True):
    """Prices of all tokens of a call whose prompt has more than `tokens` tokens."""

    tokens: int


class Price(Rates, frozen=True, kw_only=True):
    above: LongPrompt | None = None
    model: str = ""
    date: str = ""
    source: str = ""

    def cost(self, usage: Usage) -> int:
        rate = self._rate(usage.input_tokens)
        cached, written = usage.cached_input_tokens, usage.cache_write_tokens
        plain = max(0, usage.input_tokens - cached - written)
        return _nano(
            plain * rate.input
            + cached * (rate.input if rate.cached_input is None else rate.cached_input)
            + written * (rate.input if rate.cache_write is None else rate.cache_write)
            + usage.output_tokens * rate.output
        )

    def worst(self, request: ModelRequest) -> int:
        """The most that one call can cost: no tokenizer makes more tokens of a text than bytes."""
        tokens = size_of(request) + UNSEEN_TOKENS
        rate = self._rate(tokens)
        dearest = max(rate.input, rate.cached_input or 0, rate.cache_write or 0)
        return _nano(tokens * dearest + request.max_output_tokens * rate.output)

    def charge(self, request: ModelRequest, usage: Usage | None, text: str) -> int:
        """What to charge for a call: the worst where the vendor's count is missing or wrong."""
        worst = self.worst(request)
        if usage is None:
            return worst
        enough = usage.input_tokens * MOST_BYTES_A_TOKEN >= size_of(request)
        enough &= usage.output_tokens * MOST_BYTES_A_TOKEN >= len(text.encode())
        sane = min(usage.cached_input_tokens, usage.cache_write_tokens, usage.output_tokens) >= 0
        sane &= usage.cached_input_tokens + usage.cache_write_tokens <= usage.input_tokens
        return min(worst, self.cost(usage)) if enough and sane else worst

    def _rate(self, prompt_tokens: int) -> Rates:
        return self.above if self.above and prompt_tokens > self.above.tokens else self


class Prices:
    """Prices by provider and model. The user's own, by "provider:model", win."""

    def __init__(self, own: Mapping[str, Price]) -> None:
        self._own = own
        table = msgspec.json.decode(TABLE.read_bytes(), type=tuple[Price, ...])
        self._table = {price.model: price for price in table}

    def find(self, provider: str, model: str, *, is_local: bool) -> Price | None:
        """None if nobody knows what the model costs."""
        name = f"{provider}:{model}"
        if name in self._own:
            return self._own[name]
        if is_local:
            return Price(input=0, output=0, source="served locally")
        model = BEDROCK_PLACE.sub("", model)
        if found := self._named(f"{provider}:{model}"):
            return found
        maker, _, resold = model.replace("/", ".", 1).partition(".")  # a dot on Bedrock
        maker = {"google": "gemini"}.get(maker, maker)
        if maker == "anthropic":  # OpenRouter writes claude-sonnet-5.5
            resold = resold.replace(".", "-")
        if (found := self._named(f"{maker}:{resold}")) is None:
            return None
        above = found.above and found.above.times(RESELLER)
        return replace(found.times(RESELLER), above=above, model=name)

    def _named(self, name: str) -> Price | None:
        return self._table.get(name) or self._table.get(SNAPSHOT.sub("", name))


class Budget:
    """The cap on what a review spends. What a call may cost is reserved before it is made."""

    def __init__(self, cap_usd: float) -> None:
        self.cap = int(cap_usd * DOLLAR)
        self.spent = 0
        self._reserved = 0
        self._changed = asyncio.Condition()
        self._turn = asyncio.Lock()  # first come, first served

    async def reserve(self, worst: int) -> None:
        """Wait until a call fits under the cap. Raises BudgetExceeded if it cannot any more."""
        async with self._turn, self._changed:
            await self._changed.wait_for(
                lambda: self.spent + self._reserved + worst <= self.cap or not self._reserved
            )
            if self.spent + worst > self.cap:
                raise BudgetExceeded(
                    f"the call may cost {dollars(worst)}, and {dollars(self.left)} are left of the "
                    f"{dollars(self.cap)} of limits.cost_usd",
                    hint="a higher limit allows more; what was answered is not paid again",
                )
            self._reserved += worst

    async def settle(self, worst: int, cost: int) -> None:
        self._reserved -= worst
        self.spent += cost
        async with self._changed:
            self._changed.notify_all()

    @property
    def left(self) -> int:
        return max(0, self.cap - self.spent - self._reserved)


class Pace(Struct, frozen=True, kw_only=True):
    """Tokens that a model reads and writes in a second."""

    read: float
    written: float

    def seconds(self, input_tokens: int) -> float:
        """How long one question about so much of a change takes."""
        return (QUESTION_TOKENS + input_tokens) / self.read + ANSWER_TOKENS / self.written

    def readable(self, seconds: float) -> int:
        """How many tokens of a change can be read and answered in a time."""
        return max(0, int((seconds - self.seconds(0)) * self.read))


def load_pace(journal: Journal, provider: str, model: str) -> Pace | None:
    return journal.get(key_of("pace", provider, model), Pace)


def save_paces(journal: Journal, calls: Iterable[tuple[ModelRequest, Usage]]) -> None:
    """Record the pace of each model whose server measured it.

    The slowest reading counts, and it grows by half at most: Ollama counts all tokens of a prompt,
    and not the time of those that an earlier prompt began with.
    """
    measured = defaultdict[tuple[str, str], list[Usage]](list)
    for request, usage in calls:
        is_whole = usage.input_tokens > usage.cached_input_tokens and usage.output_tokens
        if is_whole and usage.input_seconds and usage.output_seconds:
            measured[request.provider, request.model].append(usage)
    for model, usages in measured.items():
        read = min((u.input_tokens - u.cached_input_tokens) / u.input_seconds for u in usages)
        written = sum(u.output_tokens for u in usages) / sum(u.output_seconds for u in usages)
        if old := load_pace(journal, *model):
            read = min(read, GROWTH * old.read)
        journal.put(key_of("pace", *model), Pace(read=read, written=written))


def size_of(request: ModelRequest) -> int:
    """Bytes of all that a model reads."""
    encoded = msgspec.json.encode((request.schema, request.tools, request.turns))
    return len(request.prefix.encode()) + len(request.question.encode()) + len(encoded)


def dollars(nano: int) -> str:
    """For people: "$0.0123"."""
    return f"${nano / DOLLAR:.4f}"


def _nano(price: float) -> int:
    return math.ceil(price * 1_000)
