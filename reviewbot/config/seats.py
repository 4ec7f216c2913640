"""Who sits on the panel: configuration and ``--model`` over what the keys that are here make possible."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.config.configuration import Configuration
from reviewbot.config.deal import Offer, dealt, least_seated
from reviewbot.config.models import ModelChoice, ModelSpec, choice, spec
from reviewbot.config.node import shortened
from reviewbot.errors import ConfigError

STATIC = "static"
"""The panel without language models: ``--panel static``."""

MODELS = "models"
"""The panel of language models as it is configured, and an error where there can be none: ``--panel models``."""

MODERATOR = "moderator"
TRIO = ("critic", "reviewer", "optimizer")
ROLES = (*TRIO, "tester", "formal", "proposer", "security")
"""Roles that have a lens of their own in ``prompts/lens``."""


@dataclass(frozen=True, slots=True)
class SeatPlan:
    """A seat as it is to be filled. ``lens`` is empty for the role's own. ``spec`` names a model always.

    ``vacant`` says why nobody can sit there now, in words (no key); such a seat is lost before it is asked.
    """

    name: str
    role: str
    lens: str
    spec: ModelSpec
    fallback: ModelSpec | None = None
    context_window: int | None = None
    vacant: str = ""


@dataclass(frozen=True, slots=True)
class Seating:
    """Everyone at the table. No ``seats``: the static panel reviews. ``why`` is one line for the reader of the review."""

    seats: tuple[SeatPlan, ...]
    moderator: SeatPlan | None
    why: str
    notices: tuple[str, ...] = ()

    @property
    def is_static(self) -> bool:
        """No language model is asked."""
        return not self.seats


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is said about a seat. ``key``: its block. ``where``: the key or flag that chose the model; ``is_typed``: a flag."""

    name: str
    key: str
    role: str
    lens: str = ""
    spec: ModelSpec | None = None
    where: str = ""
    is_typed: bool = False
    fallback: ModelSpec | None = None
    context_window: int | None = None


def providers_named(configuration: Configuration, models: Iterable[str] = ()) -> tuple[str, ...]:
    """Every provider that configuration or a ``--model`` speaks of, each once, so that there is an offer for it."""
    blocks = ("panel.", "panels.", "moderator.")
    written = [name for name in configuration.settings if name.startswith(blocks) and name.endswith((".model", ".fallback"))]
    specs = [spec(configuration.get(name, str), name) for name in written] + [choice(text).spec for text in models]
    return tuple(dict.fromkeys((*configuration.names("providers"), *(named.provider for named in specs))))


def seating(
    configuration: Configuration, offers: tuple[Offer, ...], *, panel: str | None = None, models: tuple[str, ...] = ()
) -> Seating:
    """Fill the seats. ``offers`` in the order in which seats are dealt; ``panel`` and ``models`` as they were typed.

    What is written wins; a seat without a model is dealt one of the providers that are written for others, so that code
    goes where somebody said, else one of those whose keys are here. Raises ConfigError.
    """
    choices = tuple(choice(text) for text in models)
    if panel == STATIC:
        if choices:
            raise ConfigError(f"--panel {STATIC} and --model exclude each other", hint="leave one out")
        return Seating((), None, "static panel, as --panel asks: no language model")
    market = {offer.provider: offer for offer in offers}
    wishes, moderator = _written(configuration, panel)
    wishes, moderator = _chosen(wishes, moderator, choices)
    for wish in (*wishes, *((moderator,) if moderator else ())):
        _check(wish, market)
    hands = _hands(wishes, choices, offers)
    missing = [wish for wish in wishes if wish.spec is None]
    if missing and not hands:
        return _nobody(configuration, missing, insists=_insists(panel, choices), offers=offers)
    seats = tuple(_seat(wish, market) for wish in _with_models(wishes, hands))
    if all(seat.vacant for seat in seats):
        return _all_vacant(seats, insists=_insists(panel, choices))
    judge = _moderator(moderator, seats, market, hands=hands)
    everyone = (*seats, judge)
    by_keys = len(missing) == len(wishes) and not choices
    return Seating(
        seats,
        judge,
        _why(everyone, by_keys=len(missing) == len(wishes), typed=bool(choices)),
        (*(_notice(seat, wishes) for seat in everyone if seat.vacant), *(_not_installed(offers) if by_keys else ())),
    )


def _written(configuration: Configuration, panel: str | None) -> tuple[tuple[_Wish, ...], _Wish | None]:
    """The seats of the block that counts, or the three that everybody has; and the moderator, where one is written."""
    block = "panel"
    if panel is not None and not (panel == MODELS and MODELS not in configuration.names("panels")):
        block = f"panels.{panel}"
        known = configuration.names("panels")
        if panel not in known:
            raise ConfigError(f"there is no panel {shortened(panel)!r}", hint=_nearest(panel, (STATIC, MODELS, *known)))
    names = configuration.names(block)
    seats = tuple(_wish(configuration, f"{block}.{name}", name) for name in names if name != MODERATOR)
    trio = tuple(_Wish(name, f"{block}.{name}", name) for name in TRIO)
    key = f"{block}.{MODERATOR}" if MODERATOR in names else MODERATOR
    return seats or trio, _wish(configuration, key, MODERATOR) if configuration.names(key) else None


def _wish(configuration: Configuration, key: str, name: str) -> _Wish:
    def text(part: str) -> str:
        value = configuration.value(f"{key}.{part}")
        return value if isinstance(value, str) else ""

    window = configuration.value(f"{key}.context_window")
    model, fallback = f"{key}.model", f"{key}.fallback"
    return _Wish(
        name=name,
        key=key,
        role=text("role") or name,
        lens=text("lens"),
        spec=spec(text("model"), model) if text("model") else None,
        where=f"{model} ({configuration.origin(model)})",
        fallback=spec(text("fallback"), fallback) if text("fallback") else None,
        context_window=window if isinstance(window, int) else None,
    )


def _chosen(
    wishes: tuple[_Wish, ...], moderator: _Wish | None, choices: tuple[ModelChoice, ...]
) -> tuple[tuple[_Wish, ...], _Wish | None]:
    """The wishes after ``--model``: one without a seat clears what is written, the others replace or add a seat."""
    if any(not one.seat for one in choices):
        wishes = tuple(replace(wish, spec=None, context_window=None) for wish in wishes)
        moderator = replace(moderator, spec=None, context_window=None) if moderator else None
    for one in choices:
        if one.seat == MODERATOR:
            moderator = _told(moderator or _Wish(MODERATOR, MODERATOR, MODERATOR), one.spec)
        elif one.seat:
            wishes = _placed(wishes, one)
    return wishes, moderator


def _placed(wishes: tuple[_Wish, ...], one: ModelChoice) -> tuple[_Wish, ...]:
    meant = [wish for wish in wishes if wish.name == one.seat] or [wish for wish in wishes if wish.role == one.seat]
    if meant:
        return tuple(_told(wish, one.spec) if wish in meant else wish for wish in wishes)
    if one.seat not in ROLES:
        known = (*(wish.name for wish in wishes), MODERATOR, *ROLES)
        raise ConfigError(f"--model names the seat {one.seat!r}, which is not there", hint=_nearest(one.seat, known))
    return (*wishes, _told(_Wish(one.seat, f"panel.{one.seat}", one.seat), one.spec))


def _told(wish: _Wish, model: ModelSpec) -> _Wish:
    """A context window belongs to the model that it was written for."""
    window = wish.context_window if wish.spec == model else None
    return replace(wish, spec=model, where=f"--model {wish.name}", is_typed=True, context_window=window)


def _check(wish: _Wish, market: Mapping[str, Offer]) -> None:
    """Every provider that is written is known, and has a model. Raises ConfigError."""
    for named, where in ((wish.spec, wish.where), (wish.fallback, f"{wish.key}.fallback")):
        if named is None:
            continue
        if named.provider not in market:
            hint = _nearest(named.provider, tuple(market)) + f", or set providers.{named.provider}.base_url"
            raise ConfigError(f"{where} names the provider {named.provider!r}, which is not known", hint=hint)
        if not named.model and not market[named.provider].default_model:
            raise ConfigError(
                f"{where} names {named.provider} without a model",
                hint=f"write {named.provider}:MODEL, or set providers.{named.provider}.default_model",
            )


def _hands(wishes: tuple[_Wish, ...], choices: tuple[ModelChoice, ...], offers: tuple[Offer, ...]) -> tuple[ModelSpec, ...]:
    """The models that may be dealt to seats without one, best first: those of ``--model`` without a seat, else those that
    other seats of the panel were given, else the default models of everyone who was invited. One key invites one provider:
    the first that takes it (OpenAI has two interfaces)."""
    for_all = tuple(one.spec for one in choices if not one.seat)
    written = tuple(wish.spec for wish in wishes if wish.spec is not None and not wish.is_typed)
    by_key = {offer.key_name or offer.provider: offer for offer in reversed(offers) if offer.is_dealt}
    invited = tuple(ModelSpec(offer.provider, offer.default_model) for offer in offers if offer in by_key.values())
    typed = tuple(wish.spec for wish in wishes if wish.spec is not None and wish.is_typed)
    found = for_all or written or invited or typed
    market = {offer.provider: offer for offer in offers}
    for one in for_all:
        _check(_Wish("", "", "", spec=one, where="--model"), market)
    whole = tuple(dict.fromkeys(_whole(one, market) for one in found))
    return tuple(one for one in whole if not market[one.provider].lack) or whole


def _with_models(wishes: tuple[_Wish, ...], hands: tuple[ModelSpec, ...]) -> tuple[_Wish, ...]:
    taken = [wish.spec for wish in wishes if wish.spec is not None]
    models = iter(dealt(sum(wish.spec is None for wish in wishes), hands, taken))
    return tuple(wish if wish.spec is not None else replace(wish, spec=next(models)) for wish in wishes)


def _seat(wish: _Wish, market: Mapping[str, Offer]) -> SeatPlan:
    """The plan for one wish. Where the key of its model is missing and that of its fallback is here, the fallback sits."""
    assert wish.spec is not None
    model, fallback, vacant = _whole(wish.spec, market), wish.fallback, market[wish.spec.provider].lack
    fallback = _whole(fallback, market) if fallback and not market[fallback.provider].lack else None
    if vacant and fallback:
        return SeatPlan(wish.name, wish.role, wish.lens, fallback)
    return SeatPlan(wish.name, wish.role, wish.lens, model, fallback, wish.context_window, vacant)


def _whole(model: ModelSpec, market: Mapping[str, Offer]) -> ModelSpec:
    return model if model.model else ModelSpec(model.provider, market[model.provider].default_model)


def _moderator(
    wish: _Wish | None, seats: tuple[SeatPlan, ...], market: Mapping[str, Offer], *, hands: tuple[ModelSpec, ...]
) -> SeatPlan:
    """The one that is written; else the vendor that sits least among those who may be dealt a seat, or if none can, who sit."""
    wish = wish or _Wish(MODERATOR, MODERATOR, MODERATOR)
    if wish.spec is None:
        sitting = [seat.spec for seat in seats if not seat.vacant]
        ready = [model for model in hands if not market[model.provider].lack]
        wish = replace(wish, spec=least_seated(ready or sitting, sitting))
    return _seat(wish, market)


def _insists(panel: str | None, choices: tuple[ModelChoice, ...]) -> bool:
    """Models were asked for on the command line: the static panel may not stand in."""
    return panel is not None or bool(choices)


def _nobody(configuration: Configuration, missing: list[_Wish], *, insists: bool, offers: tuple[Offer, ...]) -> Seating:
    """No model is written and no key is here."""
    keys = ", ".join(offer.key_name for offer in offers if offer.key_name)
    if insists:
        raise ConfigError(f"no model for the {missing[0].name}: no key is here", hint=f"set one of {keys}, or name --model")
    mute = [offer.provider for offer in offers if offer.is_invited and not offer.default_model]
    notices = [f"{name} is not asked: set providers.{name}.default_model, or name one with --model" for name in mute]
    notices.extend(_not_installed(offers))
    if configuration.names("panel"):
        notices.append(f"the panel is configured without models, and no key is here ({keys}): the static panel reviews")
    return Seating((), None, "static panel: no key of a model provider is here", tuple(notices))


def _not_installed(offers: tuple[Offer, ...]) -> tuple[str, ...]:
    """For a key that may be here for other programs: nobody is asked by it, and no seat is lost."""
    invited = (offer for offer in offers if offer.is_invited and offer.default_model and offer.install)
    return tuple(f"{offer.provider} is not asked: what it needs is not installed; {offer.install}" for offer in invited)


def _all_vacant(seats: tuple[SeatPlan, ...], *, insists: bool) -> Seating:
    lacks = "; ".join(dict.fromkeys(seat.vacant for seat in seats))
    if insists:
        raise ConfigError(f"nobody can sit on the panel: {lacks}", hint="set a key, or choose another model with --model")
    return Seating((), None, f"static panel: {lacks}", (f"the configured panel cannot sit: {lacks}; the static panel reviews",))


def _notice(seat: SeatPlan, wishes: tuple[_Wish, ...]) -> str:
    where = next((wish.where for wish in wishes if wish.name == seat.name and wish.where), "moderator.model")
    return f"{seat.name} stays empty: {where} asks for {seat.spec}, and {seat.vacant}"


def _why(everyone: tuple[SeatPlan, ...], *, by_keys: bool, typed: bool) -> str:
    """The moderator is named too: it has no place among the panel's seats in a report."""
    sitting = ", ".join(f"{seat.name} {seat.spec}" for seat in everyone if not seat.vacant)
    reason = "as chosen with --model" if typed else "by the keys that are here" if by_keys else "as configured"
    return f"panel {reason}: {sitting}"


def _nearest(name: str, known: Iterable[str]) -> str:
    names = tuple(dict.fromkeys(known))
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}"
