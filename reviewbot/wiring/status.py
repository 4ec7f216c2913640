"""Which models could review here: configured, reachable, and how fast where they are local."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from reviewbot.adapters.panel.vendors import open_provider
from reviewbot.config import Configuration
from reviewbot.config.models import ModelSpec
from reviewbot.config.seats import Seating
from reviewbot.errors import ConfigError
from reviewbot.ports import ModelCall, Profile, ProviderError
from reviewbot.wiring import books, offers
from reviewbot.wiring.order import Order, SystemClock
from reviewbot.wiring.scene import configured_here

REACH_SECONDS = 10.0
MEASURE_SECONDS = 300.0
MEASURED_TEXT = "def add(a, b):\n    return a + b\n\n" * 60
"""Some 900 tokens: enough that reading them tells of speed and not of overhead."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """A model that is configured or could be. ``reachable`` is ``None`` where it was not asked."""

    provider: str
    model: str
    seats: tuple[str, ...]
    configured: bool
    reachable: bool | None
    local: bool
    detail: str = ""


def models(order: Order) -> tuple[ModelStatus, ...]:
    """Every provider that has a key or an address here, and every model that sits; each provider is asked for its models."""
    configuration = configured_here(order)
    seating = offers.seated(order, configuration)
    return asyncio.run(_statuses(order, configuration, seating))


async def _statuses(order: Order, configuration: Configuration, seating: Seating) -> tuple[ModelStatus, ...]:
    seats: dict[tuple[str, str], list[str]] = {}
    for plan in (*seating.seats, *([seating.moderator] if seating.moderator else [])):
        seats.setdefault((plan.spec.provider, plan.spec.model), []).append(plan.name)
    for offer in offers.offered(order, configuration):
        if offer.is_invited and all(provider != offer.provider for provider, _ in seats):
            seats[offer.provider, offer.default_model] = []
    providers = tuple(dict.fromkeys(provider for provider, _ in seats))
    told = await asyncio.gather(*(_asked(name, order, configuration) for name in providers))
    answers = dict(zip(providers, told, strict=True))
    return tuple(
        _status(provider, model, names, order=order, configuration=configuration, answer=answers[provider])
        for (provider, model), names in seats.items()
    )


def _status(
    provider: str,
    model: str,
    names: list[str],
    *,
    order: Order,
    configuration: Configuration,
    answer: tuple[str, ...] | str | None,
) -> ModelStatus:
    vendor = offers.vendor_of(provider, configuration)
    local = offers.is_local(vendor, offers.account(provider, configuration, order.environment), configuration)
    if answer is None:
        return ModelStatus(provider, model, tuple(names), configured=False, reachable=None, local=local)
    if isinstance(answer, str):
        return ModelStatus(provider, model, tuple(names), configured=True, reachable=False, local=local, detail=answer)
    known = not answer or any(name == model or name.endswith(f"/{model}") for name in answer)
    detail = "" if known else f"it answers, but its list has no {model}"
    return ModelStatus(provider, model, tuple(names), configured=True, reachable=True, local=local, detail=detail)


async def _asked(name: str, order: Order, configuration: Configuration) -> tuple[str, ...] | str | None:
    """The models that a provider lists, what went wrong, or ``None`` where there is no key."""
    offer = next(offer for offer in offers.offered(order, configuration) if offer.provider == name)
    if not offer.is_ready:
        return None
    try:
        provider = open_provider(offers.vendor_of(name, configuration), offers.account(name, configuration, order.environment))
    except ConfigError as exc:
        return str(exc)
    try:
        async with asyncio.timeout(REACH_SECONDS):
            return await provider.models()
    except TimeoutError:
        return f"no answer within {REACH_SECONDS:.0f} s"
    except ProviderError as exc:
        return exc.message
    finally:
        await provider.close()


def profiles(order: Order, measure: bool) -> tuple[Profile, ...]:
    """How fast local models are; with ``measure`` each that sits is asked once first. Raises LedgerError."""
    configuration = configured_here(order)
    with books.opened(order, configuration) as store:
        if measure:
            seating = offers.seated(order, configuration)
            local = {plan.spec for plan in seating.seats if offers.vendor_of(plan.spec.provider, configuration).local}
            if not local:
                raise ConfigError("no local model sits on the panel", hint="seat one: --model ollama:NAME")
            for spec in sorted(local, key=str):
                known = store.profiles.profile(
                    offers.account(spec.provider, configuration, order.environment).base_url, spec.model
                )
                store.profiles.learn(asyncio.run(_measured(spec, order, configuration, known=known)))
        return store.profiles.all()


async def _measured(spec: ModelSpec, order: Order, configuration: Configuration, *, known: Profile | None) -> Profile:
    """One question of known length. Raises ConfigError where it is not answered."""
    from reviewbot.adapters.panel.pace import LocalPace
    from reviewbot.adapters.till import prices

    account = offers.account(spec.provider, configuration, order.environment)
    pace, clock = LocalPace(account.base_url, spec.model, known=known), SystemClock()
    schema = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}
    question = "\nSay in two sentences what this code does, as JSON with the key summary."
    call = ModelCall(spec.model, "", MEASURED_TEXT, question, schema, "summary", 200, timeout_seconds=MEASURE_SECONDS)
    provider = open_provider(offers.vendor_of(spec.provider, configuration), account)
    predicted = pace.predict(prices.tokens_in(MEASURED_TEXT + question), 100, loaded=False)
    began = clock.seconds()
    try:
        made = await provider.complete(call, lambda: None)
    except ProviderError as exc:
        raise ConfigError(f"{spec} could not be measured: {exc.message}", hint="see 'reviewbot models list'") from exc
    finally:
        await provider.close()
    if made.timings is not None:
        pace.learn(made.timings, predicted=predicted, real=clock.seconds() - began, loaded=False)
    return pace.profile()
