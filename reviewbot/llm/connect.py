"""Which providers can be asked here, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from msgspec.structs import replace

from reviewbot.config.settings import ProviderSettings
from reviewbot.llm.client import Connection
from reviewbot.llm.limits import Limits
from reviewbot.llm.prices import Price, Prices
from reviewbot.llm.provider import Account
from reviewbot.llm.providers import (
    VENDORS,
    Vendor,
    all_vendors,
    connect,
    find_vendor,
    missing_package,
)

LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")


def wanted_vendors(
    providers: Mapping[str, ProviderSettings], variables: Mapping[str, str]
) -> Iterator[str]:
    """Names of the vendors for whom there is a key, best first. Their packages may be missing."""
    for name in all_vendors():
        vendor, settings = _configured(name, providers)
        is_wanted = settings.base_url or variables.get(vendor.opt_in) or _key(vendor, variables)
        if vendor.model and is_wanted:
            yield name


def why_not_asked(
    name: str, providers: Mapping[str, ProviderSettings], variables: Mapping[str, str]
) -> str:
    """What is missing for a provider, and what to do; "" if nothing is. Raises ConfigError."""
    vendor, settings = _configured(name, providers)
    if hint := missing_package(vendor):
        return f"a package is not installed: {hint}"
    if vendor.key_names and not settings.base_url and not _key(vendor, variables):
        return f"{vendor.key_names[0]} is not set"
    return ""


def connections_to(
    models: Iterable[str],
    providers: Mapping[str, ProviderSettings],
    variables: Mapping[str, str],
    seconds: float,
) -> dict[str, Connection]:
    """How to ask the provider of each model, by its name; nothing is imported yet.

    Raises ConfigError.
    """
    connections: dict[str, Connection] = {}
    for name in sorted({model.partition(":")[0] for model in models}):
        vendor, settings = _configured(name, providers)
        account = Account(
            name=name,
            base_url=settings.base_url or variables.get(vendor.opt_in) or vendor.base_url,
            key=_key(vendor, variables),
            variables=variables,
            allow_private=settings.allow_private,
            seconds=seconds,
        )
        connections[name] = Connection(
            open=partial(connect, name, vendor, account),
            limits=Limits(
                settings.concurrency or vendor.concurrency,
                settings.requests_per_minute,
                settings.tokens_per_minute,
            ),
            is_local=vendor.is_local
            or (name not in VENDORS and settings.base_url.startswith(LOOPBACK)),
        )
    return connections


def _configured(
    name: str, providers: Mapping[str, ProviderSettings]
) -> tuple[Vendor, ProviderSettings]:
    """A vendor, and what is configured of it. Raises ConfigError."""
    settings = providers.get(name, ProviderSettings())
    vendor = find_vendor(name, settings.base_url)
    if settings.key_variable:
        vendor = replace(vendor, key_names=(settings.key_variable,))
    return vendor, settings


def _key(vendor: Vendor, variables: Mapping[str, str]) -> str:
    return next((variables[name] for name in vendor.key_names if variables.get(name)), "")


def prices_of(providers: Mapping[str, ProviderSettings]) -> Prices:
    return Prices(
        {
            f"{name}:{price.model}": Price(input=price.input, output=price.output)
            for name, settings in providers.items()
            for price in settings.prices
        }
    )
