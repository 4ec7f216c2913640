"""The panel of language models: who answers, after how many calls, and what never becomes a vote."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from reviewbot.adapters.panel.models import ENVELOPE_WORDS, Line, Sitting
from reviewbot.adapters.till import prices
from reviewbot.ports import (
    Ask,
    Dossier,
    Fault,
    FirstPass,
    Prompt,
    Reply,
    ReplyStatus,
    Stop,
    Tokens,
)
from reviewbot.testing import Watching, a_dossier, a_passage, a_seat
from tests.panel.house import ASK, CRITIC, DOSSIER, LATER, Drawer, House, Plain, a_house, asked, failing, wishing
from tests.till.paying import ANSWER, Ledger, Model, Shop, run

# Many asks at once


def test_the_first_is_asked_before_the_last_is_written() -> None:
    class Slow(Plain):
        """Notes how many had been asked when each prompt was written."""

        def write(self, ask: Ask, room: int | None) -> Prompt:
            before.append(len(house.shop.model.calls))
            return super().write(ask, room)

    before: list[int] = []

    async def main() -> None:
        nonlocal house
        house = House(Shop(Model(seconds=5.0)), scribe=Slow())
        panel = house.panel(house.line())
        await asyncio.gather(*(panel.ask(replace(ASK, subject=f"P{number}")) for number in range(40)))

    house: House
    run(main())
    assert before[0] == 0
    assert before[-1] > 5, "written while others wait for their answers"


# One answer


def test_an_answer_comes_with_who_gave_it_and_what_it_cost() -> None:
    async def main() -> None:
        house = a_house()
        reply = await asked(house)
        assert (reply.status, reply.text, reply.model) == (ReplyStatus.OK, '{"claims":[]}', "one:m")
        assert (reply.usage.calls, reply.usage.input_tokens) == (1, 2_000)
        assert reply.unread == ()

    run(main())


def test_the_call_says_what_the_ask_and_the_line_say() -> None:
    async def main() -> None:
        house = a_house()
        await asked(house, context_window=90_000, max_output_tokens=4_000)
        (call,) = house.shop.model.calls
        assert (call.model, call.effort, call.timeout_seconds, call.context_window) == ("m", "high", 100.0, 90_000)
        assert (call.system, call.suffix, call.schema_name) == ("system", "critic P1 1 1 ", "claims")
        assert (call.max_output_tokens, call.tools, call.exchanges) == (4_000, (), ())
        (wanted,) = house.shop.ledger.wanted
        assert (wanted.model, wanted.seat, wanted.phase, wanted.subject) == ("one:m", "critic", "S1", "P1")
        assert (wanted.round, wanted.attempt, wanted.step) == (1, 1, 0)
        assert (wanted.system, wanted.prefix, wanted.suffix) == (call.system, call.prefix, call.suffix)

    run(main())


def test_answers_about_one_claim_are_shorter_and_share_the_prefix() -> None:
    async def main() -> None:
        house = a_house()
        panel = house.panel(house.line(max_output_tokens=4_000))
        await panel.ask(ASK)
        await panel.ask(LATER)
        first, later = house.shop.model.calls
        assert (first.max_output_tokens, later.max_output_tokens) == (4_000, 2_000)
        assert (first.system, first.prefix, first.cache_key) == (later.system, later.prefix, later.cache_key)

    run(main())


def test_seats_of_one_model_share_a_cache_and_models_do_not() -> None:
    async def main() -> None:
        house = a_house()
        for name, model in (("critic", "m"), ("reviewer", "m"), ("reviewer", "n")):
            seat = replace(a_seat(name), model=f"one:{model}")
            await house.panel(house.line(model=model), seat=seat).ask(replace(ASK, seat=seat))
        keys = [call.cache_key for call in house.shop.model.calls]
        assert keys[0] == keys[1] != keys[2]

    run(main())


def test_an_envelope_takes_the_place_of_every_schema() -> None:
    async def main() -> None:
        house = a_house()
        await asked(house, envelope={"type": "object", "title": "all"})
        (call,) = house.shop.model.calls
        assert (call.schema, call.schema_name) == ({"type": "object", "title": "all"}, "envelope")
        assert call.suffix.endswith(ENVELOPE_WORDS)

    run(main())


@pytest.mark.parametrize(
    ("stop", "status"),
    [(Stop.REFUSED, ReplyStatus.REFUSED), (Stop.LENGTH, ReplyStatus.TRUNCATED), (Stop.OTHER, ReplyStatus.FAILED)],
)
@pytest.mark.parametrize("reason", ["", "the vendor's words"])
def test_what_did_not_end_by_itself_is_no_vote_and_no_fallback_is_asked(stop: Stop, status: ReplyStatus, reason: str) -> None:
    async def main() -> None:
        house = a_house(replace(ANSWER, stop=stop, reason=reason))
        reply = await house.panel(house.line(), house.line(model="other")).ask(ASK)
        assert (reply.status, reply.text) == (status, "")
        assert reply.reason == (reason or f"it stopped with {stop.value}")
        assert len(house.shop.model.calls) == 1

    run(main())


def test_who_watches_sees_every_prompt_word_for_word() -> None:
    async def main() -> None:
        house = a_house()
        house.watcher = Watching()
        await asked(house)
        (seen,) = house.watcher.seen
        (call,) = house.shop.model.calls
        assert seen.fields["event"] == "prompted"
        assert seen.fields["prompt"] == f"{call.system}\n{call.prefix}\n{call.suffix}"

    run(main())


# Empty chairs, caps, fallbacks


def test_an_empty_chair_says_why_and_nobody_is_asked() -> None:
    async def main() -> None:
        house = a_house()
        reply = await house.panel(vacant="ONE_KEY is not set").ask(ASK)
        assert (reply.status, reply.reason) == (ReplyStatus.FAILED, "ONE_KEY is not set")
        assert house.shop.ledger.deeds == []

    run(main())


def test_a_moderator_sits_apart_and_only_where_somebody_sits_there() -> None:
    async def main() -> None:
        house = a_house()
        judge = a_seat("moderator")
        seated = house.panel(house.line(), moderator=Sitting(judge, (house.line(model="judge"),)))
        assert (seated.table.seats, seated.table.moderator) == ((CRITIC,), judge)
        assert (await seated.ask(replace(ASK, seat=judge))).model == "one:judge"
        assert house.panel(house.line(), moderator=Sitting(judge, (), "no key")).table.moderator is None

    run(main())


GIVES_WAY = {
    Fault.OVERLOADED, Fault.RATE_LIMITED, Fault.SERVER, Fault.NETWORK, Fault.UNREADABLE, Fault.SPENT, Fault.DENIED,
    Fault.NO_MODEL,
}  # fmt: skip


@pytest.mark.parametrize("fault", list(Fault))
def test_a_fallback_answers_where_the_provider_was_the_trouble_and_only_there(fault: Fault) -> None:
    async def main() -> None:
        house = a_house(failing(fault), *([failing(fault)] if fault is Fault.TOO_LONG else []))
        second = Model()
        reply = await house.panel(house.line(), Line(house.shop.another("two", second), "n")).ask(ASK)
        assert bool(second.calls) is (fault in GIVES_WAY)
        if fault in GIVES_WAY:
            assert (reply.status, reply.model) == (ReplyStatus.OK, "two:n")
            assert reply.usage.calls == 2, "what the first one cost is on the bill too"
        else:
            status = ReplyStatus.TIMEOUT if fault is Fault.TIMEOUT else ReplyStatus.FAILED
            assert (reply.status, reply.reason, reply.model) == (status, "it failed", "one:m")

    run(main())


def test_fallbacks_are_asked_in_order_and_the_last_failure_is_told() -> None:
    async def main() -> None:
        house = a_house(failing(Fault.SERVER, "one is down"))
        models = [Model(failing(Fault.DENIED, "two says no")), Model(failing(Fault.NO_MODEL, "three does not know it"))]
        lines = [Line(house.shop.another(name, model), "n") for name, model in zip(("two", "three"), models, strict=True)]
        reply = await house.panel(house.line(), *lines).ask(ASK)
        assert (reply.status, reply.reason, reply.model) == (ReplyStatus.FAILED, "three does not know it", "three:n")
        assert [len(model.calls) for model in (house.shop.model, *models)] == [1, 1, 1]

    run(main())


def test_a_provider_that_is_out_for_the_run_is_not_asked_before_its_fallback_again() -> None:
    async def main() -> None:
        house = a_house(failing(Fault.SPENT))
        second = Model()
        panel = house.panel(house.line(), Line(house.shop.another("two", second), "n"))
        replies = [await panel.ask(replace(ASK, subject=f"P{number}")) for number in range(3)]
        assert [reply.model for reply in replies] == ["two:n"] * 3
        assert len(house.shop.model.calls) == 1

    run(main())


def test_what_a_budget_forbids_is_capped_and_no_fallback_gets_round_it() -> None:
    async def main() -> None:
        house = a_house(cost_usd=0.05)
        second = Model()
        cheaper = Line(house.shop.another("two", second), "n", max_output_tokens=100)
        reply = await house.panel(house.line(), cheaper).ask(ASK)
        assert reply.status is ReplyStatus.CAPPED
        assert "limits.cost_usd" in reply.reason
        assert house.shop.model.calls == second.calls == []

    run(main())


def test_a_cap_in_the_middle_of_look_ups_keeps_what_was_spent_and_used() -> None:
    async def main() -> None:
        house = a_house(replace(wishing(), tokens=Tokens(input=0, output=90_000)), cost_usd=1.0)
        reply = await asked(house, tools=Drawer(), steps=3, max_output_tokens=20_000)
        assert reply.status is ReplyStatus.CAPPED
        assert reply.usage.output_tokens == 90_000
        assert len(reply.tools) == 2

    run(main())


# What fits


def test_a_prompt_that_was_too_long_is_shortened_once() -> None:
    async def main() -> None:
        house = a_house(failing(Fault.TOO_LONG))
        reply = await asked(house)
        assert reply.status is ReplyStatus.OK
        long, short = house.shop.model.calls
        assert len(short.prefix) <= len(long.prefix) * 0.6
        assert long.prefix.startswith(short.prefix)
        assert reply.unread
        assert sum(len(passage.lines) for passage in reply.unread) == 210 - short.prefix.count("\n")

    run(main())


def test_a_prompt_that_is_too_long_twice_is_given_up_without_a_fallback() -> None:
    async def main() -> None:
        house = a_house(failing(Fault.TOO_LONG), failing(Fault.TOO_LONG, "still too long"))
        reply = await house.panel(house.line(), house.line(model="other")).ask(ASK)
        assert (reply.status, reply.reason) == (ReplyStatus.FAILED, "still too long")
        assert len(house.shop.model.calls) == 2

    run(main())


def test_what_cannot_be_shortened_is_not_asked_about_nothing() -> None:
    """One passage, too long whole: what would be left of it shows nothing of the change."""

    async def main() -> None:
        whole = a_dossier(a_passage("a.py", "some code\n" * 500))
        house = a_house(failing(Fault.TOO_LONG))
        reply = await asked(house, replace(ASK, question=FirstPass(whole)))
        assert reply.status is ReplyStatus.FAILED
        assert len(house.shop.model.calls) == 1

    run(main())


def test_a_window_is_kept() -> None:
    async def main() -> None:
        house = a_house()
        whole = prices.tokens_in(Plain().write(ASK, None).prefix)
        window = 1_000 + int(whole * 0.6)
        reply = await asked(house, context_window=window, max_output_tokens=1_000)
        (call,) = house.shop.model.calls
        taken = prices.tokens_in(call.system + call.prefix + call.suffix)
        assert 0 < taken <= whole * 0.6 / 1.2
        assert reply.unread

    run(main())


def test_a_seat_with_little_room_is_shown_little() -> None:
    async def main() -> None:
        seat = replace(CRITIC, room=500)
        house = a_house()
        reply = await house.panel(house.line(), seat=seat).ask(replace(ASK, seat=seat))
        assert house.scribe.rooms == [500]
        assert 0 < len(reply.unread) < 10

    run(main())


def test_without_room_for_anything_nobody_is_asked_but_the_fallback() -> None:
    async def main() -> None:
        house = a_house()
        narrow = house.line(context_window=1_024, max_output_tokens=1_000)
        reply = await house.panel(narrow).ask(ASK)
        assert (reply.status, reply.reason) == (ReplyStatus.FAILED, "one:m has no room or time for any of it")
        assert house.shop.ledger.deeds == []
        wide = Line(house.shop.another("two", Model()), "n")
        assert (await house.panel(narrow, wide).ask(ASK)).model == "two:n"

    run(main())


def test_a_question_without_passages_is_asked() -> None:
    async def main() -> None:
        house = a_house()
        empty = replace(ASK, question=FirstPass(Dossier((), DOSSIER.ledger)))
        assert (await asked(house, empty)).status is ReplyStatus.OK

    run(main())


# Going home


def test_closing_closes_every_provider_once() -> None:
    async def main() -> None:
        house = a_house()
        second = Model()
        judge = Sitting(a_seat("moderator"), (Line(house.shop.another("two", second), "n"),))
        panel = house.panel(house.line(), house.line(model="other"), moderator=judge)
        await panel.close()
        assert (house.shop.model.closed, second.closed) == (1, 1)

    run(main())


def test_a_second_run_makes_no_call_and_takes_the_same_path() -> None:
    async def went(ledger: Ledger) -> tuple[list[Reply], Shop]:
        shop = Shop(Model(wishing(1), ANSWER, failing(Fault.SERVER)), ledger=ledger)
        house, second = House(shop), Model()
        panel = house.panel(house.line(tools=Drawer(), steps=2), Line(shop.another("two", second), "n"))
        replies = [await panel.ask(replace(ASK, subject=f"P{number}")) for number in range(3)]
        shop.model.calls += second.calls
        return replies, shop

    async def main() -> None:
        ledger = Ledger()
        first, before = await went(ledger)
        again, after = await went(ledger)
        assert len(before.model.calls) == 5
        assert after.model.calls == []
        for one, other in zip(first, again, strict=True):
            paid = replace(other.usage, replayed_calls=0, paid_usd=one.usage.paid_usd)
            assert replace(other, usage=paid) == one
            assert (other.usage.replayed_calls, other.usage.paid_usd) == (one.usage.calls, 0.0)
        assert after.budget.spent_usd == pytest.approx(before.budget.spent_usd)

    run(main())
