"""Which providers could sit here: those with a key in the environment, those with an address in the configuration."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from reviewbot.adapters.panel.vendors import VENDORS, Vendor, known_vendor, lacking, vendor_named
from reviewbot.config import Configuration, offers, seats
from reviewbot.config.deal import Offer
from reviewbot.config.seats import Seating
from reviewbot.ports import Account
from reviewbot.wiring.order import Order

OLLAMA_HOST = "OLLAMA_HOST"
"""The variable with Ollama's address: who sets it wants to be served there."""

PASSED_ON = ("AWS_", "BEDROCK_")
"""Variables that a provider may read for itself: AWS's usual ones."""


def seated(order: Order, configuration: Configuration) -> Seating:
    """Who sits on the panel. Raises ConfigError."""
    market = offered(order, configuration) if order.panel != seats.STATIC else ()
    return seats.seating(configuration, market, panel=order.panel, models=order.models)


def offered(order: Order, configuration: Configuration) -> tuple[Offer, ...]:
    """Every provider that is known here, in the order in which seats are dealt."""
    named = seats.providers_named(configuration, order.models)
    names = dict.fromkeys((*(vendor.name for vendor in VENDORS if vendor.name not in _ON_REQUEST), *named))
    market = tuple(_offer(name, configuration, order.environment) for name in names if is_known(name, configuration))
    return tuple(replace(offer, is_ready=True, install="") for offer in market) if order.offline else market


_ON_REQUEST = ("openai-responses",)
"""Another way to a provider that is in the table already: only for who names it."""


def _offer(name: str, configuration: Configuration, environ: Mapping[str, str]) -> Offer:
    vendor = vendor_of(name, configuration)
    offer = offers.offer(
        configuration,
        name,
        names=(OLLAMA_HOST,) if vendor.name == "ollama" else vendor.key_names,
        needs_key=vendor.needs_key,
        default_model=vendor.default_model,
        environ=environ,
    )
    return replace(offer, install=lacking(vendor)) if offer.is_invited else offer


def is_known(name: str, configuration: Configuration) -> bool:
    """A provider of that name exists. Where it does not, the seating says so, with the key that names it. Raises ConfigError for
    one of another package that cannot be loaded."""
    return known_vendor(name, _address(name, configuration)) is not None


def vendor_of(name: str, configuration: Configuration) -> Vendor:
    """What a provider's name means. Raises ConfigError."""
    return vendor_named(name, _address(name, configuration))


def _address(name: str, configuration: Configuration) -> str:
    base_url = configuration.value(f"providers.{name}.base_url")
    return base_url if isinstance(base_url, str) else ""


def account(name: str, configuration: Configuration, environ: Mapping[str, str]) -> Account:
    """Where a provider answers, with its key."""
    vendor = vendor_of(name, configuration)
    configured = configuration.value(f"providers.{name}.base_url")
    address = configured if isinstance(configured, str) else vendor.base_url
    if vendor.name == "ollama" and configured is None:
        address = environ.get(OLLAMA_HOST) or address
    variable = offers.key_variable(configuration, name, vendor.key_names, environ=environ)
    return Account(
        name=name,
        base_url=address,
        key=environ.get(variable, "") if variable else "",
        allow_plain_http=bool(configuration.value(f"providers.{name}.allow_plain_http")),
        environment={key: value for key, value in environ.items() if key.startswith(PASSED_ON)},
    )


def is_local(vendor: Vendor, account: Account, configuration: Configuration) -> bool:
    """Its tokens count as served locally, and cost nothing: as configured, else by its vendor, else (for a server without a
    vendor) by its address. A vendor's name at a private address is a gateway to the vendor, who will bill it."""
    said = configuration.value(f"providers.{account.name}.local")
    if isinstance(said, bool):
        return said
    if any(known.name == vendor.name for known in VENDORS):
        return vendor.local
    host = urlsplit(account.base_url).hostname or ""
    try:
        near = ipaddress.ip_address(host).is_private
    except ValueError:
        near = host == "localhost"
    return near
