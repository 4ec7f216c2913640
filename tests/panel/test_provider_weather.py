"""Every provider of this file, through its vendor's real library, against servers that break their answers on the way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from reviewbot.adapters.panel.anthropic import Anthropic
from reviewbot.adapters.panel.openai import OpenAI
from reviewbot.adapters.panel.openai_responses import Responses
from reviewbot.ports import Fault, Provider, ProviderError, Stop
from tests.fakes import Answer, Decoy, Models, Seen, faults
from tests.fakes.faults import Canned
from tests.fakes.http import Reply
from tests.panel.asking import CALL, KEY, account, answered, check_secret, failed, with_provider

Make = Callable[..., Provider]
MAKERS = {"anthropic": (Anthropic, ""), "openai": (OpenAI, "/v1"), "responses": (Responses, "/v1")}
GOOD = Answer('{"ok":1}')
RETRIED = (Fault.NETWORK, Fault.UNREADABLE, Fault.SERVER, Fault.OVERLOADED)


def always(said: object) -> Callable[[Seen], object]:
    """A script."""
    return lambda _: said


@pytest.fixture
def models() -> Iterator[Models]:
    with Models(script=always(GOOD)) as running:
        yield running


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest, models: Models) -> Make:
    cls, path = MAKERS[request.param]
    return lambda key=KEY: cls(account(models.url + path, key))


def test_a_good_answer_arrives_with_what_it_cost(make: Make):
    found = answered(make)
    assert (found.stop, found.text) == (Stop.END, GOOD.text)
    assert found.tokens.known
    assert found.tokens.input > 0
    assert found.tokens.output > 0
    assert found.request_id == "req_000001"


def test_begun_is_told_once(make: Make):
    told: list[int] = []
    asyncio.run(with_provider(make(), lambda provider: provider.complete(CALL, lambda: told.append(1))))
    assert told == [1]


@pytest.mark.ci
@pytest.mark.matrix
@pytest.mark.parametrize("way", [faults.truncated, faults.truncated_unframed], ids=lambda way: way.__name__)
def test_an_answer_that_is_cut_at_any_byte_is_no_answer(make: Make, models: Models, way: Callable[..., object]):
    answered(make)
    length = models.calls[-1].reply_bytes
    assert length > 200

    async def every(provider: Provider) -> list[object]:
        found: list[object] = []
        for offset in range(length):
            models.script = always(way(offset, GOOD))
            try:
                found.append((offset, await provider.complete(CALL, lambda: None)))
            except ProviderError as exc:
                if exc.fault not in (Fault.NETWORK, Fault.UNREADABLE):
                    found.append((offset, exc))
        return found

    assert asyncio.run(with_provider(make(), every)) == []


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_an_answer_whose_chunks_stop_is_no_answer(make: Make, models: Models, share: float):
    answered(make)
    offset = int(models.calls[-1].reply_bytes * share)
    for ended in (False, True):
        models.script = always(faults.truncated_chunked(offset, GOOD, ended=ended))
        assert failed(make).fault in (Fault.NETWORK, Fault.UNREADABLE)


SPOILED = {
    "reset": (faults.connection_reset(), (Fault.NETWORK,)),
    "cut": (faults.cut(1), (Fault.NETWORK,)),
    "empty": (faults.empty_body(), (Fault.UNREADABLE,)),
    "words": (faults.not_json(), (Fault.UNREADABLE,)),
    "html": (faults.html_page(), (Fault.UNREADABLE,)),
    "deep": (faults.deep(), (Fault.UNREADABLE,)),
    "bomb": (faults.gzip_bomb(64), (Fault.UNREADABLE,)),
    "huge": (faults.huge(64), (Fault.UNREADABLE,)),
    "endless": (faults.endless_chunks(65_536), (Fault.UNREADABLE,)),
    "longer": (faults.content_length_lie(7), (Fault.NETWORK,)),
    "shorter": (faults.content_length_lie(-7), (Fault.NETWORK, Fault.UNREADABLE)),
    "error in 200": (faults.error_in_200(), RETRIED),
    "html 502": (faults.html_page(502), (Fault.SERVER,)),
    "html 503": (faults.html_page(503), (Fault.OVERLOADED,)),
    "html 403": (faults.html_page(403), (Fault.DENIED,)),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_broken_answer_is_a_failure_of_the_right_kind(make: Make, models: Models, name: str):
    fault, expected = SPOILED[name]
    models.script = always(fault)
    began = time.monotonic()
    assert failed(make).fault in expected
    assert time.monotonic() - began < 20
    assert len(models.calls) == 1, "the library tried again by itself"


def test_a_body_is_not_read_beyond_its_cap(make: Make, models: Models):
    models.script = always(faults.endless_chunks(1_000_000))
    assert "larger" in str(failed(make))
    models.wait_idle()
    assert models.calls[-1].outcome == "left"


def test_a_prompt_that_is_no_text_is_refused_before_it_leaves(make: Make, models: Models):
    assert failed(make, suffix="half a pair: \ud800").fault is Fault.INVALID
    assert models.requests == []


@pytest.mark.parametrize(
    "fault",
    [faults.hang(), faults.hang("headers"), faults.hang(20), faults.trickle(20)],
    ids=["request", "headers", "bytes", "trickle"],
)
def test_a_call_ends_at_its_deadline_whatever_the_server_does(make: Make, models: Models, fault: object):
    models.script = always(fault)
    began = time.monotonic()
    assert failed(make, timeout_seconds=0.3).fault is Fault.TIMEOUT
    assert time.monotonic() - began < 10
    models.wait_idle()
    assert models.calls[-1].outcome == "left"


def test_a_cancelled_call_closes_its_connection(make: Make, models: Models):
    models.script = always(faults.hang("headers"))

    async def cancel(provider: Provider) -> None:
        task = asyncio.create_task(provider.complete(CALL, lambda: None))
        await asyncio.to_thread(models.wait_for, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(models.wait_idle)
        assert models.calls[-1].outcome == "left"

    asyncio.run(with_provider(make(), cancel))


def test_nobody_at_the_address_is_a_failure_of_the_network(make: Make, models: Models):
    with models.refuse():
        assert failed(make).fault is Fault.NETWORK


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_takes_no_key_along(make: Make, models: Models, status: int):
    with Decoy() as decoy:
        models.script = always(faults.redirect(status, decoy.url))
        assert failed(make).fault is Fault.UNREADABLE
        assert decoy.requests == []


def test_a_redirect_to_the_same_origin_is_not_followed_either(make: Make, models: Models):
    models.script = always(faults.redirect(307, f"{models.url}/v1/elsewhere"))
    failed(make)
    assert len(models.requests) == 1


def test_the_key_travels_as_a_header_to_its_origin_and_nothing_of_the_environment_with_it(
    make: Make, models: Models, monkeypatch: pytest.MonkeyPatch
):
    with Decoy() as decoy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, decoy.url)
        monkeypatch.setenv("NO_PROXY", "")
        monkeypatch.setenv("no_proxy", "")
        for vendor in ("ANTHROPIC", "OPENAI"):
            monkeypatch.setenv(f"{vendor}_CUSTOM_HEADERS", "X-Secret: elsewhere\nAuthorization: Bearer elsewhere")
            monkeypatch.setenv(f"{vendor}_API_KEY", "elsewhere")
            monkeypatch.setenv(f"{vendor}_BASE_URL", decoy.url)
        monkeypatch.setenv("OPENAI_ORG_ID", "elsewhere")
        monkeypatch.setenv("OPENAI_PROJECT_ID", "elsewhere")
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "elsewhere")
        answered(make)
        assert decoy.requests == []
    seen = models.calls[-1]
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert "elsewhere" not in str(seen.headers)
    assert KEY not in str(seen.body)
    assert KEY not in seen.path


def test_without_a_key_none_is_looked_for_elsewhere(make: Make, models: Models, monkeypatch: pytest.MonkeyPatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, "of-somebody-else")
    answered(lambda: make(""))
    assert models.keys == []


def test_a_server_that_echoes_the_key_finds_it_in_no_message(make: Make, models: Models):
    words = f"the key '{KEY}' is\nwrong \x1b[31m" + "x" * 5_000
    models.script = always(faults.trouble("bad_request", words))
    error = failed(make)
    assert "[key]" in str(error)
    assert "\x1b" not in str(error)
    assert len(str(error)) < 400


def test_no_cookie_is_kept(make: Make, models: Models):
    models.script = always(Canned("cookie", Reply(500, (b"{}",), headers=(("Set-Cookie", "a=b; Path=/"),))))

    async def twice(provider: Provider) -> None:
        for _ in range(2):
            with pytest.raises(ProviderError):
                await provider.complete(CALL, lambda: None)

    asyncio.run(with_provider(make(), twice))
    assert [call for call in models.calls if "cookie" in call.headers] == []


def test_a_provider_shows_no_key_of_its_own(make: Make):
    async def look(provider: Provider) -> str:
        return f"{provider!r} {vars(provider)!r}"

    assert KEY not in asyncio.run(with_provider(make(), look))


def test_models_are_listed(make: Make, models: Models):
    async def listing(provider: Provider) -> tuple[str, ...]:
        return await provider.models()

    assert "claude-fake-1" in asyncio.run(with_provider(make(), listing))


def test_a_listing_that_cannot_be_had_is_a_failure(make: Make, models: Models):
    async def listing(provider: Provider) -> tuple[str, ...]:
        return await provider.models()

    with models.refuse(), pytest.raises(ProviderError) as caught:
        asyncio.run(with_provider(make(), listing))
    assert caught.value.fault is Fault.NETWORK
    check_secret(caught.value)


def test_many_calls_are_under_way_together(make: Make, models: Models):
    models.script = always(replace(GOOD, seconds=0.2))

    async def many(provider: Provider) -> None:
        await asyncio.gather(*(provider.complete(CALL, lambda: None) for _ in range(6)))

    asyncio.run(with_provider(make(), many))
    assert models.most_in_flight == 6
