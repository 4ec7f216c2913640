"""The client of all providers by itself: where it may go, what it takes along, how it reads, and how its failures are named."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.panel import http
from reviewbot.adapters.panel.origin import Origin, check_origin
from reviewbot.errors import ConfigError
from reviewbot.ports import Account, Fault
from tests.fakes import Decoy, Models, faults
from tests.fakes.faults import Canned
from tests.fakes.http import Reply
from tests.panel.asking import KEY, account
from tests.rings import examples


@pytest.fixture
def models() -> Iterator[Models]:
    with Models() as running:
        yield running


def using(made: Account, work: Callable[[httpx2.AsyncClient], Awaitable[Any]], **options: Any) -> Any:
    async def run() -> Any:
        async with http.client(made, **options) as client:
            return await work(client)

    return asyncio.run(run())


def test_another_origin_is_never_asked(models: Models):
    elsewhere = []

    async def wander(client: httpx2.AsyncClient) -> None:
        for url in elsewhere:
            with pytest.raises(http.Forbidden) as caught:
                await client.get(url, headers={"Authorization": f"Bearer {KEY}"})
            assert http.transport_failure(caught.value, account(models.url)).fault is Fault.INVALID

    with Decoy() as decoy:
        port = models.url.rsplit(":", 1)[1]
        elsewhere += [
            decoy.url,
            f"{decoy.url}/v1",
            f"http://localhost:{port}",
            f"https://127.0.0.1:{port}",
            f"http://127.1:{port}",
        ]
        using(account(models.url), wander)
        assert decoy.requests == []
    assert models.requests == []


def test_a_redirect_that_a_caller_wants_to_follow_is_not_followed(models: Models):
    async def post(client: httpx2.AsyncClient) -> None:
        with pytest.raises(http.Forbidden, match="redirect"):
            await client.post(
                models.url + "/v1/messages", json=MESSAGE, headers={"anthropic-version": "x"}, follow_redirects=True
            )

    with Decoy() as decoy:
        models.script = lambda _: faults.redirect(307, decoy.url)
        using(account(models.url), post)
        assert decoy.requests == []


def test_a_compressed_answer_is_refused_before_it_is_unpacked(models: Models):
    async def post(client: httpx2.AsyncClient) -> None:
        await client.post(models.url + "/v1/messages", json=MESSAGE, headers={"anthropic-version": "x"})

    models.script = lambda _: faults.gzip_bomb(1)
    with pytest.raises(http.Forbidden, match="compressed"):
        using(account(models.url), post)


def test_no_cookie_is_kept(models: Models):
    async def post(client: httpx2.AsyncClient) -> int:
        await client.post(models.url + "/v1/messages", json=MESSAGE, headers={"anthropic-version": "x"})
        return len(client.cookies.jar)

    models.script = lambda _: Canned("cookie", Reply(500, (b"{}",), headers=(("Set-Cookie", "a=b; Path=/"),)))
    assert using(account(models.url), post) == 0


MESSAGE = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.parametrize("limit", [100, 100_000])
def test_the_cap_is_the_callers(models: Models, limit: int):
    async def post(client: httpx2.AsyncClient) -> int:
        return len((await client.post(models.url + "/v1/messages", json=MESSAGE, headers={"anthropic-version": "x"})).content)

    if limit == 100:
        with pytest.raises(http.Forbidden, match="larger"):
            using(account(models.url), post, most_bytes=limit)
    else:
        assert using(account(models.url), post, most_bytes=limit) > 100


def test_a_stream_is_capped_too_and_only_what_is_needed_leaves(models: Models):
    seen: list[int] = []

    async def post(client: httpx2.AsyncClient) -> None:
        headers = {
            "anthropic-version": "x",
            "Cookie": "a=b",
            "X-Machine": "linux",
            "Accept-Encoding": "gzip",
            "x-api-key": "other",
        }
        async with client.stream("POST", models.url + "/v1/messages", json=MESSAGE, headers=headers) as response:
            async for part in response.aiter_bytes():
                seen.append(len(part))

    models.script = lambda _: faults.endless_chunks(1_000)
    with pytest.raises(http.Forbidden, match="larger"):
        using(account(models.url), post, most_bytes=10_000)
    assert 0 < sum(seen) <= 10_000
    left = models.calls[-1].headers
    assert left["accept-encoding"] == "identity"
    assert left["x-api-key"] == KEY
    assert not {"cookie", "x-machine"} & set(left)


OPEN = [
    "https://api.example.com/v1",
    "https://10.255.0.1",
    "http://127.0.0.1:11434",
    "http://127.9.9.9",
    "http://localhost:8000",
    "http://[::1]:8000",
    "HTTP://LOCALHOST",
    "http://[::ffff:127.0.0.1]",
]
PRIVATE = [
    "http://10.255.0.1:8000",
    "http://172.16.5.5",
    "http://172.31.255.255",
    "http://169.254.1.1",
    "http://[fd00::1]:8000",
    "http://[fe80::1]",
]
CLOSED = [
    "http://api.example.com",
    "http://8.8.8.8",
    "http://172.32.0.1",
    "http://11.0.0.1",
    "http://0.0.0.0",
    "http://2130706433",
    "http://gpu.local",
    "http://localhost.example.com",
    "http://100.64.0.1",
    "http://[2001:db8::1]",
]
BROKEN = ["", "api.example.com", "ftp://127.0.0.1", "file:///etc/passwd", "http://", "https://", "http://user:pw@127.0.0.1", "https://@h", "https://h?key=x", "https://h#x", "https://h:99999", "https://h:x", "https://[::1", "https://exämple.com", "https://a b", "https://h/\n", "//h"]  # fmt: skip


@pytest.mark.parametrize("url", OPEN)
def test_tls_and_this_machine_may_have_a_key(url: str):
    assert check_origin(url, has_key=True).host


@pytest.mark.parametrize("url", PRIVATE)
def test_a_private_address_in_clear_text_needs_leave_and_gets_no_key(url: str):
    assert check_origin(url, allow_plain_http=True).is_private
    for leave, key in ((False, False), (False, True), (True, True)):
        with pytest.raises(ConfigError) as caught:
            check_origin(url, leave, has_key=key)
        assert caught.value.hint


@pytest.mark.parametrize("url", CLOSED)
def test_clear_text_goes_nowhere_else_whoever_allows_it(url: str):
    with pytest.raises(ConfigError, match="https"):
        check_origin(url, allow_plain_http=True)


@pytest.mark.parametrize("url", BROKEN)
def test_what_is_no_address_is_refused_and_a_password_in_it_not_quoted(url: str):
    with pytest.raises(ConfigError) as caught:
        check_origin(url, allow_plain_http=True)
    assert "pw" not in str(caught.value)


def test_origins_are_equal_where_browsers_say_so():
    assert check_origin("https://H.example:443/v1") == check_origin("https://h.example") == Origin("https", "h.example", 443)
    assert str(check_origin("http://[::1]:8000")) == "http://[::1]:8000"


@settings(derandomize=True, max_examples=examples(200))
@given(st.text(alphabet="htps:/@?#[].0179afxlochst ", max_size=24))
def test_no_text_but_an_allowed_address_is_let_through(text: str):
    try:
        origin = check_origin(text, has_key=True)
    except ConfigError:
        return
    assert origin.scheme == "https" or origin.is_loopback
    assert "@" not in text
    assert httpx2.URL(text).host.lower() in (origin.host, origin.host.strip("."))


@pytest.mark.parametrize("key", ["sk-a b", "sk-a\n", "sk-ä", "sk-\x00", " sk"])
def test_a_key_that_cannot_stand_in_a_header_is_refused_and_not_quoted(key: str):
    with pytest.raises(ConfigError) as caught:
        http.client(Account("vendor", "https://api.example.com", key))
    assert key not in str(caught.value)
    assert caught.value.hint


def test_an_address_that_must_not_have_a_key_gets_no_client():
    with pytest.raises(ConfigError):
        http.client(Account("vendor", "http://10.255.0.1", "a-key", allow_plain_http=True))


def test_proxies_of_the_environment_hold_for_tls_beyond_this_machine_only():
    for url, trusts in (("https://api.example.com", True), ("http://127.0.0.1:1", False), ("https://127.0.0.1:1", False)):
        made = http.client(Account("vendor", url))
        assert made.trust_env is trusts
        assert not made.follow_redirects
        asyncio.run(made.aclose())


RETRY_AFTER = [
    ({}, None),
    ({"retry-after": "7"}, 7.0),
    ({"retry-after": "0.5"}, 0.5),
    ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
    ({"retry-after-ms": "x", "retry-after": "7"}, 7.0),
    ({"retry-after": "-1"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "inf"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": ""}, None),
    ({"retry-after": "Sat, 21 Nov 2026 08:00:30 GMT", "date": "Sat, 21 Nov 2026 08:00:00 GMT"}, 30.0),
    ({"retry-after": "Sat, 21 Nov 2026 07:00:00 GMT", "date": "Sat, 21 Nov 2026 08:00:00 GMT"}, 0.0),
    ({"retry-after": "Sat, 21 Nov 2026 08:00:30 GMT"}, None),
    ({"retry-after": "Sat, 21 Nov 2026 08:00:30", "date": "Sat, 21 Nov 2026 08:00:00 GMT"}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), RETRY_AFTER)
def test_how_long_to_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None):
    assert http.retry_after(headers) == seconds


STATUSES = {
    307: Fault.UNREADABLE, 400: Fault.INVALID, 401: Fault.DENIED, 402: Fault.SPENT, 403: Fault.DENIED, 404: Fault.NO_MODEL,
    408: Fault.SERVER, 413: Fault.TOO_LONG, 418: Fault.INVALID, 422: Fault.INVALID, 429: Fault.RATE_LIMITED, 500: Fault.SERVER,
    502: Fault.SERVER, 503: Fault.OVERLOADED, 504: Fault.SERVER, 529: Fault.OVERLOADED, 599: Fault.SERVER,
}  # fmt: skip


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_says_what_should_happen_next(status: int):
    assert http.fault_of_status(status) is STATUSES[status]


EXCEPTIONS = [
    (httpx2.ConnectTimeout(""), Fault.NETWORK),
    (httpx2.PoolTimeout(""), Fault.NETWORK),
    (httpx2.ReadTimeout(""), Fault.TIMEOUT),
    (httpx2.WriteTimeout(""), Fault.TIMEOUT),
    (httpx2.ConnectError("Name or service not known"), Fault.NETWORK),
    (httpx2.ProxyError("407"), Fault.NETWORK),
    (httpx2.RemoteProtocolError("peer closed connection"), Fault.NETWORK),
    (httpx2.ReadError(""), Fault.NETWORK),
    (httpx2.LocalProtocolError(f"Illegal header value b'Bearer {KEY}'"), Fault.INVALID),
    (httpx2.InvalidURL(KEY), Fault.INVALID),
    (ssl.SSLError(KEY), Fault.NETWORK),
    (http.Forbidden("no", Fault.UNREADABLE), Fault.UNREADABLE),
]


@pytest.mark.parametrize(("exc", "fault"), EXCEPTIONS, ids=[type(exc).__name__ for exc, _ in EXCEPTIONS])
def test_an_exception_of_the_transport_is_named_also_where_a_library_has_wrapped_it(exc: Exception, fault: Fault):
    wrapped = RuntimeError(f"with {KEY}")
    wrapped.__cause__ = exc
    for one in (exc, wrapped):
        error = http.transport_failure(one, account("http://127.0.0.1:1"))
        assert error.fault is fault
        assert KEY not in str(error)
        assert "Bearer" not in str(error), "a request is not quoted"
        assert error.__cause__ is None


def test_a_name_that_nobody_knows_is_quoted_as_the_system_says_it():
    assert "not known" in str(http.transport_failure(httpx2.ConnectError("Name or service not known"), account("http://x")))


@settings(derandomize=True, max_examples=examples(100))
@given(st.text(), st.text())
def test_words_from_outside_become_one_bounded_line_without_the_key(before: str, after: str):
    line = http.one_line(before + KEY + after, account("http://127.0.0.1:1"))
    assert KEY not in line
    assert line.isprintable()
    assert len(line) <= http.MOST_WORDS


def test_other_keys_are_redacted_from_words_too():
    other = "sk-ant-" + "a1B2" * 8
    assert other not in http.one_line(f"wrong key {other}", account("http://127.0.0.1:1"))
