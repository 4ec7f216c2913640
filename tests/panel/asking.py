"""Asking a real provider class, over a real connection to a fake server, and what every one of them must withstand."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from reviewbot.debate.reply import POSITION_SCHEMA
from reviewbot.ports import Account, Completion, ModelCall, Provider, ProviderError

T = TypeVar("T")

KEY = "sk-test-0123456789-never-to-be-seen"
CALL = ModelCall(
    model="some-model-1",
    system="You review code.",
    prefix="The change.\n",
    suffix="What is wrong with it?",
    schema=POSITION_SCHEMA,
    schema_name="position",
    max_output_tokens=500,
    timeout_seconds=10.0,
    cache_key="change-1",
)
"""A question as the debate asks it."""


def account(url: str, key: str = KEY, name: str = "vendor") -> Account:
    """An account at a fake server."""
    return Account(name, url, key)


async def with_provider(made: Provider, work: Callable[[Provider], Awaitable[T]]) -> T:
    """Work with a provider, then close it."""
    try:
        return await work(made)
    finally:
        await made.close()


def answered(make: Callable[[], Provider], **changes: Any) -> Completion:
    """One call's answer."""
    call = replace(CALL, **changes)
    return asyncio.run(with_provider(make(), lambda provider: provider.complete(call, lambda: None)))


def failed(make: Callable[[], Provider], **changes: Any) -> ProviderError:
    """One call's failure."""
    try:
        found = answered(make, **changes)
    except ProviderError as exc:
        check_secret(exc)
        return exc
    raise AssertionError(f"answered {found!r}")


def check_secret(exc: BaseException) -> None:
    """The key stands nowhere in an exception, nor in those that it would be shown with."""
    for one in chain(exc):
        assert KEY not in f"{one!s} {one!r} {one.__dict__!r}"
    assert KEY not in "".join(traceback.format_exception(exc))
    assert "\n" not in str(exc)


def chain(exc: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those it came from or was raised beside."""
    while exc is not None:
        yield exc
        exc = exc.__cause__ or exc.__context__
