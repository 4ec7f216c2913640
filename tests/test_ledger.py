"""Calls that are paid for once: claims of tasks and processes, living and dead."""

import asyncio
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from reviewbot.concurrency import run_all
from reviewbot.llm.client import Connection, ModelClient
from reviewbot.llm.ledger import Lease, Ledger, Recorded, SqlLedger
from reviewbot.llm.prices import Budget, Prices
from reviewbot.llm.provider import Account, ModelReply, ModelRequest, ProviderError, ToolCall, Usage
from reviewbot.llm.providers.openai import OpenAI
from reviewbot.store.database import Store, open_store
from reviewbot.store.sessions import Subject, load_session, start_session

pytest_plugins = ["postgres"]

SUBJECT = Subject(project="here", target="HEAD", version="1", head_tree="abc")
REQUEST = ModelRequest(
    **{"provider": "openai", "model": "gpt", "label": "critic/first_pass"},
    **{"prefix": "a change", "question": "what is wrong?"},
    schema={"type": "object"},
)
REPLY = ModelReply(text="nothing", usage=Usage(input_tokens=7, output_tokens=1))
REFUSAL = ProviderError("the model refused", fault="refused")
ODD = "a\x00b\ud800c\udfffd\x1a0041\U0001f600"
WRITTEN = "a\\x00b\\ud800c\\udfffd\x1a0041\U0001f600"

# A process that claims a request, says what it got, and waits for a line before it settles.
PROCESS = """
import asyncio, sys
from pathlib import Path
import msgspec
from reviewbot.llm.ledger import Lease
from reviewbot.llm.provider import ModelReply, ModelRequest
from reviewbot.llm.ledger import SqlLedger
from reviewbot.store.database import open_store
from reviewbot.store.sessions import Subject, start_session

async def main(url, folder, subject, request):
    store = open_store(url, Path(folder))
    session = store.run(start_session, msgspec.json.decode(subject, type=Subject), "2026-01-01")
    ledger = SqlLedger(store, session)
    found = await ledger.claim(msgspec.json.decode(request, type=ModelRequest), 500)
    print(type(found).__name__, flush=True)
    if isinstance(found, Lease):
        sys.stdin.readline()
        await ledger.settle(found, ModelReply(text="of a process", usage=None), 20, 1.5)
    store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def new_ledger(store: Store, *, fresh: bool = False) -> SqlLedger:
    return SqlLedger(store, store.run(start_session, SUBJECT, "2026-01-01", fresh=fresh))


def start_process(url: str, folder: Path) -> subprocess.Popen[str]:
    values = [msgspec.json.encode(value).decode() for value in (SUBJECT, REQUEST)]
    command = (sys.executable, "-c", PROCESS, url, folder, *values)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, cwd=Path(__file__).parents[1], text=True, **pipes)


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


async def claimed(ledger: Ledger, request: ModelRequest = REQUEST, worst: int = 100) -> Lease:
    found = await ledger.claim(request, worst)
    assert isinstance(found, Lease)
    return found


async def recorded(ledger: Ledger, request: ModelRequest = REQUEST) -> Recorded:
    found = await ledger.claim(request, 100)
    assert isinstance(found, Recorded)
    return found


async def ask(ledger: Ledger, reply: ModelReply = REPLY, cost: int = 20) -> None:
    await ledger.settle(await claimed(ledger), reply, cost, 1.5)


def test_a_session_has_a_turn_for_each_call_whether_it_was_recorded_or_not(store: Store) -> None:
    async def main() -> None:
        first, second = new_ledger(store), new_ledger(store)
        await ask(first)
        other = replace(REQUEST, label="optimizer/first_pass", model="other")
        await first.fail(await claimed(first, other), 3, REFUSAL)
        for _ in range(2):
            assert await recorded(second) == Recorded(reply=REPLY, cost=20)
        for ledger in (first, second):  # a failure that is kept is the outcome for everybody
            expected = Recorded(fault="refused", message="the model refused", cost=3)
            assert await recorded(ledger, other) == expected

    asyncio.run(main())
    record = store.run(load_session, 1)
    assert record
    first, failed = record.turns
    assert (first.agent, first.phase, first.provider) == ("critic", REQUEST.label, "openai")
    assert (first.cost, first.seconds, first.was_recorded) == (20, 1.5, False)
    assert '"what is wrong?"' in first.request
    assert '"nothing"' in first.reply
    assert (failed.agent, failed.model, failed.reply) == ("optimizer", "other", "")
    assert (failed.fault, failed.message, failed.cost) == ("refused", "the model refused", 3)
    record = store.run(load_session, 2)
    assert record
    turns = [(turn.was_recorded, turn.cost, turn.seconds) for turn in record.turns]
    assert turns == [(True, 20, 0), (True, 3, 0)]


def test_a_failure_that_is_not_kept_leaves_its_cost_alone(store: Store) -> None:
    async def main() -> None:
        ledger = new_ledger(store)
        for cost, lost in ((0, 0), (7, 7), (0, 7), (5, 12)):
            await ledger.fail(await claimed(ledger), cost)
            claim = await claimed(ledger)
            assert claim.lost == lost
            # Who waits makes the call if the first one fails.
            waiting = asyncio.create_task(claimed(ledger))
            await asyncio.sleep(0.02)
            await ledger.fail(claim, 0)
            await ledger.fail(await waiting, 0)
        await ask(ledger)
        assert (await recorded(ledger)).cost == 32

    asyncio.run(main())
    record = store.run(load_session, 1)
    assert record
    assert [turn.cost for turn in record.turns] == [32]


def test_twenty_calls_settle_while_as_many_tasks_wait(
    url: str, tmp_path: Path, store: Store
) -> None:
    requests = [replace(REQUEST, question=str(number)) for number in range(20)]

    async def main() -> None:
        other = open_store(url, tmp_path)
        ledgers = [new_ledger((store, other)[number % 2]) for number in range(20)]
        claims = await run_all(*map(claimed, ledgers, requests))
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            waiting = [
                group.create_task(recorded(ledger, request))
                for ledger, request in zip(reversed(ledgers), requests, strict=True)
            ]
            await asyncio.sleep(0.1)
            assert not any(task.done() for task in waiting)
            for number, claim in enumerate(claims):
                reply = ModelReply(text=str(number), usage=None)
                group.create_task(ledgers[number].settle(claim, reply, number, 0))
        replies = [task.result().reply for task in waiting]
        assert replies == [ModelReply(text=str(number), usage=None) for number in range(20)]
        other.close()

    asyncio.run(main())


async def cancel(task: asyncio.Task[Any], turns: int) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_task_that_is_cancelled_leaves_no_claim_and_loses_no_reply(store: Store) -> None:
    async def main() -> None:
        ledger = new_ledger(store)
        for turns in (1, 2):
            request = replace(REQUEST, question=f"{turns}?")
            await cancel(asyncio.create_task(ledger.claim(request, 100)), turns)
            async with asyncio.timeout(5):
                assert (await claimed(ledger, request)).lost == 0
        claim = await claimed(ledger)
        await cancel(asyncio.create_task(ledger.settle(claim, REPLY, 20, 1)), 1)
        assert (await recorded(ledger)).reply == REPLY

    asyncio.run(main())


def test_replies_from_before_a_fresh_session_do_not_count_for_it(store: Store) -> None:
    new = ModelReply(text="something", usage=None)

    async def main() -> None:
        await ask(new_ledger(store))
        fresh = new_ledger(store, fresh=True)
        claim = await claimed(fresh)
        # The reply that is there counts for others until there is a newer one.
        assert (await recorded(new_ledger(store))).reply == REPLY
        await fresh.settle(claim, new, 20, 1)
        assert (await recorded(fresh)).reply == new
        assert (await recorded(new_ledger(store))).reply == new
        await claimed(new_ledger(store, fresh=True))

    asyncio.run(main())


def test_a_rejected_reply_counts_until_its_session_has_ended(store: Store) -> None:
    again = replace(REQUEST, label="critic/first_pass/again")

    async def main() -> None:
        first = new_ledger(store)
        for request in (REQUEST, again):
            await first.settle(await claimed(first, request), REPLY, 20, 1.5)
        await first.reject(REQUEST.label, again.label)
        beside = new_ledger(store)  # both take one course
        for ledger in (first, beside):
            assert await recorded(ledger) == Recorded(reply=REPLY, cost=20)
        await first.finish("{}")
        assert (await recorded(beside)).reply == REPLY
        await beside.finish("{}")
        later, other = new_ledger(store), new_ledger(store)
        claim = await claimed(later)
        waiting = asyncio.create_task(recorded(other))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        new = replace(REPLY, text="new")
        await later.settle(claim, new, 30, 1.5)
        assert await waiting == Recorded(reply=new, cost=30)
        await later.settle(await claimed(later, again), new, 30, 1.5)
        await later.reject(again.label, again.label)
        await later.finish("{}")
        await other.finish("{}")
        last = new_ledger(store)
        assert (await recorded(last)).reply == new
        await last.fail(await claimed(last, again), 0)
        await claimed(new_ledger(store, fresh=True))

    asyncio.run(main())
    record = store.run(load_session, 1)
    assert record
    assert ["nothing" in turn.reply for turn in record.turns] == [True, True]


def test_an_unfinished_session_keeps_a_reply_that_it_rejected(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        died = new_ledger(stores[0])
        await ask(died)
        await died.reject(REQUEST.label, "")
        stores[0].close()
        resumed = new_ledger(stores[1])
        assert (await recorded(resumed)).reply == REPLY
        await resumed.reject(REQUEST.label, "")
        await resumed.finish("{}")
        await claimed(new_ledger(stores[1]))

    stores = [open_store(url, tmp_path) for _ in range(2)]
    asyncio.run(main())
    stores[1].close()


def test_any_text_is_recorded_and_replies_survive(store: Store) -> None:
    request = replace(REQUEST, question=ODD, label=ODD, model=ODD)
    calls = (ToolCall(id="1", name=ODD, arguments=ODD),)
    reply = ModelReply(text=ODD, calls=calls, usage=None, native=[ODD])

    async def main() -> None:
        ledger = new_ledger(store)
        await ledger.settle(await claimed(ledger, request), reply, 1, 1)
        assert (await recorded(ledger, request)).reply == reply
        await ledger.fail(await claimed(ledger), 1, ProviderError(ODD, fault="refused"))
        assert (await recorded(ledger)).message == WRITTEN

    asyncio.run(main())
    record = store.run(load_session, 1)
    assert record
    assert (record.turns[0].phase, record.turns[0].model) == (WRITTEN, WRITTEN)


def test_two_processes_that_start_at_once_make_one_call(url: str, tmp_path: Path) -> None:
    """Neither finds a database, and both make its tables."""
    folder = tmp_path / "state"
    with start_process(url, folder) as one, start_process(url, folder) as other:
        for process in (one, other):
            assert process.stdin
            process.stdin.write("\n")
            process.stdin.flush()
        assert sorted(map(read_line, (one, other))) == ["Lease", "Recorded"]


@pytest.mark.parametrize("is_taken_over", [False, True])
def test_several_that_claim_at_once_make_one_call(
    url: str, tmp_path: Path, *, is_taken_over: bool
) -> None:
    requests = [replace(REQUEST, question=f"Question {number}") for number in range(9)]

    async def main() -> None:
        if is_taken_over:
            dead = open_store(url, tmp_path)
            for request in requests:
                await claimed(new_ledger(dead), request)
            dead.close()  # as if its process died
        for number, request in enumerate(requests):
            claims = [asyncio.ensure_future(ledger.claim(request, 100)) for ledger in ledgers]
            done, others = await asyncio.wait(claims, return_when=asyncio.FIRST_COMPLETED)
            (first,) = [claim for claim in done if isinstance(await claim, Lease)]
            lease: Any = await first
            await ledgers[claims.index(first)].settle(lease, REPLY, 20, 1)
            assert not [claim for claim in others if isinstance(await claim, Lease)], number

    stores = [open_store(url, tmp_path) for _ in range(4)]
    ledgers = [new_ledger(store) for store in stores]
    asyncio.run(main())
    for store in stores:
        store.close()


def test_the_call_of_a_killed_process_is_made_again_and_its_worst_price_is_lost(
    url: str, tmp_path: Path, store: Store
) -> None:
    async def main() -> None:
        bystander = new_ledger(store)
        dead = start_process(url, tmp_path)
        with dead:
            assert await asyncio.to_thread(read_line, dead) == "Lease"
            waiting = asyncio.create_task(claimed(bystander, worst=60))
            await asyncio.sleep(0.2)
            assert not waiting.done()
            dead.send_signal(signal.SIGKILL)
        claim = await asyncio.wait_for(waiting, 5)
        assert claim.lost == 500
        resumed = store.run(start_session, SUBJECT, "2026-01-02")
        assert resumed.started == "2026-01-01"  # by the dead process
        await bystander.settle(claim, REPLY, 20, 1)
        assert (await recorded(SqlLedger(store, resumed))).cost == 520

    asyncio.run(main())


def test_nobody_waits_for_another_claim_longer_than_the_review_takes(tmp_path: Path) -> None:
    async def main() -> None:
        async def open_ledger() -> Ledger:
            return new_ledger(stores[0])

        account = Account(name=REQUEST.provider, base_url="http://127.0.0.1:1/v1")
        connection = Connection(open=partial(OpenAI, account), is_local=True)
        budget, ends_at = Budget(1), time.monotonic()
        client = ModelClient(
            {REQUEST.provider: connection}, open_ledger, Prices({}), budget, ends_at=ends_at
        )
        await claimed(new_ledger(stores[1]))
        with pytest.raises(ProviderError, match="the time was over"):
            await asyncio.wait_for(client.call(REQUEST), 10)
        await client.close()

    stores = [open_store("", tmp_path) for _ in range(2)]
    asyncio.run(main())
    for store in stores:
        store.close()


@pytest.mark.parametrize("fails", [False, True])
def test_the_first_reply_counts_where_an_owner_was_taken_for_dead(
    tmp_path: Path, fails: bool
) -> None:
    store, other = (open_store("", tmp_path) for _ in range(2))
    second = ModelReply(text="second", usage=None)

    async def main() -> None:
        slow, quick = new_ledger(other), new_ledger(store)
        claim = await claimed(slow)
        (tmp_path / "owners" / f"{other.owner.id}.lock").unlink()
        again = await claimed(quick)
        await (slow.fail(claim, 0) if fails else slow.settle(claim, REPLY, 20, 1))
        still = asyncio.create_task(new_ledger(store).claim(REQUEST, 100))
        await asyncio.sleep(0.1)
        assert still.done() != fails
        await quick.settle(again, second, 20, 1)
        found = await still
        assert isinstance(found, Recorded)
        assert found.reply == (second if fails else REPLY)

    asyncio.run(main())
    for opened in (store, other):
        opened.close()
