"""Providers of other packages: what they raise is a fault of one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reviewbot.adapters.panel.outside import OutsideProvider
from reviewbot.ports import Account, Completion, Fault, ModelCall, ProviderError, Stop, Tokens, ToolCall

KEY = "a-key-of-no-known-form"
CALL = ModelCall("m", "", "", "", {}, "x")


class Odd:
    """A provider that does what a test wants."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Any:
        return self._work()

    async def models(self) -> Any:
        return self._work()

    async def close(self) -> None:
        self._work()


def around(work: Callable[[], Any]) -> OutsideProvider:
    return OutsideProvider(Odd(work), Account("odd", key=KEY))


def raising(error: BaseException) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


@pytest.mark.parametrize("error", [KeyError("text"), SystemExit(1), RecursionError("deep"), TimeoutError()])
def test_what_it_raises_is_a_fault_of_the_call(error: BaseException) -> None:
    provider = around(raising(error))
    for asked in (provider.complete(CALL, lambda: None), provider.models()):
        with pytest.raises(ProviderError) as caught:
            asyncio.run(asked)  # type: ignore[arg-type]
        assert caught.value.fault is Fault.UNREADABLE
        assert caught.value.message.startswith(f"odd failed: {type(error).__name__}")
    asyncio.run(provider.close())


def test_its_key_is_in_no_message() -> None:
    with pytest.raises(ProviderError) as caught:
        asyncio.run(around(raising(ValueError(f"bad header {KEY}"))).complete(CALL, lambda: None))
    assert caught.value.message == "odd failed: ValueError: bad header [key]"


def test_its_own_faults_and_a_cancel_are_what_they_are() -> None:
    own = ProviderError(Fault.SPENT, "no money")
    with pytest.raises(ProviderError) as caught:
        asyncio.run(around(raising(own)).complete(CALL, lambda: None))
    assert caught.value is own
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(around(raising(asyncio.CancelledError())).complete(CALL, lambda: None))


def test_an_answer_that_is_none_is_a_fault() -> None:
    with pytest.raises(ProviderError, match="odd answered with dict, no Completion"):
        asyncio.run(around(dict).complete(CALL, lambda: None))
    made = Completion(Stop.END, "yes", Tokens(1), (ToolCall("a", "b", "{}"),))
    assert asyncio.run(around(lambda: made).complete(CALL, lambda: None)) is made


ODD: dict[str, Any] = {
    "stop": Completion("end", "yes"),  # type: ignore[arg-type]
    "text": Completion(Stop.END, None),  # type: ignore[arg-type]
    "tokens": Completion(Stop.END, "yes", Tokens("5")),  # type: ignore[arg-type]
    "tokens below nothing": Completion(Stop.END, "yes", Tokens(output=-1)),
    "tool_calls": Completion(Stop.TOOLS, tool_calls=(ToolCall(7, "search", "{}"),)),  # type: ignore[arg-type]
    "tool_calls of JSON": Completion(Stop.TOOLS, tool_calls=({"id": "a"},)),  # type: ignore[arg-type]
    "request_id": Completion(Stop.END, "yes", request_id=7),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("how", ODD)
def test_a_field_that_a_server_filled_with_something_else_is_a_fault(how: str) -> None:
    with pytest.raises(ProviderError, match=f"odd answered with a Completion whose {how.split()[0]} is none") as caught:
        asyncio.run(around(lambda: ODD[how]).complete(CALL, lambda: None))
    assert caught.value.fault is Fault.UNREADABLE
