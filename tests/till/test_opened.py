"""A provider is made once, in a thread of its own, for everyone who waits for it."""

from __future__ import annotations

import asyncio
import threading

import pytest

from reviewbot.adapters.till.till import Opened
from reviewbot.errors import ConfigError
from reviewbot.ports import Fault, ProviderError
from tests.till.paying import CALL, Model, wanted
from tests.till.virtual_time import main_in_real_time

KEY = wanted(CALL).key
COST = (1_500 * 1.0 + 500 * 0.1 + 100 * 10.0) / 1e6
"""Of ANSWER at PRICE."""


def shut(fault: Fault = Fault.DENIED) -> ProviderError:
    return ProviderError(fault, "the provider says no")


@pytest.fixture
def uncaught(monkeypatch: pytest.MonkeyPatch) -> list[BaseException | None]:
    """What threads raised that nobody caught."""
    found: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda failure: found.append(failure.exc_value))
    return found


def test_a_provider_is_made_once_and_closed_once() -> None:
    made: list[Model] = []

    def make() -> Model:
        made.append(Model())
        return made[-1]

    async def main() -> None:
        opened = Opened(make)
        await opened.close()
        assert made == []
        first, second = await asyncio.gather(opened.provider(), opened.provider())
        assert first is second is made[0]
        await opened.close()
        assert made[0].closed == 1

    asyncio.run(main_in_real_time(main))


@pytest.mark.parametrize("error", [ConfigError("no"), ImportError("no"), ValueError("no"), shut()])
def test_what_making_a_provider_raises_reaches_everyone_who_asks_for_it(error: Exception) -> None:
    def make() -> Model:
        raise error

    async def main() -> None:
        opened = Opened(make)
        for _ in range(2):
            with pytest.raises(type(error), match="no"):
                await opened.provider()
        await opened.close()

    asyncio.run(main_in_real_time(main))


def test_who_stops_waiting_for_a_provider_does_not_take_it_from_the_others(uncaught: list[BaseException | None]) -> None:
    go = threading.Event()

    def make() -> Model:
        assert go.wait(20)
        return Model()

    async def main() -> None:
        opened = Opened(make)
        leaving, staying = (asyncio.ensure_future(opened.provider()) for _ in range(2))
        await asyncio.sleep(0.01)
        leaving.cancel()
        await asyncio.sleep(0.01)
        go.set()
        assert isinstance(await staying, Model)
        assert leaving.cancelled()

    asyncio.run(main_in_real_time(main))
    assert uncaught == []


def test_a_provider_that_arrives_when_the_review_is_over_disturbs_nobody() -> None:
    go = threading.Event()

    def make() -> Model:
        assert go.wait(20)
        return Model()

    opened = Opened(make)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await opened.provider()

    asyncio.run(main())
    late = opened.begin()
    go.set()
    assert isinstance(late.result(20), Model)


def test_nobody_waits_for_ever_for_a_provider_that_breaks_in_a_way_nobody_thought_of(
    uncaught: list[BaseException | None],
) -> None:
    def make() -> Model:
        raise KeyError("a bug")

    async def main() -> None:
        with pytest.raises(RuntimeError, match="could not be made"):
            await Opened(make).provider()

    asyncio.run(main_in_real_time(main))
    assert [repr(bug) for bug in uncaught] == ["KeyError('a bug')"]
