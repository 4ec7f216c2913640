"""What configuration and environment say about one provider: is its key here, and was it invited?"""

from __future__ import annotations

from collections.abc import Mapping

from reviewbot.config.configuration import Configuration
from reviewbot.config.deal import Offer


def key_variable(configuration: Configuration, provider: str, names: tuple[str, ...], *, environ: Mapping[str, str]) -> str:
    """The variable that holds the provider's key: the configured one, else the first of ``names`` that is set, else the
    first of them; empty where a key has no variable."""
    configured = configuration.value(f"providers.{provider}.api_key_env")
    if isinstance(configured, str):
        return configured
    return next((name for name in names if environ.get(name)), names[0] if names else "")


def offer(
    configuration: Configuration,
    provider: str,
    *,
    names: tuple[str, ...],
    needs_key: bool,
    default_model: str,
    environ: Mapping[str, str],
) -> Offer:
    """A provider as the panel sees it. ``names``: the vendor's variables, whose presence is an invitation (a key, or as with
    ``OLLAMA_HOST`` an address). A server of the operator's own (``base_url``) needs no key; if it does, it will say so."""
    variable = key_variable(configuration, provider, names, environ=environ)
    has_key = bool(variable and environ.get(variable))
    has_address = configuration.value(f"providers.{provider}.base_url") is not None
    names_its_key = configuration.value(f"providers.{provider}.api_key_env") is not None
    wants_key = names_its_key or (needs_key and not has_address)
    model = configuration.value(f"providers.{provider}.default_model")
    return Offer(
        provider=provider,
        default_model=model if isinstance(model, str) else default_model,
        is_ready=has_key or not wants_key,
        is_invited=has_key or has_address,
        key_name=variable if wants_key else "",
    )
