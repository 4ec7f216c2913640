"""Local models: asked for what they can do in time, one after the other."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from reviewbot.adapters.panel.local import LocalHost
from reviewbot.adapters.panel.models import Line
from reviewbot.adapters.till import prices
from reviewbot.ports import (
    Ask,
    Fault,
    FirstPass,
    Timings,
)
from reviewbot.testing import MemorySession, a_dossier, a_passage
from tests.panel.house import ASK, CRITIC, LATER, House, a_house, failing
from tests.panel.test_local import HOST, Notebook, known
from tests.till.paying import ANSWER, Model, Shop, run


def at_pace(house: House, *, read: float = 100.0, write: float = 10.0) -> Line:
    host = LocalHost(HOST, Notebook(known(read=read, write=write, load=0.0)))
    return house.line(host=host)


def test_a_local_model_is_asked_for_what_it_can_do_in_time() -> None:
    async def main() -> None:
        house = a_house()
        line = at_pace(house)
        allowance = line.host.allowance("m", 100.0)  # type: ignore[union-attr]  # at_pace gives one
        reply = await house.panel(line).ask(ASK)
        (call,) = house.shop.model.calls
        assert 0 < prices.tokens_in(call.system + call.prefix + call.suffix) <= allowance.prompt_tokens
        assert call.max_output_tokens == allowance.output_tokens == 500
        assert 0 < len(reply.unread) < 10

    run(main())


def test_who_resumes_asks_the_same_though_the_pace_has_changed() -> None:
    async def main() -> None:
        house = a_house()
        first = await house.panel(at_pace(house)).ask(ASK)
        again = House(Shop(Model(), ledger=house.shop.ledger), session=MemorySession(house.session.kept))
        second = await again.panel(at_pace(again, read=20.0, write=2.0)).ask(ASK)
        assert again.shop.model.calls == []
        assert (second.text, second.unread) == (first.text, first.unread)
        assert second.usage.replayed_calls == 1
        forgetful = House(Shop(Model(), ledger=house.shop.ledger))
        await forgetful.panel(at_pace(forgetful, read=300.0)).ask(ASK)
        assert len(forgetful.shop.model.calls) == 1

    run(main())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ASK, replace(ASK, subject="P2")),
        (ASK, replace(ASK, attempt=2)),
        (ASK, replace(LATER, subject="P1")),
        (LATER, replace(LATER, round=2)),
        (ASK, replace(ASK, seat=replace(CRITIC, name="reviewer"))),
    ],
    ids=["another portion", "another attempt", "another question", "another round", "another seat"],
)
def test_every_ask_has_an_allowance_of_its_own(one: Ask, other: Ask) -> None:
    async def main() -> None:
        house = a_house()
        line = at_pace(house)
        await house.panel(line).ask(one)
        await house.panel(line).ask(one)
        assert len(house.session.kept) == 1
        await house.panel(line, seat=other.seat).ask(other)
        assert len(house.session.kept) == 2

    run(main())


def test_an_ask_waits_for_its_turn_and_is_sized_by_the_answer_before_it() -> None:
    slow = Timings(prompt_tokens=5_000, prompt_seconds=25.0, output_tokens=500, output_seconds=20.0)
    long = a_dossier(*(a_passage(f"file{number}.py", f"some code in file {number}\n" * 20) for number in range(60)))

    async def main() -> None:
        house = House(Shop(Model(replace(ANSWER, timings=slow), seconds=45.0)))
        panel = house.panel(at_pace(house, read=800.0, write=100.0))
        asks = (replace(ASK, subject=f"L{number}", question=FirstPass(long)) for number in range(2))
        await asyncio.gather(*map(panel.ask, asks))
        assert house.shop.model.most_inside == 1
        first, second = (prices.tokens_in(call.prefix) for call in house.shop.model.calls)
        assert 0 < second < first / 2

    run(main())


def test_the_fallback_of_a_local_model_waits_for_no_turn_and_sees_everything() -> None:
    async def main() -> None:
        house = a_house(failing(Fault.NETWORK, "nobody is there"))
        second = Model()
        line = at_pace(house)
        reply = await house.panel(line, Line(house.shop.another("two", second), "n")).ask(ASK)
        assert (reply.model, reply.unread) == ("two:n", ())
        assert not line.host.turn.locked()  # type: ignore[union-attr]  # at_pace gives one

    run(main())
