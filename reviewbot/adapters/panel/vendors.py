"""What the names of providers mean: where they answer, which key they take, which class speaks to them. Imports no SDK."""

from __future__ import annotations

import importlib
import importlib.util
import re
from dataclasses import dataclass, replace

from reviewbot.adapters import installed
from reviewbot.adapters.installed import Broken, Extension
from reviewbot.adapters.panel.outside import OutsideProvider
from reviewbot.errors import ConfigError
from reviewbot.ports import Account, Provider

ENTRY_POINTS = installed.GROUPS["provider"]
"""Group of entry points by which other packages add providers. Each loads a class that is made with an Account and has an
attribute ``vendor``, a :class:`Vendor`."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """A kind of provider.

    ``module`` and ``cls`` name its class; ``extra`` is the optional dependency of reviewbot that brings its library (empty:
    nothing to install). ``key_names`` are the environment's names of its key, best first; ``needs_key`` says that it answers
    nobody without one. ``local`` runs on hardware of one's own: its calls cost nothing and are slow. ``concurrency`` is how
    many calls it takes at once where nobody configured it. ``takes_tools``: tool use can be asked of it. ``schema_in_cache``:
    its cache knows a prefix only together with the schema that came with it. ``warms``: a prefix that was read once is cheaper
    afterwards, so one call goes ahead of its siblings. ``families`` whose weights it serves, as :func:`family` names them
    (empty: any). ``outside`` is where it is found, of a provider that another package adds.
    """

    name: str
    module: str
    cls: str
    extra: str = ""
    key_names: tuple[str, ...] = ()
    base_url: str = ""
    needs_key: bool = True
    local: bool = False
    concurrency: int = 8
    default_model: str = ""
    takes_tools: bool = True
    schema_in_cache: bool = False
    warms: bool = True
    families: tuple[str, ...] = ()
    outside: Extension | None = None


_HERE = "reviewbot.adapters.panel"

VENDORS: tuple[Vendor, ...] = (
    Vendor(
        "anthropic", f"{_HERE}.anthropic", "Anthropic", "anthropic", ("ANTHROPIC_API_KEY",), "https://api.anthropic.com",
        # The middle size in the SDK's own list of models (anthropic 2.11, types/model.py).
        schema_in_cache=True, default_model="claude-sonnet-5-5", families=("anthropic",),
    ),
    Vendor(
        "openai", f"{_HERE}.openai", "OpenAI", "openai", ("OPENAI_API_KEY",), "https://api.openai.com/v1",
        # In the SDK's own list of models (openai 3.52, types/shared/chat_model.py) and not announced for shutdown there.
        schema_in_cache=True, default_model="gpt-5.6-terra", families=("openai",),
    ),
    Vendor(
        "openai-responses", f"{_HERE}.openai_responses", "Responses", "openai", ("OPENAI_API_KEY",),
        "https://api.openai.com/v1", schema_in_cache=True, default_model="gpt-5.6-terra", families=("openai",),
    ),
    Vendor(
        "gemini", f"{_HERE}.gemini", "Gemini", "gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "https://generativelanguage.googleapis.com",
        # The model of the examples in google-genai 3.4.
        default_model="gemini-3.8-flash", families=("google",),
    ),
    Vendor(
        "bedrock", f"{_HERE}.bedrock", "Bedrock", "bedrock", needs_key=False, concurrency=4, schema_in_cache=True,
        # The cross-region profile of the model above, as Bedrock names it. [belief]
        default_model="global.anthropic.claude-sonnet-5-5",
        families=("anthropic", "amazon", "meta", "mistral"),
    ),
    Vendor(
        "ollama", f"{_HERE}.ollama", "Ollama", "ollama", base_url="http://127.0.0.1:11434", needs_key=False, local=True,
        # One server computes one answer at a time; its cache of a prefix is the last prompt it read.
        concurrency=1, default_model="qwen3-coder:30b",
    ),
    Vendor(
        "openrouter", f"{_HERE}.openai", "OpenAI", "openai", ("OPENROUTER_API_KEY",), "https://openrouter.ai/api/v1",
        # OpenRouter's router, which chooses a model by the prompt (openrouter.ai/docs/model-routing).
        default_model="openrouter/auto",
    ),
)  # fmt: skip
"""The providers that come with reviewbot. Where one key is set, its vendor's ``default_model`` sits on every seat."""

#: Words in a model's name, and whose weights they are.
_FAMILIES = (
    (r"claude", "anthropic"),
    (r"gpt|chatgpt|codex|o\d+(?![a-z])", "openai"),
    (r"gemini|gemma|codegemma|palm", "google"),
    (r"llama|codellama", "meta"),
    (r"qwen|qwq|qvq", "alibaba"),
    (r"mistral|mixtral|codestral|devstral|ministral|magistral|pixtral", "mistral"),
    (r"deepseek", "deepseek"),
    (r"nova|titan", "amazon"),
    (r"phi", "microsoft"),
    (r"grok", "xai"),
)
_WORDS = tuple((re.compile(rf"(?<![a-z])(?:{words})"), maker) for words, maker in _FAMILIES)


def vendor_named(name: str, base_url: str = "") -> Vendor:
    """The vendor behind a provider's configured name: of the table, of another package, or, where only an address is known, a
    server that speaks OpenAI's language. Raises ConfigError for a name without any of these."""
    found = known_vendor(name, base_url)
    if found is None:
        known = ", ".join(vendor.name for vendor in VENDORS)
        raise ConfigError(
            f"no provider is named {name!r}",
            hint=f"use one of {known}, or give it an address with providers.{name}.base_url",
        )
    return found


def known_vendor(name: str, base_url: str = "") -> Vendor | None:
    """The same; ``None`` for a name without any of these. Raises ConfigError for one that another package adds and that cannot be
    loaded."""
    own = next((vendor for vendor in VENDORS if vendor.name == name), None) or discovered(name)
    if own is not None or not base_url:
        return own
    variable = re.sub(r"[^A-Z0-9]", "_", name.upper()) + "_API_KEY"
    return Vendor(name, f"{_HERE}.openai", "OpenAI", "openai", (variable,), base_url, needs_key=False)


def discovered(name: str) -> Vendor | None:
    """A provider that another installed package adds under ``name``. Only that one is loaded. Raises ConfigError where it
    cannot be, or several packages add it."""
    one = installed.found("provider", name)
    if one is None:
        return None
    vendor = getattr(installed.loaded(one), "vendor", None)
    if not isinstance(vendor, Vendor):
        raise ConfigError(f"{one.described} does not say what it is: it has no Vendor", hint=installed.UPDATE)
    module, _, cls = one.value.partition(":")
    return replace(vendor, name=name, module=module, cls=cls, outside=one)


def open_provider(vendor: Vendor, account: Account) -> Provider:
    """The provider that talks for ``account``; an account without an address gets the vendor's. Imports the vendor's library,
    which may take a second. Raises ConfigError where that is not installed, or the account cannot be used."""
    account = replace(account, base_url=account.base_url or vendor.base_url)
    if vendor.outside is not None:
        return _opened_outside(vendor.outside, account)
    try:
        made = getattr(importlib.import_module(vendor.module), vendor.cls)
    except ModuleNotFoundError as exc:
        missing = (exc.name or "").split(".")[0]
        if missing in ("", "reviewbot"):
            raise
        raise ConfigError(f"{vendor.name} needs the package {missing!r}", hint=_install(vendor)) from exc
    provider: Provider = made(account)
    return provider


def _opened_outside(one: Extension, account: Account) -> Provider:
    made = installed.loaded(one)
    try:
        with installed.guarded(ConfigError):
            return OutsideProvider(made(account), account)
    except Broken as exc:
        raise ConfigError(f"{one.described} cannot be used: {exc}", hint=installed.UPDATE) from exc


LIBRARIES = {"anthropic": "anthropic", "openai": "openai", "gemini": "google.genai", "bedrock": "boto3", "ollama": "httpx2"}
"""What is imported of each extra, beside the ledger's library."""

LEDGER_LIBRARY = "sqlalchemy"


def lacking(vendor: Vendor) -> str:
    """How to install what a vendor needs, the ledger's library included; empty where all of it is here. Imports none of it."""
    needed = [LIBRARIES[vendor.extra], LEDGER_LIBRARY] if vendor.extra in LIBRARIES else [LEDGER_LIBRARY]
    return "" if all(map(_is_installed, needed)) else _install(vendor)


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False  # not even the package around it


def family(model: str) -> str:
    """Whose weights these are, by the model's name: models of one family err alike, and count less together.

    ``global.anthropic.claude-…``, ``anthropic/claude-…`` and ``claude-…`` are one. Of several words the first counts. An
    unknown name counts up to its first ``-`` or ``:``.
    """
    name = model.lower().rsplit("/", 1)[-1]
    hits = sorted((match.start(), maker) for words, maker in _WORDS if (match := words.search(name)))
    if hits:
        return hits[0][1]
    return re.split(r"[-:]", name, maxsplit=1)[0] or name


def _install(vendor: Vendor) -> str:
    return f"pip install 'reviewbot[{vendor.extra}]'" if vendor.extra else "install it beside reviewbot"
