"""A provider that another package adds: what it raises is a fault of the call, never the end of the review."""

from __future__ import annotations

from collections.abc import Callable

from reviewbot.adapters import installed
from reviewbot.adapters.installed import Broken
from reviewbot.ports import Account, Completion, Fault, ModelCall, Provider, ProviderError


class OutsideProvider:
    """The provider with every surprise of it made a ProviderError."""

    def __init__(self, provider: Provider, account: Account) -> None:
        self._provider = provider
        self._account = account

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        try:
            with installed.guarded(ProviderError):
                made = await self._provider.complete(call, begun)
        except Broken as exc:
            raise self._fault(exc) from exc
        if not isinstance(made, Completion):
            raise ProviderError(Fault.UNREADABLE, f"{self._account.name} answered with {type(made).__name__}, no Completion")
        return made

    async def models(self) -> tuple[str, ...]:
        try:
            with installed.guarded(ProviderError):
                return tuple(str(name) for name in await self._provider.models())
        except Broken as exc:
            raise self._fault(exc) from exc

    async def close(self) -> None:
        try:
            with installed.guarded():
                await self._provider.close()
        except Broken:
            return  # nothing is asked afterwards, and what was answered is kept

    def _fault(self, exc: Broken) -> ProviderError:
        """Its words may hold the key, as a header does."""
        said = str(exc).replace(self._account.key, "[key]") if self._account.key else str(exc)
        return ProviderError(Fault.UNREADABLE, f"{self._account.name} failed: {said}")
