"""A provider that another package adds: what it raises is a fault of the call, never the end of the review."""

from __future__ import annotations

from collections.abc import Callable

from reviewbot.adapters import installed
from reviewbot.adapters.installed import Broken
from reviewbot.ports import Account, Completion, Fault, ModelCall, Provider, ProviderError, Stop, Timings, Tokens, ToolCall


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
        if odd := _odd(made):
            raise ProviderError(Fault.UNREADABLE, f"{self._account.name} answered with a Completion whose {odd} is none")
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


def _odd(made: Completion) -> str:
    """The first field that holds something else than it says, as where a server's JSON was handed on unread; empty for none."""
    sound = {
        "stop": isinstance(made.stop, Stop),
        "text": isinstance(made.text, str),
        "tokens": isinstance(made.tokens, Tokens) and _are_counts(made.tokens),
        "tool_calls": isinstance(made.tool_calls, tuple) and all(map(_is_call, made.tool_calls)),
        "opaque": isinstance(made.opaque, str),
        "reason": isinstance(made.reason, str),
        "timings": made.timings is None or isinstance(made.timings, Timings),
        "request_id": isinstance(made.request_id, str),
    }
    return next((name for name, is_sound in sound.items() if not is_sound), "")


def _are_counts(tokens: Tokens) -> bool:
    counts = (tokens.input, tokens.cached, tokens.cache_written, tokens.output)
    return all(isinstance(count, int) and count >= 0 for count in counts)


def _is_call(call: object) -> bool:
    return isinstance(call, ToolCall) and all(isinstance(word, str) for word in (call.id, call.name, call.arguments))
