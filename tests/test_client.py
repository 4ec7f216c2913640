"""Calls: what is retried, what is paid, what is asked instead."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.errors import BudgetExceeded, ModelError
from reviewbot.journal import Journal
from reviewbot.llm.client import (
    POLICIES,
    Connection,
    Limits,
    ModelClient,
    Totals,
    pause_before_next,
)
from reviewbot.llm.ledger import Ledger, record_session
from reviewbot.llm.prices import DOLLAR, TABLE, Budget, Price, Prices
from reviewbot.llm.provider import (
    Account,
    ModelReply,
    ModelRequest,
    ProviderError,
    Tool,
    ToolCall,
    ToolTurn,
    Usage,
)
from reviewbot.llm.providers import connect, find_vendor
from reviewbot.store.sessions import Subject
from tests import fake_openai, test_providers
from tests.vendor_server import Received, Sent, VendorServer, json_answer

PRICE = Price(input=2, output=10)
REQUEST = ModelRequest(
    **{"provider": "one", "model": "big", "label": "critic/first_pass"},
    **{"prefix": "The change.", "question": "What is wrong?"},
    schema={"type": "object", "properties": {"claims": {"type": "array"}}},
)
SUBJECT = Subject(project="here", target="HEAD", version="1")
ANSWER = '{"claims": []}'
CUT = replace(fake_openai.answer(ANSWER), chunks=fake_openai.answer(ANSWER).chunks[:2], cut=True)
FAULTS = {
    "overloaded": fake_openai.error(503, "Overloaded", code="server_is_overloaded"),
    "cut": CUT,
    "HTML": Sent(headers={"content-type": "text/html"}, chunks=(b"<html></html>",)),
    "bad request": fake_openai.error(400, "messages: field required"),
    "denied": fake_openai.error(401, "Incorrect API key provided.", code="invalid_api_key"),
    "no quota": fake_openai.error(429, "Quota exceeded", code="insufficient_quota"),
    "no model": fake_openai.error(404, "The model does not exist", code="model_not_found"),
    "busy": fake_openai.error(429, "Rate limit reached", code="rate_limit_exceeded"),
}


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.llm.client.FIRST_PAUSE", 0.01)


@asynccontextmanager
async def open_client(
    servers: dict[str, VendorServer],
    kept: Journal | Ledger,
    cap: float = 1.0,
    seconds: float = 60,
    price: Price = PRICE,
    **more: Any,
) -> AsyncIterator[ModelClient]:
    """A client of compatible servers, by the names of their providers."""

    def connection(name: str) -> Connection:
        account = Account(name=name, base_url=f"{servers[name].url}/v1", key="secret")
        open_ = partial(connect, find_vendor(name, account.base_url), account)
        return Connection(open=open_, limits=Limits(**more))

    async def open_ledger() -> Ledger:
        return Ledger(kept) if isinstance(kept, Journal) else kept

    prices = Prices({f"{name}:{model}": price for name in servers for model in ("big", "small")})
    connections = {name: connection(name) for name in servers}
    ends_at = time.monotonic() + seconds
    client = ModelClient(connections, open_ledger, prices, Budget(cap), ends_at=ends_at)
    try:
        yield client
    finally:
        await client.close()


def kept_in(folder: Path) -> AbstractAsyncContextManager[Ledger]:
    return record_session("", folder, SUBJECT, (), fresh=False)


def always(sent: Sent) -> Callable[[Received], Sent]:
    return lambda _: sent


def ask(
    script: Callable[[Received], Sent] | Sequence[Sent], times: int = 1, **more: Any
) -> tuple[list[Any], VendorServer, ModelClient]:
    """Ask a server so many different questions, one after another."""

    async def run() -> tuple[list[Any], ModelClient]:
        outcomes: list[Any] = []
        async with open_client({"one": server}, Journal(), **more) as client:
            for number in range(times):
                try:
                    reply = await client.call(replace(REQUEST, question=f"Question {number}"))
                    outcomes.append(reply.text)
                except ModelError as error:
                    outcomes.append(error)
        return outcomes, client

    with VendorServer(script).running() as server:
        outcomes, client = asyncio.run(run())
    return outcomes, server, client


def test_a_fault_is_tried_again_as_often_as_its_policy_says() -> None:
    for fault, requests in (("overloaded", 3), ("cut", 2), ("HTML", 2), ("bad request", 1)):
        outcomes, server, _ = ask(always(FAULTS[fault]))
        assert isinstance(outcomes[0], ProviderError)
        assert len(server.received) == requests == POLICIES[outcomes[0].fault].attempts


def test_an_answer_after_faults_counts_and_what_may_have_been_charged_is_said() -> None:
    cut, busy, good = FAULTS["cut"], FAULTS["overloaded"], fake_openai.answer(ANSWER)
    outcomes, _, _ = ask([busy, cut, good])
    assert isinstance(outcomes[0], ProviderError)  # an answer that broke off is asked for twice
    outcomes, _, client = ask([cut, good])
    assert outcomes == [ANSWER]
    assert client.totals.calls == client.totals.lost_calls == 1
    assert client.totals.cost_usd > PRICE.worst(REQUEST) / DOLLAR
    outcomes, _, _ = ask([busy, good], price=Price(input=0, output=0))  # it is asked again too
    assert outcomes == [ANSWER]


def test_a_provider_without_money_or_with_a_wrong_key_is_not_asked_again() -> None:
    for name in ("no quota", "denied"):
        outcomes, server, _ = ask(always(FAULTS[name]), times=3)
        assert len(server.received) == 1
        assert "not asked again" in str(outcomes[2])


def test_a_model_that_is_not_there_leaves_the_others_of_its_provider() -> None:
    def script(received: Received) -> Sent:
        return FAULTS["no model"] if received.body["model"] == "big" else fake_openai.answer(ANSWER)

    async def run() -> None:
        async with open_client({"one": server}, Journal()) as client:
            for question in ("one", "another"):
                with pytest.raises(ProviderError, match="does not exist"):
                    await client.call(replace(REQUEST, question=question))
            assert (await client.call(replace(REQUEST, model="small"))).text == ANSWER

    with VendorServer(script).running() as server:
        asyncio.run(run())
    assert len(server.received) == 2


def test_a_busy_provider_is_tried_again_ten_times_and_one_that_is_down_is_left_alone() -> None:
    for fault, times, requests in (("busy", 7, 7 + 10), ("overloaded", 5, 5)):
        outcomes, server, _ = ask(always(FAULTS[fault]), times)
        assert len(server.received) == requests, fault
    assert str(outcomes[-1]).startswith("not asked for 30 s after 5 faults in a row: ")
    answers = [FAULTS["busy"], fake_openai.answer(ANSWER)] * 12  # it is not down
    outcomes, _, _ = ask(answers, times=12)
    assert outcomes == [ANSWER] * 12


def test_nobody_waits_for_a_place_longer_than_the_review_takes() -> None:
    started = time.monotonic()
    answer = fake_openai.answer(ANSWER)
    outcomes, server, client = ask(lambda _: answer, times=2, seconds=0.5, requests=1)
    assert (outcomes[0], len(server.received)) == (ANSWER, 1)
    assert outcomes[1].fault == "timeout"
    assert time.monotonic() - started < 5
    assert client.totals.lost_calls == 0


def test_all_calls_wait_as_long_as_the_vendor_asks() -> None:
    later = {"content-type": "application/json", "retry-after": "0.2"}
    busy = replace(FAULTS["busy"], headers=later)
    outcomes, server, _ = ask([busy, fake_openai.answer(ANSWER)])
    assert outcomes == [ANSWER]
    assert server.received[1].at - server.received[0].at >= 0.2


def test_nobody_waits_for_a_vendor_that_asks_for_more_time_than_is_left() -> None:
    later = {"content-type": "application/json", "retry-after": "3600"}
    started = time.monotonic()
    outcomes, server, _ = ask(lambda _: replace(FAULTS["busy"], headers=later), 2, seconds=10)
    assert [outcome.fault for outcome in outcomes] == ["rate_limited"] * 2
    assert (len(server.received), time.monotonic() - started < 5) == (1, True)


def test_a_minute_has_no_more_calls_and_tokens_than_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reviewbot.llm.client.WINDOW", 0.5)
    for limit in ({"requests": 2}, {"tokens": 8_100}):
        _, server, _ = ask(lambda _: fake_openai.answer(ANSWER), times=4, **limit)
        at = [received.at for received in server.received]
        assert at[2] - at[0] >= 0.3  # a request may be on its way for a moment
        assert at[3] - at[1] >= 0.3


def test_a_fallback_answers_and_does_so_next_time_without_the_first_model(tmp_path: Path) -> None:
    """It gets the question without what the first model looked up."""

    async def run() -> tuple[ModelReply, list[str]]:
        servers = {"one": one, "two": two}
        async with kept_in(tmp_path) as ledger, open_client(servers, ledger) as client:
            return await client.call(replace(REQUEST, turns=(turn,)), "two:big"), client.notes

    call = ToolCall(id="1", name="read", arguments="{}")
    turn = ToolTurn(calls=(call,), results=("x",), native={})
    one, two = VendorServer([FAULTS["no model"]]), VendorServer([fake_openai.answer(ANSWER)])
    with one.running(), two.running():
        first, again = asyncio.run(run()), asyncio.run(run())
    assert first == again
    reply, (note,) = first
    assert (reply.text, reply.by) == (ANSWER, ("two", "big"))
    assert note.startswith("critic/first_pass: two:big was asked, because one:big did not answer: ")
    sizes = [len(received.body["messages"]) for received in (*one.received, *two.received)]
    assert sizes == [3, 1]


@pytest.mark.parametrize("fallback", ["", "two:big"])
def test_a_failure_that_no_model_makes_good_is_asked_again(tmp_path: Path, fallback: str) -> None:
    async def run() -> tuple[str, Totals]:
        servers = {"one": one, "two": two}
        async with kept_in(tmp_path) as ledger, open_client(servers, ledger) as client:
            return (await client.call(REQUEST, fallback)).text, client.totals

    answers = [FAULTS["denied"], fake_openai.answer(ANSWER)]
    one, two = VendorServer([FAULTS["no model"]] if fallback else answers), VendorServer(answers)
    with one.running(), two.running():
        with pytest.raises(ProviderError):
            asyncio.run(run())
        (answer, paid), (same, recorded) = asyncio.run(run()), asyncio.run(run())
    assert answer == same == ANSWER
    assert paid.saved_usd == 0 < recorded.saved_usd == recorded.cost_usd == paid.cost_usd


@each("counted", [(0, 0), (10**12, 10**12), (-5, 3), (100, 10)])
def test_no_count_of_a_server_exceeds_the_cap(counted: tuple[int, int]) -> None:
    cap = 3.5 * PRICE.worst(REQUEST) / DOLLAR
    answer = fake_openai.answer(ANSWER, input_tokens=counted[0], output_tokens=counted[1])
    outcomes, server, client = ask(lambda _: answer, times=9, cap=cap)
    assert client.totals.cost_usd <= cap
    assert client.budget.left == client.budget.cap - client.budget.spent  # nothing is reserved
    if counted == (100, 10):
        assert len(server.received) == 9
    else:  # a count that cannot be is charged at the worst price
        assert len(server.received) == 3
        assert isinstance(outcomes[8], BudgetExceeded)


def test_one_call_goes_ahead_to_fill_the_cache() -> None:
    async def run() -> None:
        questions = [replace(REQUEST, prefix="x" * 9_000, question=str(n)) for n in range(3)]
        async with open_client({"one": server}, Journal()) as client:
            await asyncio.gather(*map(client.call, questions))

    answer = replace(fake_openai.answer(ANSWER), delay=0.3)
    with VendorServer(lambda _: answer).running() as server:
        asyncio.run(run())
    first, second, third = (received.at for received in server.received)
    assert second - first >= 0.3
    assert third - second < 0.25


CALLS = st.lists(st.tuples(st.integers(0, DOLLAR // 2), st.floats(0, 1)), max_size=20)


@given(st.floats(0, 1), CALLS)
@settings(max_examples=50, deadline=None)
def test_the_budget_is_never_exceeded(cap: float, calls: list[tuple[int, float]]) -> None:
    async def one(worst: int, share: float) -> None:
        try:
            await budget.reserve(worst)
        except BudgetExceeded:
            return
        await asyncio.sleep(0)
        await budget.settle(worst, int(worst * share))
        assert budget.spent <= budget.cap

    async def run() -> None:
        async with asyncio.timeout(5):
            await asyncio.gather(*(one(*call) for call in calls))

    budget = Budget(cap)
    asyncio.run(run())
    assert budget.left == budget.cap - budget.spent


counts = st.integers(-10, 10**9)


@given(st.text(max_size=200), st.builds(Usage, input_tokens=counts, output_tokens=counts))
@settings(max_examples=50)
def test_no_charge_is_above_the_worst_or_below_nothing(text: str, usage: Usage) -> None:
    request = replace(REQUEST, prefix=text)
    assert 0 <= PRICE.charge(request, usage, text) <= PRICE.worst(request)


def test_a_price_is_found() -> None:
    prices = Prices({"one:mine": Price(input=1, output=2)})
    for provider, model, price in (
        ("anthropic", "claude-sonnet-5-5", (2, 10)),
        ("anthropic", "claude-sonnet-5-5-20261001", (2, 10)),
        ("bedrock", "global.anthropic.claude-sonnet-5-5-v1:0", (2.2, 11)),
        ("bedrock", "eu.amazon.nova-lite", (0.06, 0.24)),
        ("openrouter", "google/gemini-3-pro", (2.2, 13.2)),
        ("openrouter", "anthropic/claude-sonnet-5.5", (2.2, 11)),
        ("openrouter", "openai/gpt-6.2-sol", (2.2, 11)),
        ("one", "mine", (1, 2)),
        ("openai", "gpt-99", None),
        ("unknown", "claude-sonnet-5-5", None),
    ):
        found = prices.find(provider, model, is_local=False)
        assert (found and pytest.approx((found.input, found.output))) == price, model


def test_every_price_has_a_source_and_a_date() -> None:
    for price in msgspec.json.decode(TABLE.read_bytes(), type=tuple[Price, ...]):
        assert price.source.startswith("https://"), f"{price.model} needs a source in prices.json"
        assert date.fromisoformat(price.date), f"{price.model} needs a date in prices.json"


def test_cached_tokens_and_long_prompts_have_prices_of_their_own() -> None:
    price = Prices({}).find("anthropic", "claude-haiku-5-5", is_local=False)
    resold = Prices({}).find("openrouter", "google/gemini-3-pro", is_local=False)
    assert price
    assert resold
    usage = Usage(input_tokens=1_000, cached_input_tokens=600, cache_write_tokens=300)
    assert price.cost(usage) == 100 * 100 + 600 * 10 + 300 * 125
    assert price.cost(Usage(input_tokens=100_001)) == 100_001 * 500
    assert resold.cost(Usage(input_tokens=200_001)) == pytest.approx(200_001 * 4_400)
    luna = Prices({}).find("openai", "gpt-5.6-luna", is_local=False)
    assert luna
    assert luna.cost(Usage(input_tokens=272_000)) == 272_000 * 200
    local = Price(input=0, output=0, source="served locally")
    assert Prices({}).find("ollama", "any", is_local=True) == local


def test_pauses_grow_and_a_vendor_that_names_one_is_believed() -> None:
    busy = ProviderError("busy", fault="overloaded")
    assert [pause_before_next(busy, n, 1.0) for n in (1, 2, 3)] == [0.01, 0.02, None]
    named = ProviderError("busy", fault="rate_limited")
    named.retry_after = 7
    assert pause_before_next(named, 1, 0.0) == 7


REFUSAL = (
    "does not support tools unsupported invalid not allowed json_schema json_object"
    " response_format max_tokens max_completion_tokens stream_options store prompt_cache_key"
    " response_schema cachePoint toolConfig toolChoice outputConfig system effort"
)


@pytest.mark.parametrize("name", ["anthropic", "openai", "gpu", "gemini", "bedrock", "ollama"])
def test_a_vendor_that_refuses_whatever_is_asked_is_left_after_a_few_requests(name: str) -> None:
    error = REFUSAL if name == "ollama" else {"message": REFUSAL, "status": "INVALID_ARGUMENT"}
    kind = {"content-type": "application/json", "x-amzn-errortype": "ValidationException"}
    tool = Tool(name="t", description="d", parameters={"type": "object", "properties": {}})
    request = replace(REQUEST, model="anthropic.claude", tools=(tool,))
    for status in (400, 500):
        refusal = json_answer({"error": error, "message": REFUSAL}, status, headers=kind)
        server = VendorServer(always(refusal))
        started = time.monotonic()
        with pytest.raises(ProviderError):
            test_providers.ask(name, server, request)
        assert time.monotonic() - started < 10
        assert 1 <= len(server.received) <= 8
