"""How a model is named: ``provider:model`` in files, ``ROLE=PROVIDER:MODEL`` behind ``--model``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reviewbot.config.keys import FREE_NAME
from reviewbot.config.node import shortened
from reviewbot.errors import ConfigError

_SPEC = re.compile(rf"(?P<provider>{FREE_NAME})(?::(?P<model>\S+))?")
_CHOICE = re.compile(rf"(?:(?P<seat>{FREE_NAME})=)?(?P<spec>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model of a provider. ``model`` is empty where the provider's default is meant."""

    provider: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}" if self.model else self.provider


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One ``--model``. ``seat`` is a seat's name or role, empty for all of them."""

    seat: str
    spec: ModelSpec


def spec(text: str, where: str) -> ModelSpec:
    """``openai:gpt-5.6``, or ``openai`` alone. ``where`` is the key or flag that says so. Raises ConfigError."""
    found = _SPEC.fullmatch(text)
    if found is None:
        raise ConfigError(f"{where} is {shortened(text)!r}", hint="write provider:model, for example anthropic:claude-sonnet-5")
    return ModelSpec(found["provider"], found["model"] or "")


def choice(text: str) -> ModelChoice:
    """``critic=openai:gpt-5.6`` for one seat, ``openai:gpt-5.6`` for all. Raises ConfigError."""
    found = _CHOICE.fullmatch(text)
    assert found is not None
    return ModelChoice(found["seat"] or "", spec(found["spec"], f"--model {found['seat']}=" if found["seat"] else "--model"))
