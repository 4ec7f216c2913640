"""How seats are dealt to providers: over different vendors, in a fixed order, the same on every machine with these keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reviewbot.config.models import ModelSpec


@dataclass(frozen=True, slots=True)
class Offer:
    """A provider as the panel sees it.

    ``is_ready``: it can be asked (its key is here, or it needs none). ``is_invited``: the user's own doing says that it may
    be asked without being named: its key or its address is set for it. ``key_name`` is the variable that holds its key.
    ``install`` says how to install what it needs; empty where that is here.
    """

    provider: str
    default_model: str = ""
    is_ready: bool = False
    is_invited: bool = False
    key_name: str = ""
    install: str = ""

    @property
    def is_dealt(self) -> bool:
        """It may get seats that nobody chose a model for, once it is ready."""
        return self.is_invited and bool(self.default_model) and not self.install

    @property
    def lack(self) -> str:
        """Why it cannot be asked, in words; empty where it can."""
        if self.is_ready:
            return ""
        return f"{self.key_name} is not set" if self.key_name else f"there is no key for {self.provider}"


def dealt(count: int, hands: Sequence[ModelSpec], taken: Sequence[ModelSpec] = ()) -> list[ModelSpec]:
    """``count`` models out of ``hands``, each time of a provider that has fewest seats so far, the first of them by order."""
    seated = list(taken)
    for _ in range(count):
        seated.append(least_seated(hands, seated))
    return seated[len(taken) :]


def least_seated(hands: Sequence[ModelSpec], seated: Sequence[ModelSpec]) -> ModelSpec:
    """The provider that sits least, the first one where several do; of its models the one that sits least."""
    providers = [model.provider for model in seated]
    chosen = min(hands, key=lambda model: providers.count(model.provider)).provider
    return min((model for model in hands if model.provider == chosen), key=seated.count)
