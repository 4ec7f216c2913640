"""Asking a provider from a test: one call, run to its end, with what came of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from reviewbot.ports import (
    Account,
    Completion,
    Exchange,
    Fault,
    ModelCall,
    Provider,
    ProviderError,
    ToolCall,
    ToolResult,
    ToolSpec,
)

KEY = "key-0123456789-abcdefghij-KLMNOPQRST"
HANG_SECONDS = 20.0
"""A generous bound: what takes longer hangs."""

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["verdict", "rule", "check"],
    "properties": {
        "verdict": {"enum": ["good", "bad"]},
        "grade": {"enum": ["low", None]},
        "rule": {"type": ["string", "null"], "maxLength": 80},
        "check": {"type": ["object", "null"], "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        "list": {"type": "array", "maxItems": 200, "items": {"type": "string"}},
    },
}
READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})


def a_call(**changes: Any) -> ModelCall:
    """A small call."""
    plain = {
        "model": "fake:1b",
        "system": "You review code.",
        "prefix": "the shared part\n",
        "suffix": "the question",
        "schema": SCHEMA,
        "schema_name": "verdict",
        "max_output_tokens": 500,
        "timeout_seconds": 10.0,
    }
    return ModelCall(**{**plain, **changes})


def used(identity: str, *, opaque: str = "", error: bool = False) -> Exchange:
    """The tool was used once."""
    return Exchange((ToolCall(identity, "read", '{"path": "a.py"}'),), (ToolResult(identity, "1 | x", error),), opaque)


def run(work: Awaitable[Any]) -> Any:
    """Run to the end, or fail where it hangs."""

    async def bounded() -> Any:
        return await asyncio.wait_for(work, HANG_SECONDS)

    return asyncio.run(bounded())


def ask(make: Callable[[Account], Provider], account: Account, *calls: ModelCall) -> list[Completion]:
    """What a provider answers to these calls, one after the other. Checks that it says once that an answer begins."""

    async def asked() -> list[Completion]:
        provider = make(account)
        answers = []
        try:
            for call in calls:
                begun: list[float] = []
                answers.append(await provider.complete(call, lambda seen=begun: seen.append(time.monotonic())))
                assert len(begun) == 1
        finally:
            await provider.close()
        return answers

    return run(asked())


def failure(make: Callable[[Account], Provider], account: Account, call: ModelCall) -> ProviderError:
    """How a call fails. Checks that the error says nothing that it must not."""
    with pytest.raises(ProviderError) as caught:
        ask(make, account, call)
    return proper(caught.value, account)


def proper(error: ProviderError, account: Account) -> ProviderError:
    """The error itself, once it is sure that it says nothing that it must not."""
    assert not account.key or account.key not in "".join(told(error))
    assert "\n" not in error.message
    assert len(error.message) < 500
    return error


def told(error: BaseException | None) -> Iterator[str]:
    """Everything that an exception and its causes say."""
    while error is not None:
        yield f"{error!s} {error!r} "
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def never_taken(
    make: Callable[[Account], Provider], account: Account, tries: int, spoil: Callable[[int], None], **changes: Any
) -> list[Fault]:
    """The faults of ``tries`` calls; ``spoil(n)`` breaks the server's next answer in the n-th way. Fails where one is taken."""

    async def asked() -> list[Fault]:
        provider = make(account)
        faults = []
        try:
            for number in range(tries):
                spoil(number)
                with pytest.raises(ProviderError) as caught:
                    await provider.complete(a_call(**changes), lambda: None)
                faults.append(proper(caught.value, account).fault)
        finally:
            await provider.close()
        return faults

    return run(asked())


def cancelled(make: Callable[[Account], Provider], account: Account, when: Callable[[], None]) -> float:
    """Cancel a call once ``when`` returns (it may block); the seconds that it takes to be gone."""

    async def asked() -> float:
        provider = make(account)
        task = asyncio.ensure_future(provider.complete(a_call(timeout_seconds=60.0), lambda: None))
        await asyncio.to_thread(when)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        seconds = time.monotonic() - began
        await provider.close()
        return seconds

    return run(asked())
