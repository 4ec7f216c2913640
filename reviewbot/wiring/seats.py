"""A seating becomes a panel: counters at providers, sittings at the table, a scribe, a till."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import reviewbot
from reviewbot.adapters.panel.local import LocalHost
from reviewbot.adapters.panel.models import MOST_OUTPUT_TOKENS, Desk, Line, ModelPanel, Sitting
from reviewbot.adapters.panel.vendors import Vendor, family, open_provider
from reviewbot.adapters.till import prices
from reviewbot.adapters.till.breaker import Breaker
from reviewbot.adapters.till.budget import Budget
from reviewbot.adapters.till.limits import Gate, Limits, in_flight
from reviewbot.adapters.till.prices import Meter, Price, PriceTable
from reviewbot.adapters.till.retry import Retries, RetryPolicy
from reviewbot.adapters.till.till import Counter, Opened, Till
from reviewbot.adapters.till.warmth import Warmth
from reviewbot.adapters.tools.code import Workshop
from reviewbot.config import Configuration
from reviewbot.config.models import ModelSpec
from reviewbot.config.seats import Seating, SeatPlan
from reviewbot.debate.prompt import JinjaScribe
from reviewbot.debate.schema import ENVELOPE
from reviewbot.domain.debate import Seat
from reviewbot.ports import Account, Calls, Clock, Observer, Pace, Profiles, Session, Toolbox
from reviewbot.wiring import offers
from reviewbot.wiring.order import REPOSITORY_FILES, SystemClock

PREDICTIONS_TOLD = 3
"""Of each local panelist, to whoever deals out the work."""

WINDOW_FOR_PASSAGES = 0.56
"""Of a model's window, beside the answer, the rules, the evidence and what others say."""


@dataclass(frozen=True, slots=True)
class Looking:
    """What panelists may use before they answer, how often, and where they write code when they are asked for some."""

    tools: Toolbox | None
    steps: int
    workshop: Workshop | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the panel needs of the ledger."""

    calls: Calls
    session: Session
    profiles: Profiles


class Hall:
    """Every counter of one run, each opened once."""

    def __init__(self, configuration: Configuration, environ: Mapping[str, str], *, clock: Clock, profiles: Profiles) -> None:
        self._configuration = configuration
        self._environ = environ
        self._clock = clock
        self._profiles = profiles
        self._shared = in_flight()
        records = configuration.records("prices")
        self._prices = PriceTable(prices.published(), overrides=(prices.read_price(record) for record in records))
        self._counters: dict[str, Counter] = {}
        self._hosts: dict[str, LocalHost] = {}

    def line(self, spec: ModelSpec, context_window: int | None, looking: Looking) -> Line:
        """A model that can be asked."""
        counter = self.counter(spec.provider)
        vendor = offers.vendor_of(spec.provider, self._configuration)
        most = self._configuration.value(f"providers.{spec.provider}.max_output_tokens")
        may_look = looking.tools is not None and vendor.takes_tools and not vendor.local and looking.steps > 0
        return Line(
            counter,
            spec.model,
            max_output_tokens=most if isinstance(most, int) else MOST_OUTPUT_TOKENS,
            context_window=context_window,
            host=self._host(spec.provider, vendor),
            tools=looking.tools if may_look else None,
            steps=looking.steps if may_look else 0,
            workshop=looking.workshop if may_look else None,
            envelope=ENVELOPE if vendor.schema_in_cache else None,
        )

    def begin(self) -> None:
        """Open every counter in the background: importing a vendor's library takes as long as a check."""
        for counter in self._counters.values():
            counter.opened.begin()

    def counter(self, name: str) -> Counter:
        """The counter of a provider."""
        if name not in self._counters:
            self._counters[name] = self._opened(name)
        return self._counters[name]

    def _opened(self, name: str) -> Counter:
        vendor = offers.vendor_of(name, self._configuration)
        account = offers.account(name, self._configuration, self._environ)
        local = offers.is_local(vendor, account, self._configuration)
        rent = self._configuration.value(f"providers.{name}.usd_per_hour")
        meter = Meter(float(rent), self._clock) if isinstance(rent, int | float) and rent else None
        return Counter(
            name=name,
            opened=Opened(_opening(vendor, account)),
            gate=Gate(self._limits(name, vendor), clock=self._clock, sleep=asyncio.sleep, shared=self._shared),
            breaker=Breaker(name, clock=self._clock),
            retries=Retries(RetryPolicy(), clock=self._clock, sleep=asyncio.sleep, random=random.random),
            warmth=Warmth() if vendor.warms and not vendor.local else None,
            local=local,
            meter=meter,
            price=self._pricing(name, vendor, local=local, rented=meter is not None),
        )

    def _pricing(self, name: str, vendor: Vendor, *, local: bool, rented: bool) -> Callable[[str], Price]:
        seller = vendor.name if vendor.base_url and vendor.name != name else name
        return lambda model: prices.free(f"{name}:{model}") if rented else self._prices.price(seller, model, local=local)

    def _limits(self, name: str, vendor: Vendor) -> Limits:
        def number(key: str) -> int | None:
            value = self._configuration.value(f"providers.{name}.{key}")
            return value if isinstance(value, int) else None

        concurrency = number("concurrency") or vendor.concurrency
        if self._configuration.origin(f"providers.{name}.concurrency").startswith(REPOSITORY_FILES):
            concurrency = min(concurrency, vendor.concurrency)
        return Limits(concurrency, number("rpm"), number("tpm"))

    def _host(self, name: str, vendor: Vendor) -> LocalHost | None:
        """The pace-keeper of a vendor that runs on the user's hardware and counts its own time."""
        if not vendor.local:
            return None
        if name not in self._hosts:
            account = offers.account(name, self._configuration, self._environ)
            turns = self._limits(name, vendor).concurrency or 1
            self._hosts[name] = LocalHost(account.base_url, self._profiles, turns)
        return self._hosts[name]


def _opening(vendor: Vendor, account: Account) -> Callable[[], reviewbot.ports.Provider]:
    return lambda: open_provider(vendor, account)


@dataclass(frozen=True, slots=True)
class Laid:
    """A table that is laid: its sittings, how fast the local ones are, and how earlier predictions of that fared: (seat,
    predicted seconds, real seconds)."""

    sittings: tuple[Sitting, ...]
    moderator: Sitting | None
    paces: tuple[Pace, ...]
    errors: tuple[tuple[str, float, float], ...] = ()

    @property
    def seats(self) -> tuple[Seat, ...]:
        """Who sits."""
        return tuple(sitting.seat for sitting in self.sittings)


def lay(
    seating: Seating, hall: Hall, *, tools: Toolbox | None, steps: int, seconds: float, workshop: Workshop | None = None
) -> Laid:
    """The table for a seating. ``seconds`` is the time of an answer, by which local models are sized; the ``workshop`` is for
    asks that want code, by those who may use tools."""
    looking = Looking(tools, steps, workshop)
    sittings = tuple(_sitting(plan, hall, looking) for plan in seating.seats)
    judge = seating.moderator
    moderator = _sitting(judge, hall, looking) if judge else None
    paces = tuple(pace for sitting in sittings if (pace := _pace(sitting, seconds)))
    errors = tuple(error for sitting in sittings for error in _errors(sitting))
    return Laid(sittings, moderator, paces, errors)


def enveloped(laid: Laid, envelope: Mapping[str, Any]) -> Laid:
    """The same table, where those who answer in an envelope answer in another one: every kind of answer must fit."""
    sittings = tuple(_enveloped(sitting, envelope) for sitting in laid.sittings)
    return replace(laid, sittings=sittings, moderator=_enveloped(laid.moderator, envelope) if laid.moderator else None)


def _enveloped(sitting: Sitting, envelope: Mapping[str, Any]) -> Sitting:
    return replace(sitting, lines=tuple(replace(line, envelope=envelope) if line.envelope else line for line in sitting.lines))


def _sitting(plan: SeatPlan, hall: Hall, looking: Looking) -> Sitting:
    specs = [plan.spec, *([plan.fallback] if plan.fallback else [])]
    windows = (plan.context_window, None)
    lines = () if plan.vacant else tuple(hall.line(spec, window, looking) for spec, window in zip(specs, windows, strict=False))
    local = bool(lines) and lines[0].host is not None
    room = None
    if plan.context_window is not None:
        room = max(int(plan.context_window * WINDOW_FOR_PASSAGES) - MOST_OUTPUT_TOKENS // 2, 500)
    seat = Seat(plan.name, plan.role, str(plan.spec), family(plan.spec.model), plan.lens, room, local)
    return Sitting(seat, lines, plan.vacant)


def _pace(sitting: Sitting, seconds: float) -> Pace | None:
    line = sitting.lines[0] if sitting.lines else None
    return line.host.told(sitting.seat.name, line.model, seconds) if line and line.host else None


def _errors(sitting: Sitting) -> tuple[tuple[str, float, float], ...]:
    """The last predictions about a local panelist, and what came of them."""
    line = sitting.lines[0] if sitting.lines else None
    if line is None or line.host is None:
        return ()
    last = line.host.pace(line.model).profile().predictions[-PREDICTIONS_TOLD:]
    return tuple((sitting.seat.name, round(predicted, 1), round(real, 1)) for predicted, real in last)


def panel(laid: Laid, remembered: Remembered, configuration: Configuration, *, offline: bool, watcher: Observer) -> ModelPanel:
    """The panel of models, with its budget."""
    clock = SystemClock()
    budget = Budget(
        cost_usd=configuration.get("limits.cost_usd", float),
        tokens=configuration.get("limits.tokens", int),
    )
    effort = configuration.get("debate.effort", str)
    till = Till(remembered.calls, budget, clock, offline=offline)
    desk = Desk(
        scribe(templates_folder()),
        till,
        remembered.session,
        effort,
        watcher if configuration.get("display.show_prompts", bool) else None,
    )
    return ModelPanel(laid.sittings, laid.moderator, desk)


def scribe(folder: Path) -> JinjaScribe:
    """A scribe with the templates of a folder."""
    found = (path for path in sorted(folder.rglob("*")) if path.suffix in (".j2", ".md"))
    return JinjaScribe({path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in found})


def templates_folder() -> Path:
    """The folder ``prompts/``: inside the installed package, or at the top of a source tree."""
    package = Path(reviewbot.__file__).parent
    inside = package / "prompts"
    return inside if inside.is_dir() else package.parent / "prompts"
