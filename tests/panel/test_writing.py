"""A panelist that writes code before it answers: with one tool more, in a tree of its own, and the same again when resumed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters.panel.anthropic import Anthropic
from reviewbot.adapters.panel.looking import LONGEST_ARGUMENTS, MAKING_STEPS, MOST_LOOKS
from reviewbot.adapters.panel.models import Line
from reviewbot.adapters.panel.ollama import Ollama
from reviewbot.adapters.till import record
from reviewbot.adapters.tools.code import SPEC, Workshop
from reviewbot.domain.change import Revisions
from reviewbot.domain.repair import CodeVersion, Edit, Goal
from reviewbot.ports import (
    Appraisal,
    Arbitration,
    Ask,
    Completion,
    Drafting,
    Fault,
    Hit,
    ModelCall,
    Provider,
    Refinement,
    Reply,
    ReplyStatus,
    Shown,
    Stop,
    Task,
    Tokens,
    ToolCall,
    TreeEntry,
)
from reviewbot.testing import MemorySession
from tests.fakes import Models, Wish, uses
from tests.panel.asking import account
from tests.panel.house import ASK, DOSSIER, LATER, PACKET, Drawer, House, a_house, asked, failing
from tests.till.paying import ANSWER, Model, Shop, run

TASK = Task("F1", Goal.FIX, "mend it", PACKET, paths=frozenset({"a.py", "b.py"}))
DRAFTING = Drafting(TASK, DOSSIER, (), "W1")
REFINEMENT = Refinement(TASK, DOSSIER, (), "W2", Shown("A", "the patch", "it passed"))
WRITE = replace(ASK, question=DRAFTING, subject="F1")
UPDATE = {"action": "update", "path": "a.py", "find": "x = 1", "replace": "x = 2"}


KEYS_BEFORE = {"P1": "8231743494a7a549", "F1": "c6fe41c4ddc74f43"}
"""How keys of calls began before there was a tool that writes: of a first pass, of a cross-examination."""


FILES = {"a.py": b"x = 1\n", "b.py": b"y = 1\n", "c.py": b"z = 1\n"}


class Head:
    """A tree in memory, as ``Objects`` and ``Search``."""

    def blob(self, object_id: str) -> bytes:
        return FILES[object_id]

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        return tuple(TreeEntry(path, 0o100644, path, len(content)) for path, content in FILES.items())

    def export(self, tree: str, into: Path) -> tuple[str, ...]:
        raise AssertionError("nothing is written out")

    def find(self, tree: str, words: tuple[str, ...], *, whole: bool, most: int) -> tuple[Hit, ...]:
        return ()


def a_workshop() -> Workshop:
    return Workshop(Head(), Revisions("range", "b", "h", "base", "head"), Head())


def writing(house: House, ask: Ask = WRITE, **line: object) -> asyncio.Future[Reply]:
    return asked(house, ask, **{"tools": Drawer(), "steps": 4, "workshop": a_workshop(), **line})  # type: ignore[return-value]


def calling(*calls: dict[str, object], name: str = "code", turn: int = 1) -> Completion:
    """A model that wants to use a tool, once or several times."""
    wishes = tuple(ToolCall(f"c{turn}.{index}", name, json.dumps(given)) for index, given in enumerate(calls))
    return Completion(Stop.TOOLS, tokens=Tokens(input=100, output=10), tool_calls=wishes, opaque=f"turn {turn}")


def version(number: int, path: str, content: bytes | None) -> CodeVersion:
    return CodeVersion(number, path, content, "critic")


# What is offered


@pytest.mark.parametrize("question", [DRAFTING, REFINEMENT], ids=["drafting", "refinement"])
def test_who_is_asked_for_code_gets_the_tool_that_writes_beside_the_others(question: Drafting | Refinement) -> None:
    async def main() -> None:
        house = a_house(calling(UPDATE))
        reply = await writing(house, replace(WRITE, question=question))
        assert (reply.status, reply.written) == (ReplyStatus.OK, (version(1, "a.py", b"x = 2\n"),))
        assert [call.tools for call in house.shop.model.calls] == [(*Drawer().specs, SPEC)] * 2
        assert [use.name for use in reply.tools] == ["code"]

    run(main())


def test_nobody_else_gets_it_and_every_other_call_is_as_it_was() -> None:
    """Byte for byte: the calls that were paid for before are found again."""

    def key(call: ModelCall) -> str:
        return record.key(call, model="one:m", seat="critic", attempt=1)

    async def main() -> None:
        appraisal = Appraisal(TASK, DOSSIER, (Shown("A", "p", "t"),))
        arbitration = Arbitration(TASK, DOSSIER, Shown("A", "p", "t"), ("harm",))
        judging = (replace(WRITE, question=question, subject="F2") for question in (appraisal, arbitration))
        others = [ASK, LATER, *judging]
        for ask in others:
            with_it, without = a_house(), a_house()
            await writing(with_it, ask)
            await asked(without, ask, tools=Drawer(), steps=4)
            (seen,), (before,) = with_it.shop.model.calls, without.shop.model.calls
            assert (seen, key(seen)) == (before, key(before))
            assert seen.tools == Drawer().specs
            assert key(seen)[:16] == KEYS_BEFORE.get(ask.subject, key(seen)[:16])

    run(main())


def test_who_may_not_look_things_up_does_not_write_either() -> None:
    async def main() -> None:
        house = a_house(calling(UPDATE))
        reply = await asked(house, WRITE, workshop=a_workshop())
        assert house.shop.model.calls[0].tools == ()
        assert (reply.status, reply.written) == (ReplyStatus.FAILED, ())

    run(main())


def test_an_answer_with_code_in_it_may_be_as_long_as_one_about_the_whole_change() -> None:
    async def main() -> None:
        house = a_house()
        for ask in (ASK, WRITE, LATER):
            await writing(house, ask, max_output_tokens=4_000)
        assert [call.max_output_tokens for call in house.shop.model.calls] == [4_000, 4_000, 2_000]

    run(main())


# What is written


def test_writes_come_in_order_and_failures_are_none() -> None:
    async def main() -> None:
        script = [
            calling(UPDATE, {"action": "delete", "path": "b.py"}),
            calling({"action": "update", "path": "a.py", "find": "no such", "replace": ""}, turn=2),
            calling({"action": "restore", "version": 1}, {"action": "restore", "version": 0, "path": "b.py"}, turn=3),
        ]
        house = a_house(*script)
        reply = await writing(house)
        assert reply.written == (version(1, "a.py", b"x = 2\n"), version(2, "b.py", None), version(3, "b.py", b"y = 1\n"))
        last = house.shop.model.calls[-1].exchanges
        assert [result.is_error for step in last for result in step.results] == [False, False, True, True, False]

    run(main())


@pytest.mark.parametrize(
    "call",
    [
        {"action": "create", "path": "../../etc/cron.d/x", "content": "x"},
        {"action": "create", "path": ".git/hooks/pre-commit", "content": "x"},
        {"action": "update", "path": "c.py", "find": "z = 1", "replace": "z = 2"},
        {"action": "delete", "path": "c.py"},
        {"action": "create", "path": "new.py", "content": "x"},
        {"action": "restore", "version": 0, "path": "c.py"},
    ],
)
def test_a_model_that_tries_to_get_out_is_told_so_and_writes_nothing(call: dict[str, object]) -> None:
    async def main() -> None:
        house = a_house(calling(call))
        reply = await writing(house)
        assert (reply.status, reply.written) == (ReplyStatus.OK, ())
        (step,) = house.shop.model.calls[-1].exchanges
        assert step.results[0].is_error

    run(main())


def test_a_candidate_is_where_a_refinement_begins() -> None:
    async def main() -> None:
        question = replace(REFINEMENT, files=(Edit("a.py", b"x = 1 + 1\n"),))
        house = a_house(calling({"action": "update", "path": "a.py", "find": "1 + 1", "replace": "2"}))
        reply = await writing(house, replace(WRITE, question=question))
        assert reply.written == (version(1, "a.py", b"x = 2\n"),)

    run(main())


def test_a_long_write_is_short_in_the_record_and_whole_as_a_version() -> None:
    async def main() -> None:
        text = "x = 2\n" * 2_000
        house = a_house(calling({"action": "update", "path": "a.py", "content": text}))
        reply = await writing(house)
        assert reply.written[0].content == text.encode()
        assert len(reply.tools[0].arguments) < LONGEST_ARGUMENTS + 50
        assert reply.tools[0].arguments.endswith("more characters⟩")

    run(main())


# Steps and look-ups


def test_who_writes_may_take_more_steps_and_not_without_end() -> None:
    async def main() -> None:
        reads = [calling({"action": "read", "path": "a.py"}, turn=number) for number in range(MAKING_STEPS)]
        reply = await writing(a_house(*reads))
        assert (reply.status, len(reply.tools)) == (ReplyStatus.OK, MAKING_STEPS)
        late = a_house(*reads, calling(UPDATE, turn=90))
        reply = await writing(late)
        assert (reply.status, reply.written) == (ReplyStatus.OK, ()), "after the last step nothing is written any more"
        assert "answer now" in late.shop.model.calls[-1].exchanges[-1].results[0].text
        endless = await writing(a_house(*reads, *reads))
        assert (endless.status, endless.reason) == (ReplyStatus.FAILED, f"it went on using tools after {MAKING_STEPS} steps")

    run(main())


def test_a_flood_of_writes_is_no_answer_and_none_of_them_is_made() -> None:
    async def main() -> None:
        for count, written in ((MOST_LOOKS, MOST_LOOKS), (MOST_LOOKS + 1, 0)):
            flood = calling(*({"action": "update", "path": "a.py", "content": f"x = {number + 2}\n"} for number in range(count)))
            reply = await writing(a_house(flood))
            assert len(reply.written) == written
            assert reply.status is (ReplyStatus.OK if written else ReplyStatus.FAILED)

    run(main())


# Beginning again


def test_who_resumes_ends_with_the_same_versions_and_pays_nothing_again() -> None:
    """Also where the run before died in the middle: what was looked up comes from memory, what was written is written again."""

    async def main() -> None:
        script = [
            calling({"path": "a.py"}, name="read_file"),
            calling(UPDATE, {"action": "search", "text": "x = 2"}, turn=2),
            calling({"action": "delete", "path": "b.py"}, turn=3),
            calling({"action": "restore", "version": 2}, turn=4),
        ]
        session = MemorySession()
        first = House(Shop(Model(*script)), session=session)
        drawer = Drawer()
        reply = await writing(first, tools=drawer)
        assert len(reply.written) == 2
        assert len(drawer.used) == 1
        for paid in range(len(first.shop.ledger.kept) + 1):
            kept = dict(list(first.shop.ledger.kept.items())[:paid])
            later = House(Shop(Model(*script[paid:])), session=MemorySession(session.kept))
            later.shop.ledger.kept = kept
            looked = Drawer()
            again = await writing(later, tools=looked)
            assert (again.written, again.text, again.tools) == (reply.written, reply.text, reply.tools)
            assert len(later.shop.model.calls) == len(first.shop.ledger.kept) - paid
            assert looked.used == []

    run(main())


def test_writes_are_not_kept_as_look_ups() -> None:
    async def main() -> None:
        house = a_house(calling(UPDATE))
        await writing(house)
        assert house.session.kept == {}

    run(main())


def test_a_prompt_that_was_too_long_begins_again_with_nothing_written() -> None:
    async def main() -> None:
        house = a_house(calling(UPDATE), failing(Fault.TOO_LONG), calling({"action": "read", "path": "a.py"}, turn=2))
        reply = await writing(house)
        assert (reply.status, reply.written) == (ReplyStatus.OK, ())
        assert "x = 1" in house.shop.model.calls[-1].exchanges[0].results[0].text
        assert len(reply.tools) == 2, "what was tried in vain stays in the record"

    run(main())


def test_a_fallback_begins_with_nothing_written() -> None:
    async def main() -> None:
        house = a_house(calling(UPDATE), failing(Fault.SERVER))
        second = Model(calling({"action": "delete", "path": "b.py"}))
        panel = house.panel(
            house.line(tools=Drawer(), steps=4, workshop=a_workshop()),
            Line(house.shop.another("two", second), "n", tools=Drawer(), steps=4, workshop=a_workshop()),
        )
        reply = await panel.ask(WRITE)
        assert (reply.status, reply.model, reply.written) == (ReplyStatus.OK, "two:n", (version(1, "b.py", None),))

    run(main())


def test_two_at_once_do_not_see_each_others_files() -> None:
    def reading(call: ModelCall) -> Completion:
        text = "".join(result.text for step in call.exchanges for result in step.results)
        return replace(ANSWER, text=json.dumps({"saw": "x = 2" in text}))

    async def main() -> None:
        house = a_house(calling(UPDATE), calling({"action": "read", "path": "a.py"}), reading, reading)
        panel = house.panel(house.line(tools=Drawer(), steps=4, workshop=a_workshop()))
        both = await asyncio.gather(*(panel.ask(replace(WRITE, subject=subject)) for subject in ("F1", "F2")))
        assert [len(reply.written) for reply in both] == [1, 0]
        assert [reply.text for reply in both] == ['{"saw": false}'] * 2

    run(main())


# The dialects


@pytest.mark.parametrize("make", [Anthropic, Ollama], ids=["anthropic", "ollama"])
def test_a_model_on_a_server_writes_by_its_own_protocol(make: Callable[..., Provider]) -> None:
    look, escape = {"action": "read", "path": "a.py"}, {"action": "delete", "path": "../x"}
    steps = [[Wish("code", UPDATE)], [Wish("code", look), Wish("code", escape)]]

    async def main(models: Models) -> Reply:
        provider = make(account(models.url))
        shop = Shop(Model())
        counter = shop.another("real", provider)  # type: ignore[arg-type]  # a provider is a model here
        panel = House(shop).panel(Line(counter, "m", tools=Drawer(), steps=4, workshop=a_workshop()))
        try:
            return await panel.ask(WRITE)
        finally:
            await provider.close()

    with Models(script=uses(steps, '{"claims": []}')) as models:
        reply = asyncio.run(main(models))
    assert models.refused == []
    assert (reply.status, reply.text, reply.written) == (ReplyStatus.OK, '{"claims": []}', (version(1, "a.py", b"x = 2\n"),))
    assert [set(seen.tools) for seen in models.calls] == [{"read_file", "code"}] * 3
    (first, second) = models.calls[-1].exchanges
    assert '"version": 1' in str(first.results)
    assert "x = 2" in str(second.results)
    assert "from the top of the repository, without" in str(second.results)
