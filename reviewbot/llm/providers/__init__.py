"""The table of providers, which of them can be asked here, and how.

Another one is a module and a row, or an entry point.
"""

import importlib
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.config.settings import ProviderSettings
from reviewbot.errors import ConfigError, install_hint
from reviewbot.llm.client import Connection, Limits
from reviewbot.llm.prices import Price, Prices
from reviewbot.llm.provider import Account, Provider
from reviewbot.plugins import plugins

OPENAI = f"{__name__}.openai"
LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")
Providers = Mapping[str, ProviderSettings]
Variables = Mapping[str, str]


class Vendor(Struct, frozen=True, kw_only=True):
    """Who serves models, and what is needed to ask them."""

    module: str  # has a function `connect(account: Account) -> Provider`
    needs: str = ""  # the package that it imports beyond those of the extra `models`
    extra: str = "models"  # the extra of reviewbot that installs all of them
    key_names: tuple[str, ...] = ()  # variables with the key, best first
    opt_in: tuple[str, ...] = ()  # likewise, that say that it is wanted and where it answers
    base_url: str = ""
    model: str = ""  # what is asked if one key is all that is known
    is_local: bool = False
    concurrency: int = 8  # how many calls it takes at once


VENDORS: Mapping[str, Vendor] = {
    "anthropic": Vendor(
        module=f"{__name__}.anthropic",
        key_names=("ANTHROPIC_API_KEY",),
        base_url="https://api.anthropic.com",
        # The middle size in types/model.py of anthropic 2.11.
        model="claude-sonnet-5-5",
    ),
    "openai": Vendor(
        module=OPENAI,
        key_names=("OPENAI_API_KEY",),
        base_url="https://api.openai.com/v1",
        # Newest of its size in types/shared/chat_model.py of openai 3.57.
        model="gpt-6.1-terra",
    ),
    "gemini": Vendor(
        module=f"{__name__}.gemini",
        key_names=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_url="https://generativelanguage.googleapis.com",
        # The model of the examples in google-genai 3.4.
        model="gemini-3.8-flash",
    ),
    "bedrock": Vendor(
        module=f"{__name__}.bedrock",
        needs="botocore",
        extra="bedrock",
        model="global.anthropic.claude-sonnet-5-5",
        concurrency=4,
    ),
    "ollama": Vendor(
        module=f"{__name__}.ollama",
        opt_in=("OLLAMA_HOST", "OLLAMA_BASE_URL"),
        base_url="http://127.0.0.1:11434",
        model="qwen3-coder:30b",
        is_local=True,
        concurrency=1,
    ),
    "openrouter": Vendor(
        module=OPENAI,
        key_names=("OPENROUTER_API_KEY",),
        base_url="https://openrouter.ai/api/v1",
        model="anthropic/claude-sonnet-5.5",
    ),
}


def all_vendors() -> tuple[str, ...]:
    """Names of those built in, then of those that other packages add."""
    return (*VENDORS, *sorted(plugins("reviewbot.providers")))


def find_vendor(name: str, base_url: str = "") -> Vendor:
    """A vendor by its name; any with an address speaks like OpenAI's. Raises ConfigError."""
    if name in VENDORS:
        return VENDORS[name]
    if entry := plugins("reviewbot.providers").get(name):
        vendor: Vendor = entry.load()
        return vendor
    if base_url:
        variable = re.sub(r"[^A-Z0-9]", "_", name.upper()) + "_API_KEY"
        return Vendor(module=OPENAI, key_names=(variable,))
    message = f"no provider is called {name}"
    known = ", ".join(all_vendors())
    raise ConfigError(message, hint=f"use one of {known}, or set providers.{name}.base_url")


def connect(vendor: Vendor, account: Account) -> Provider:
    """Import what talks to a vendor. Raises ConfigError."""
    make: Callable[[Account], Provider] = importlib.import_module(vendor.module).connect
    return make(account)


def wanted_vendors(providers: Providers, variables: Variables) -> Iterator[str]:
    """Names of the vendors for whom there is a key, best first. Their packages may be missing."""
    for name in all_vendors():
        vendor, settings = _configured(name, providers)
        is_wanted = _first((*vendor.opt_in, *vendor.key_names), variables)
        if vendor.model and (settings.base_url or is_wanted):
            yield name


def why_not_asked(name: str, providers: Providers, variables: Variables) -> str:
    """What is missing for a provider, and what to do; "" if nothing is. Raises ConfigError."""
    vendor, settings = _configured(name, providers)
    if not all(map(importlib.util.find_spec, {"httpx2", vendor.needs or "httpx2"})):
        return f"a package is not installed: {install_hint(vendor.extra)}"
    needs_key = settings.key_variable or not settings.base_url
    if vendor.key_names and needs_key and not _first(vendor.key_names, variables):
        return f"{vendor.key_names[0]} is not set"
    return ""


def connections_to(
    models: Iterable[str], providers: Providers, variables: Variables
) -> dict[str, Connection]:
    """How to ask the provider of each model, by its name; imports nothing. Raises ConfigError."""
    connections: dict[str, Connection] = {}
    for name in sorted({model.partition(":")[0] for model in models}):
        vendor, settings = _configured(name, providers)
        account = Account(
            name=name,
            base_url=settings.base_url or _first(vendor.opt_in, variables) or vendor.base_url,
            key=_first(vendor.key_names, variables),
            variables=variables,
            allow_private=settings.allow_private,
        )
        connections[name] = Connection(
            open=partial(connect, vendor, account),
            limits=Limits(
                settings.concurrency or vendor.concurrency,
                settings.requests_per_minute,
                settings.tokens_per_minute,
            ),
            is_local=vendor.is_local
            or (name not in VENDORS and settings.base_url.startswith(LOOPBACK)),
        )
    return connections


def _configured(name: str, providers: Providers) -> tuple[Vendor, ProviderSettings]:
    """A vendor, and what is configured of it. Raises ConfigError."""
    settings = providers.get(name, ProviderSettings())
    vendor = find_vendor(name, settings.base_url)
    if settings.key_variable:
        vendor = replace(vendor, key_names=(settings.key_variable,))
    return vendor, settings


def _first(names: Iterable[str], variables: Variables) -> str:
    return next((variables[name] for name in names if variables.get(name)), "")


def prices_of(providers: Providers) -> Prices:
    own = {
        f"{name}:{price.model}": Price(input=price.input, output=price.output)
        for name, settings in providers.items()
        for price in settings.prices
    }
    return Prices(own)
