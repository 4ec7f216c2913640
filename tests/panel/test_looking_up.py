"""A panelist that looks things up before it answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.adapters.panel.models import Line
from reviewbot.ports import (
    ReplyStatus,
    ToolCall,
    ToolResult,
    ToolUse,
)
from tests.panel.house import ASK, Drawer, a_house, asked, wishing
from tests.till.paying import Model, run


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
