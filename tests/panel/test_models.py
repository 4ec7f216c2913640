"""The panel of language models: who answers, after how many calls, and what never becomes a vote."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from reviewbot.adapters.panel.local import LocalHost
from reviewbot.adapters.panel.models import ENVELOPE_WORDS, Desk, Line, ModelPanel, Sitting
from reviewbot.adapters.till import prices
from reviewbot.domain.debate import Seat
from reviewbot.domain.evidence import Category, Severity
from reviewbot.ports import (
    Ask,
    Completion,
    CrossExamination,
    Dossier,
    Fault,
    FirstPass,
    Packet,
    Prompt,
    ProviderError,
    Reply,
    ReplyStatus,
    Stop,
    Timings,
    Tokens,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolUse,
)
from reviewbot.testing import MemorySession, Watching, a_dossier, a_passage, a_seat
from tests.panel.test_local import HOST, Notebook, known
from tests.till.paying import ANSWER, Ledger, Model, Said, Shop, run

DOSSIER = a_dossier(*(a_passage(f"file{number}.py", f"some code in file {number}\n" * 20) for number in range(10)))
CRITIC = replace(a_seat("critic"), model="one:m")
ASK = Ask(CRITIC, FirstPass(DOSSIER), subject="P1", timeout_seconds=100.0)
PACKET = Packet("file1.py", 1, 1, "some", Category.CORRECTNESS, Severity.HIGH, "t", "t", "c", "f", ())
LATER = replace(ASK, question=CrossExamination(PACKET, DOSSIER), subject="F1")


class Plain:
    """A scribe that writes as many passages as fit into ``room``, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.rooms: list[int | None] = []

    def write(self, ask: Ask, room: int | None) -> Prompt:
        self.rooms.append(room)
        shown, left = [], room
        passages = ask.question.dossier.passages
        for passage in passages:
            size = prices.tokens_in("\n".join(passage.lines))
            if left is not None and size > left:
                break
            left = None if left is None else left - size
            shown.append(passage)
        prefix = "".join("\n".join(passage.lines) + "\n" for passage in shown)
        words = f"{ask.seat.name} {ask.subject} {ask.round} {ask.attempt} {ask.complaint}"
        return Prompt("system", prefix, words, {"type": "object"}, "claims", passages[len(shown) :])


class Drawer:
    """Tools that answer with their arguments."""

    def __init__(self) -> None:
        self.used: list[ToolCall] = []

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("read_file", "reads a file", {"type": "object"}),)

    def use(self, call: ToolCall) -> ToolResult:
        self.used.append(call)
        return ToolResult(call.id, f"first line of {call.arguments}\nsecond line")


@dataclass
class House:
    """A panel of one seat, whose first line is ``lines[0]``."""

    shop: Shop
    scribe: Plain = field(default_factory=Plain)
    session: MemorySession = field(default_factory=MemorySession)
    watcher: Watching | None = None

    def panel(self, *lines: Line, seat: Seat = CRITIC, vacant: str = "", moderator: Sitting | None = None) -> ModelPanel:
        desk = Desk(self.scribe, self.shop.till, self.session, "high", self.watcher)
        return ModelPanel([Sitting(seat, lines, vacant)], moderator, desk)

    def line(self, **changes: Any) -> Line:
        return replace(Line(self.shop.counter, "m"), **changes)


def a_house(*said: Said, **shop: Any) -> House:
    return House(Shop(Model(*said), **shop))


def asked(house: House, ask: Ask = ASK, **line: Any) -> Awaitable[Reply]:
    return house.panel(house.line(**line)).ask(ask)


def failing(fault: Fault, message: str = "it failed") -> ProviderError:
    return ProviderError(fault, message)


def wishing(number: int = 1) -> Completion:
    """A model that wants to look something up first."""
    calls = tuple(ToolCall(f"c{number}.{index}", "read_file", f'{{"path": "{number}.{index}"}}') for index in range(2))
    return Completion(Stop.TOOLS, tokens=Tokens(input=100, output=10), tool_calls=calls, opaque=f"turn {number}")


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


# Looking things up


def test_a_model_looks_things_up_before_it_answers() -> None:
    async def main() -> None:
        tools = Drawer()
        house = a_house(wishing(1), wishing(2))
        reply = await asked(house, tools=tools, steps=4)
        assert reply.status is ReplyStatus.OK
        assert reply.tools[0] == ToolUse("read_file", '{"path": "1.0"}', 'first line of {"path": "1.0"}')
        assert [use.arguments for use in reply.tools] == [call.arguments for call in tools.used]
        assert len(reply.tools) == 4
        assert (reply.usage.calls, reply.usage.input_tokens) == (3, 2_200)
        calls = house.shop.model.calls
        assert [len(call.exchanges) for call in calls] == [0, 1, 2]
        first, second = calls[2].exchanges
        assert (first.opaque, second.opaque) == ("turn 1", "turn 2")
        assert [result.call_id for result in second.results] == ["c2.0", "c2.1"]
        assert [wanted.step for wanted in house.shop.ledger.wanted] == [0, 1, 2]
        assert len({wanted.key for wanted in house.shop.ledger.wanted}) == 3
        assert all(call.tools == tools.specs for call in calls), "offered always: they stand before the prefix"
        assert {(call.system, call.prefix, call.suffix) for call in calls} == {
            (calls[0].system, calls[0].prefix, calls[0].suffix)
        }

    run(main())


@pytest.mark.parametrize("steps", [1, 3])
def test_after_the_last_step_a_model_is_told_to_answer_and_may_still(steps: int) -> None:
    async def main() -> None:
        tools = Drawer()
        house = a_house(*(wishing(number) for number in range(steps + 1)))
        reply = await asked(house, tools=tools, steps=steps)
        assert reply.status is ReplyStatus.OK
        assert len(tools.used) == 2 * steps
        last = house.shop.model.calls[-1].exchanges[-1]
        assert all(result.is_error and "answer now" in result.text for result in last.results)
        assert [use.result for use in reply.tools[-2:]] == [result.text for result in last.results]

    run(main())


def test_who_goes_on_all_the_same_gave_no_answer() -> None:
    async def main() -> None:
        house = a_house(*(wishing(number) for number in range(9)))
        second = Model()
        reply = await house.panel(house.line(tools=Drawer(), steps=2), Line(house.shop.another("two", second), "n")).ask(ASK)
        assert (reply.status, reply.reason) == (ReplyStatus.FAILED, "it went on using tools after 2 steps")
        assert len(house.shop.model.calls) == 4
        assert reply.usage.calls == 4
        assert second.calls == []

    run(main())


def test_a_flood_of_look_ups_is_no_answer_and_none_of_them_is_made() -> None:
    async def main() -> None:
        tools = Drawer()
        flood = replace(wishing(), tool_calls=tuple(ToolCall(f"c{n}", "read_file", f'{{"start": {n}}}') for n in range(5_000)))
        reply = await asked(a_house(flood), tools=tools, steps=4)
        assert (reply.status, reply.reason) == (ReplyStatus.FAILED, "it asked for 5000 look-ups at once")
        assert tools.used == []

    run(main())


def test_a_wish_for_tools_that_were_not_offered_is_no_answer() -> None:
    async def main() -> None:
        reply = await asked(a_house(wishing()))
        assert reply.status is ReplyStatus.FAILED

    run(main())


def test_a_long_history_of_look_ups_is_made_short() -> None:
    class Wordy(Drawer):
        def use(self, call: ToolCall) -> ToolResult:
            return ToolResult(call.id, "word " * 6_000)

    async def main() -> None:
        house = a_house(*(wishing(number) for number in range(4)))
        await asked(house, tools=Wordy(), steps=8)
        oldest = house.shop.model.calls[-1].exchanges[0]
        assert all(len(result.text) < 1_000 for result in oldest.results)

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


# Local models


def at_pace(house: House, *, read: float = 100.0, write: float = 10.0) -> Line:
    host = LocalHost(HOST, Notebook(known(read=read, write=write, load=0.0)))
    return house.line(host=host)


def test_a_local_model_is_asked_for_what_it_can_do_in_time() -> None:
    async def main() -> None:
        house = a_house()
        line = at_pace(house)
        allowance = line.host.allowance("m", 100.0)  # type: ignore[union-attr]
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
        assert not line.host.turn.locked()  # type: ignore[union-attr]

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
