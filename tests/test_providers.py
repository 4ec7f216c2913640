"""What holds for all providers: streams, faults, time-outs, and who learns a key."""

import asyncio
import json
import socket
import ssl
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from each import each
from msgspec import Meta, Struct
from msgspec.structs import replace

from reviewbot.errors import ConfigError
from reviewbot.llm.client import POLICIES
from reviewbot.llm.provider import (
    Account,
    ModelReply,
    ModelRequest,
    Provider,
    ProviderError,
    Tool,
    ToolTurn,
)
from reviewbot.llm.providers import connect, find_vendor
from tests import (
    fake_anthropic,
    fake_bedrock,
    fake_gemini,
    fake_ollama,
    fake_openai,
    fake_responses,
)
from tests.vendor_server import Sent, VendorServer, json_answer


class Answer(Struct):
    verdict: Literal["real", "not_real"]
    trace: Annotated[str, Meta(max_length=80, description="The steps.")] = ""
    note: str | None = None


KEY = "key-0123456789-never-to-be-seen"
GOOD = '{"claims": []}'
PATH = {"type": "object", "properties": {"path": {"type": "string"}}}
READ = Tool(name="read", description="Read a file.", parameters=PATH)
REQUEST = ModelRequest(
    **{"provider": "any", "model": "some-model", "label": "critic/first_pass"},
    **{"prefix": "The change.", "question": "What is wrong with it?"},
    schema=msgspec.json.schema(Answer),
    max_output_tokens=500,
)
AWS = {
    **{"AWS_ACCESS_KEY_ID": "AKIAOFATEST", "AWS_SECRET_ACCESS_KEY": "the-secret-of-a-test"},
    **{"AWS_SESSION_TOKEN": "the-session", "AWS_REGION": "eu-central-1"},
}
FAKES: Mapping[str, ModuleType] = {
    "anthropic": fake_anthropic,
    "openai": fake_responses,
    "gpu": fake_openai,  # a server with chat completions
    "gemini": fake_gemini,
    "bedrock": fake_bedrock,
    "ollama": fake_ollama,
}
STREAMING = [name for name in FAKES if name != "bedrock"]
FAULTS = [(vendor, name) for vendor, fake in FAKES.items() for name in fake.FAULTS]


def make_provider(name: str, url: str, **fields: Any) -> Provider:
    url = url if name in FAKES and name not in ("openai", "gpu") else f"{url}/v1"
    fields = {"key": KEY if name != "bedrock" else "", "variables": AWS} | fields
    return connect(find_vendor(name, url), Account(name=name, base_url=url, **fields))


def ask(
    name: str,
    server: VendorServer,
    *requests: ModelRequest,
    on_text: Callable[[str], None] | None = None,
    **fields: Any,
) -> list[ModelReply]:
    """The replies of a provider by its name; another name is a compatible server."""
    with server.running():
        return ask_at(name, server.url, *requests, on_text=on_text, **fields)


def ask_at(
    name: str,
    url: str,
    *requests: ModelRequest,
    on_text: Callable[[str], None] | None = None,
    **fields: Any,
) -> list[ModelReply]:
    async def ask_all() -> list[ModelReply]:
        provider = make_provider(name, url, **fields)
        try:
            return [await provider.complete(request, on_text) for request in requests]
        finally:
            await provider.close()

    return asyncio.run(ask_all())


def failure(
    name: str, server: VendorServer, request: ModelRequest = REQUEST, **fields: Any
) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(name, server, request, **fields)
    error = caught.value
    shown = "".join(traceback.format_exception(error)) + repr(vars(error))
    assert not [secret for secret in (KEY, *AWS.values(), server.url) if secret in shown]
    assert (error.__context__, error.__cause__) == (None, None)  # they would hold the key
    assert len(str(error)) < 260
    return error


def turn_of(reply: ModelReply, *results: str) -> tuple[ToolTurn, ...]:
    """A turn with a reply as the ledger keeps it."""
    reply = msgspec.json.decode(msgspec.json.encode(reply), type=ModelReply)
    return (ToolTurn(calls=reply.calls, results=results, native=reply.native),)


WAITS = {
    **{"rate_limited: L2": 17, "overloaded: L4 503": 1.5, "L8 rate limit: rate_limited": 7},
    **{"L12 a minute: rate_limited": 7.5, "rate limit: rate_limited": 7},
    "OpenRouter budget: rate_limited": 2,
}
HINTS = {
    "no path: no_model": "check the name of the model, and providers.gpu.base_url",
    "no path: invalid": "check OLLAMA_HOST: another server answers there",
    "memory: no_model": "use a smaller model",
    "L9 quota: spent": "add credit or raise the limit at {}, or choose another model",
    "L7 too long: too_long": "choose a model that reads more at once",
}


@each(("vendor", "name"), FAULTS)
def test_each_fault_is_told_apart_and_not_tried_again(vendor: str, name: str) -> None:
    server = VendorServer([FAKES[vendor].FAULTS[name]])
    error = failure(vendor, server)
    (fault,) = POLICIES.keys() & set(name.split(": "))
    assert error.fault == fault
    assert len(server.received) == 1
    assert vendor in str(error).partition(": ")[0]
    waits = 3 if vendor == "bedrock" and fault in ("overloaded", "rate_limited") else None
    assert error.retry_after == WAITS.get(name, waits)
    assert error.hint == (HINTS[name].format(vendor) if name in HINTS else error.hint)
    if fault == "truncated":
        assert error.usage
    for kind, word in {"endless": "longer", "gzip": "as", "redirect": "answered 307"}.items():
        assert kind not in name or word in str(error)
    if "The model is overloaded" in str(FAKES[vendor].FAULTS[name].chunks):
        words = "answered 503: The model is overloaded. Please try again later."
        assert str(error) == f"{vendor} {words}"


@each("vendor", FAKES)
def test_a_message_is_quoted_shortly_and_without_secrets(vendor: str) -> None:
    text = f"bad key {KEY if vendor != 'bedrock' else ''}\n\x1b[31mghp_{'a1B2' * 9} {'x' * 500}"
    error = text if vendor == "ollama" else {"message": text}
    sent = json_answer({"error": error}, 500)
    message = str(failure(vendor, VendorServer([sent])))
    assert message.startswith(f"{vendor} answered 500: ")
    assert "ghp_" not in message
    assert "\x1b" not in message
    assert vendor == "bedrock" or "bad key … " in message


@each("vendor", FAKES)
def test_an_error_need_not_be_utf8(vendor: str) -> None:
    sent = Sent(status=401, chunks=(b'{"error": "\xfcberlastet"}',))
    assert failure(vendor, VendorServer([sent])).fault == "denied"


@each("vendor", STREAMING)
def test_a_server_that_answers_with_its_key_does_not_publish_it(vendor: str) -> None:
    wish = {"path": KEY}
    call = ("call_1", "read", json.dumps(wish)) if vendor == "anthropic" else ("read", wish)
    sent = [FAKES[vendor].answer(json.dumps({"title": KEY})), FAKES[vendor].answer(calls=[call])]
    reply, called = ask(vendor, VendorServer(sent), REQUEST, replace(REQUEST, tools=(READ,)))
    assert json.loads(reply.text) == {"title": "(key)"}
    assert json.loads(called.calls[0].arguments) == {"path": "(key)"}
    assert KEY not in repr(called)


@each("vendor", STREAMING)
def test_the_text_arrives_before_the_answer_is_complete(vendor: str) -> None:
    pieces: list[str] = []
    arrived, came_early = threading.Event(), []
    sent = FAKES[vendor].answer(GOOD)

    def all_but_the_last_and_then_that() -> Iterator[bytes]:
        yield from sent.chunks[:-1]
        came_early.append(arrived.wait(timeout=5))
        yield sent.chunks[-1]

    def on_text(text: str) -> None:
        pieces.append(text)
        arrived.set()

    server = VendorServer([replace(sent, chunks=all_but_the_last_and_then_that())])
    ask(vendor, server, REQUEST, on_text=on_text)
    assert "".join(pieces) == GOOD
    assert came_early == [True]
    # They say when they begin to think.
    assert (pieces[0] == "") == (vendor in ("anthropic", "openai", "gpu"))


@each("vendor", FAKES)
def test_an_answer_may_arrive_in_any_pieces(vendor: str) -> None:
    sent = FAKES[vendor].answer('{"claims": ["ü \u2028"]}')
    text = b"".join(sent.chunks)
    pieces = tuple(text[start : start + 7] for start in range(0, len(text), 7))
    server = VendorServer([sent, replace(sent, chunks=pieces)])
    whole, cut = ask(vendor, server, REQUEST, REQUEST)
    assert whole == cut
    types = {received.headers["content-type"] for received in server.received}
    assert types == {"application/json"}


@each("vendor", FAKES)
def test_a_call_ends_with_the_time_of_who_asks(vendor: str) -> None:
    sent = [replace(FAKES[vendor].answer(GOOD), delay=5)]
    if vendor in STREAMING:
        sent.append(replace(FAKES[vendor].answer(GOOD), pause=0.09))

    async def ask_for_a_moment(url: str) -> None:
        provider = make_provider(vendor, url)
        async with asyncio.timeout(0.1):
            await provider.complete(REQUEST, lambda _: None)

    for reply in sent:
        server, started = VendorServer([reply]), time.monotonic()
        with server.running(), pytest.raises(TimeoutError):
            asyncio.run(ask_for_a_moment(server.url))
        assert time.monotonic() - started < 4


@each("vendor", FAKES)
def test_where_nobody_listens_the_vendor_is_unreachable(vendor: str) -> None:
    gone = VendorServer([])
    with gone.running():
        pass
    with pytest.raises(ProviderError, match=f"{vendor} cannot be reached") as caught:
        ask_at(vendor, gone.url, REQUEST)
    assert caught.value.fault == "unreachable"
    assert ("OLLAMA_HOST" if vendor == "ollama" else vendor) in str(caught.value.hint)


def test_a_certificate_that_is_not_trusted_is_named(tmp_path: Path) -> None:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    now = datetime.now(UTC)
    made = made.not_valid_before(now).not_valid_after(now + timedelta(days=1))
    (tmp_path / "pem").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + made.sign(key, SHA256()).public_bytes(Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "pem")

    def shake_hands() -> None:
        with suppress(ssl.SSLError), listener.accept()[0] as taken:
            context.wrap_socket(taken, server_side=True)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=shake_hands)
        thread.start()
        with pytest.raises(ProviderError, match="gpu cannot be reached") as caught:
            ask_at("gpu", f"https://127.0.0.1:{listener.getsockname()[1]}", REQUEST)
        thread.join()
    assert "SSL_CERT_FILE" in str(caught.value.hint)


@each("vendor", FAKES)
def test_a_page_that_is_no_answer_has_another_address_as_its_reason(vendor: str) -> None:
    page = {"headers": {"content-type": "text/html"}, "chunks": (fake_openai.HTML,)}
    for sent in (Sent(**page), Sent(status=302)):
        error = failure(vendor, VendorServer([sent]))
        assert (error.fault, error.hint) == ("malformed", f"check providers.{vendor}.base_url")


@each("vendor", ["anthropic", "openai", "ollama"])
def test_a_prompt_that_cannot_be_written_is_invalid(vendor: str) -> None:
    request = replace(REQUEST, prefix="\ud800")
    assert failure(vendor, VendorServer([]), request).fault == "invalid"


@pytest.mark.parametrize("vendor", FAKES)
def test_a_proxy_of_the_environment_is_used(vendor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = VendorServer(lambda _: Sent(status=502))
    monkeypatch.setenv("HTTPS_PROXY", proxy.url)
    with proxy.running(), pytest.raises(ProviderError, match="cannot be reached") as caught:
        ask_at(vendor, "https://models.example.org", REQUEST)
    assert caught.value.fault == "unreachable"
    (received,) = proxy.received
    assert (received.method, received.path) == ("CONNECT", "models.example.org:443")
    assert KEY not in str(received.headers)


def test_a_proxy_without_a_possible_port_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:99999")
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        ask_at("openai", "https://models.example.org", REQUEST)
    assert "proxies" in str(caught.value.hint)


def test_a_proxy_that_cannot_be_used_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in (("HTTPS_PROXY", "ftp://127.0.0.1"), ("SSL_CERT_FILE", "/none")):
        with monkeypatch.context() as patch:
            patch.setenv(variable, value)
            with pytest.raises(ConfigError, match="cannot be asked with the proxy") as caught:
                make_provider("openai", "https://models.example.org")
            assert variable in str(caught.value.hint)
