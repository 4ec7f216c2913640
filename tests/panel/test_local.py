"""A machine of the user's: asked one at a time, each ask sized by what the ones before it took."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace

import pytest

from reviewbot.adapters.panel.local import LEAST_OUTPUT_TOKENS, MOST_OUTPUT_TOKENS, Allowance, LocalHost
from reviewbot.adapters.till import prices
from reviewbot.adapters.till.till import Capped, Served
from reviewbot.domain.money import Usage
from reviewbot.ports import Completion, Fault, Profile, ProviderError, Stop, Timings, Tokens
from tests.till.paying import CALL, run

HOST = "http://127.0.0.1:11434"
FAST = Timings(load_seconds=4.0, prompt_tokens=2_000, prompt_seconds=10.0, output_tokens=100, output_seconds=5.0)


class Notebook:
    """Profiles, kept in memory."""

    def __init__(self, *known: Profile) -> None:
        self.kept = {(profile.host, profile.model): profile for profile in known}
        self.learnt: list[Profile] = []

    def profile(self, host: str, model: str) -> Profile | None:
        return self.kept.get((host, model))

    def learn(self, profile: Profile) -> None:
        self.learnt.append(profile)
        self.kept[profile.host, profile.model] = profile


def known(read: float = 200.0, write: float = 20.0, load: float = 5.0) -> Profile:
    return Profile(HOST, "m", read, write, load, 7)


def served(timings: Timings | None = FAST, *, seconds: float = 19.0, fault: Fault | None = None, replayed: int = 0) -> Served:
    usage = Usage(calls=1, seconds=seconds, replayed_calls=replayed)
    if fault is not None:
        return Served(None, ProviderError(fault, "it failed"), usage, seconds)
    return Served(Completion(Stop.END, tokens=Tokens(), timings=timings), None, usage, seconds)


def watched(host: LocalHost, outcome: Served) -> Served:
    async def serving() -> Served:
        return outcome

    return run(host.watched(CALL, serving()))


def test_an_answer_teaches_the_pace_and_is_remembered_for_the_next_run() -> None:
    notebook = Notebook()
    host = LocalHost(HOST, notebook)
    assert watched(host, served()) == served()
    (profile,) = notebook.learnt
    assert (profile.host, profile.model, profile.samples) == (HOST, "m", 1)
    assert (profile.prompt_tokens_per_second, profile.output_tokens_per_second, profile.load_seconds) == (200.0, 20.0, 4.0)
    assert LocalHost(HOST, notebook).pace("m").profile() == profile


def test_what_was_predicted_is_kept_beside_what_it_took() -> None:
    notebook = Notebook(known())
    watched(LocalHost(HOST, notebook), served(seconds=19.0))
    ((predicted, real),) = notebook.learnt[0].predictions
    tokens = prices.tokens_in(CALL.system + CALL.prefix + CALL.suffix)
    assert real == 19.0
    assert predicted == pytest.approx(5.0 + tokens / 200.0 + 200 / 20.0)


def test_a_model_is_loaded_once() -> None:
    host = LocalHost(HOST, Notebook(known(load=50.0)))
    before = host.told("slow", "m", 300.0)
    watched(host, served())
    after = host.told("slow", "m", 300.0)
    assert (before.load_seconds, after.load_seconds) == (50.0, 0.0)
    assert after.room > before.room
    assert host.told("slow", "another", 300.0).load_seconds > 0
    assert (after.seat, after.model) == ("slow", "m")
    assert host.allowance("m", 300.0).prompt_tokens == after.room, "told and given are one"


def test_a_slower_answer_makes_the_next_ask_smaller_at_once() -> None:
    host = LocalHost(HOST, Notebook(known(load=0.0)))
    watched(host, served())
    before = host.allowance("m", 240.0)
    slow = replace(FAST, prompt_seconds=40.0, output_seconds=20.0)
    watched(host, served(slow, seconds=64.0))
    after = host.allowance("m", 240.0)
    assert after.prompt_tokens < before.prompt_tokens / 3
    assert after.output_tokens < before.output_tokens


def test_a_time_out_makes_the_next_ask_smaller_too() -> None:
    notebook = Notebook(known(load=0.0))
    host = LocalHost(HOST, notebook)
    before = host.allowance("m", 240.0)
    watched(host, served(fault=Fault.TIMEOUT, seconds=240.0))
    assert host.allowance("m", 240.0).prompt_tokens < before.prompt_tokens
    assert len(notebook.learnt) == 1


@pytest.mark.parametrize(
    "outcome",
    [served(replayed=1), served(replayed=1, fault=Fault.TIMEOUT), served(fault=Fault.TIMEOUT, seconds=0.0)],
    ids=["replayed", "a replayed time-out", "never made"],
)
def test_what_was_not_asked_now_teaches_nothing(outcome: Served) -> None:
    notebook = Notebook()
    host = LocalHost(HOST, notebook)
    before = host.allowance("m", 240.0)
    assert watched(host, outcome) == outcome
    assert notebook.learnt == []
    assert host.allowance("m", 240.0) == before


@pytest.mark.parametrize("outcome", [served(fault=Fault.NETWORK), served(None)], ids=["another failure", "without counters"])
def test_what_says_nothing_of_the_pace_leaves_it(outcome: Served) -> None:
    host = LocalHost(HOST, Notebook(known()))
    before = host.allowance("m", 240.0)
    watched(host, outcome)
    assert host.allowance("m", 240.0) == before


def test_what_a_till_raises_is_raised() -> None:
    notebook = Notebook(known())

    async def serving() -> Served:
        raise Capped("no money")

    with pytest.raises(Capped):
        run(LocalHost(HOST, notebook).watched(CALL, serving()))
    assert notebook.learnt == []


@pytest.mark.parametrize(("write", "expected"), [(20.0, 1_200), (0.5, LEAST_OUTPUT_TOKENS), (500.0, MOST_OUTPUT_TOKENS)])
def test_an_answer_may_take_half_the_time_within_bounds(write: float, expected: int) -> None:
    host = LocalHost(HOST, Notebook(known(write=write)))
    assert host.allowance("m", 120.0).output_tokens == expected


def test_a_machine_that_was_never_measured_gets_a_small_first_question() -> None:
    assert LocalHost(HOST, Notebook()).allowance("m", 120.0) == Allowance(16 * 120, LEAST_OUTPUT_TOKENS)


def test_an_ask_is_sized_when_its_turn_has_come() -> None:
    """The second ask waits for the first, and by then the machine is known to be slow."""

    async def main() -> list[Allowance]:
        host = LocalHost(HOST, Notebook(known(load=0.0)))
        sized: list[Allowance] = []

        async def ask() -> None:
            async with host.turn:
                sized.append(host.allowance("m", 240.0))
                await host.watched(CALL, answer())

        async def answer() -> Served:
            await asyncio.sleep(60.0)
            return served(replace(FAST, prompt_seconds=40.0), seconds=60.0)

        asks: list[Awaitable[None]] = [ask(), ask()]
        await asyncio.gather(*asks)
        return sized

    first, second = run(main())
    assert second.prompt_tokens < first.prompt_tokens / 2


@pytest.mark.parametrize(("turns", "seconds"), [(1, 30.0), (2, 20.0)])
def test_a_host_takes_as_many_at_a_time_as_it_has_turns(turns: int, seconds: float) -> None:
    async def main() -> float:
        host = LocalHost(HOST, Notebook(), turns)

        async def ask() -> None:
            async with host.turn:
                await asyncio.sleep(10.0)

        began = asyncio.get_running_loop().time()
        await asyncio.gather(ask(), ask(), ask())
        return asyncio.get_running_loop().time() - began

    assert run(main()) == seconds
