"""Everything that goes wrong, by name. ``Trouble`` speaks the dialect of whoever asked; ``Spoiled`` breaks a good reply on its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.http import Reply
from tests.fakes.seen import Answer

HTML = "<!doctype html><html><head><title>Sign in</title></head><body><h1>Welcome to this network</h1></body></html>"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong with one call."""

    name: str


@dataclass(frozen=True, slots=True)
class Trouble(Fault):
    """An error that the vendor documents. ``kind`` is a row of every wire's table; ``code`` chooses among its variants."""

    kind: str = ""
    code: str = ""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Spoiled(Fault):
    """A good reply (to ``of``, or the smallest that fits) that is broken on the wire. ``how`` names a way of ``transport.py``."""

    how: str = ""
    of: Answer | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Canned(Fault):
    """These bytes, whatever was asked."""

    reply: Reply = Reply(500, ())


def trouble(kind: str, code: str = "", *, retry_after: float | None = None) -> Trouble:
    """Any row of the wires' tables: ``overloaded``, ``rate_limited``, ``spent``, ``too_long``, ``spend_400``, ``denied``, ``billing``,
    ``forbidden``, ``no_model``, ``too_large``, ``server``, ``gateway``, ``unavailable``, ``bad_request``."""
    return Trouble(kind, kind, code, retry_after)


def L1() -> Trouble:  # noqa: N802 - the names of the table of documented faults
    """Overloaded: Anthropic's 529, elsewhere 503."""
    return Trouble("L1", "overloaded")


def L2(retry_after: float | None = 1) -> Trouble:  # noqa: N802
    """429 with ``retry-after`` seconds (``None``: without)."""
    return Trouble("L2", "rate_limited", retry_after=retry_after)


def L3() -> Trouble:  # noqa: N802
    """429 because the spend limit is reached; never a ``retry-after``."""
    return Trouble("L3", "spent")


def L4(kind: str = "server") -> Trouble:  # noqa: N802
    """The plain statuses: ``too_long`` and ``spend_400`` 400, ``denied`` 401, ``billing`` 402, ``forbidden`` 403, ``no_model`` 404, ``too_large`` 413,
    ``server`` 500, ``gateway`` 504, ``bad_request`` 400."""
    return Trouble(f"L4 {kind}", kind)


def L5(stop: str = "refusal", category: str = "", text: str = "") -> Answer:  # noqa: N802
    """An answer that ended for another reason than its end, in Anthropic's words."""
    return Answer(text, stop=stop, detail=category)


def L6(how: str = "error", after: int = 1, of: Answer | None = None) -> Spoiled:  # noqa: N802
    """A stream that fails after ``after`` pieces: ``error`` sends an error event, ``cut`` closes the connection."""
    return Spoiled(f"L6 {how}", "error_event" if how == "error" else "cut", of, {"after": after})


def L7() -> Trouble:  # noqa: N802
    """400: the context is too long."""
    return Trouble("L7", "too_long")


def L8(code: str = "rate_limit_exceeded", retry_after: float | None = None) -> Trouble:  # noqa: N802
    """``rate_limit_exceeded`` and ``slow_down`` (429), ``server_is_overloaded`` (503)."""
    kind = "overloaded" if code == "server_is_overloaded" else "rate_limited"
    return Trouble(f"L8 {code}", kind, code, retry_after)


def L9(code: str = "insufficient_quota") -> Trouble:  # noqa: N802
    """429 because money or quota is gone: ``insufficient_quota``, ``credit_balance_exhausted``, ``organization_spend_limit_exceeded``, …"""
    return Trouble(f"L9 {code}", "spent", code)


def L10(finish: str = "content_filter", refusal: str = "", text: str = "") -> Answer:  # noqa: N802
    """OpenAI's ``finish_reason``; ``refusal`` comes with ``content: null``."""
    return Answer(text, stop=finish, detail=refusal, shape="refusal" if refusal else "")


def L11(status: str = "incomplete", reason: str = "", code: str = "", text: str = "") -> Answer:  # noqa: N802
    """The responses API's ``status`` with ``incomplete_details.reason`` or ``error.code``."""
    return Answer(text, stop=status, detail=reason or code)


def L12(shape: str = "object") -> Trouble:  # noqa: N802
    """Gemini's 503 as ``object``, ``list`` or ``nested`` (error JSON as a string in the message); 429 ``quota_minute`` or ``quota_day``."""
    kinds = {"quota_minute": "rate_limited", "quota_day": "spent"}
    return Trouble(f"L12 {shape}", kinds.get(shape, "overloaded"), shape, 7 if shape == "quota_minute" else None)


def L13(finish: str = "SAFETY", block: str = "", text: str = "") -> Answer:  # noqa: N802
    """Gemini's ``finishReason``, or ``promptFeedback.blockReason`` without candidates."""
    return Answer(text, stop=finish, detail=block, shape="blocked" if block else "")


def L14(how: str = "empty_choices") -> Answer | Fault:  # noqa: N802
    """What compatible servers do, by the name of a function of this module."""
    return _SERVERS[how]()


def truncated(at: int, of: Answer | None = None) -> Spoiled:
    """The connection ends after ``at`` bytes of the body, though Content-Length promised all of it."""
    return Spoiled("truncated", "truncated", of, {"at": at})


def truncated_chunked(at: int, of: Answer | None = None, *, ended: bool = False) -> Spoiled:
    """A chunked body that stops after ``at`` bytes; ``ended`` closes it properly, as a proxy does whose upstream died."""
    return Spoiled("truncated_chunked", "truncated_chunked", of, {"at": at, "ended": ended})


def truncated_unframed(at: int, of: Answer | None = None) -> Spoiled:
    """A body without any length, whose end is the connection's end: no transport can tell that it is cut."""
    return Spoiled("truncated_unframed", "truncated_unframed", of, {"at": at})


def cut(after: int = 1, of: Answer | None = None) -> Spoiled:
    """The connection is closed after ``after`` pieces (events of a stream)."""
    return Spoiled("cut", "cut", of, {"after": after})


def hang(after: str | int = "request", of: Answer | None = None) -> Spoiled:
    """Silence for ever after the ``request``, the ``headers``, or so many bytes of the body."""
    return Spoiled("hang", "hang", of, {"after": after})


def trickle(bytes_per_second: float = 1, of: Answer | None = None) -> Spoiled:
    """A good reply, one byte at a time."""
    return Spoiled("trickle", "trickle", of, {"rate": bytes_per_second})


def redirect(status: int = 307, to: str = "") -> Canned:
    """Elsewhere: ``to`` is a whole address or an origin (then the path is ``/stolen``)."""
    target = to if to.count("/") > 2 else f"{to}/stolen"
    return Canned("redirect", Reply(status, (b"{}",), headers=(("Location", target),)))


def gzip_bomb(megabytes: int = 64) -> Spoiled:
    """A small compressed body that unpacks to so many megabytes, sent whether or not the client takes gzip."""
    return Spoiled("gzip_bomb", "gzip_bomb", None, {"megabytes": megabytes})


def huge(megabytes: int = 64) -> Spoiled:
    """A plain body of so many megabytes: JSON whose one text never ends."""
    return Spoiled("huge", "huge", None, {"megabytes": megabytes})


def deep(levels: int = 100_000) -> Canned:
    """A JSON document of so many nested lists."""
    return Canned("deep", Reply(200, (b"[" * levels + b"]" * levels,)))


def endless_chunks(size: int = 4_096, pause: float = 0.0) -> Spoiled:
    """A chunked body that never ends."""
    return Spoiled("endless_chunks", "endless_chunks", None, {"size": size, "pause": pause})


def content_length_lie(by: int, of: Answer | None = None) -> Spoiled:
    """Content-Length is wrong by so many bytes: more (the client waits, then the connection ends) or fewer (bytes are left over)."""
    return Spoiled("content_length_lie", "content_length_lie", of, {"by": by})


def connection_reset() -> Spoiled:
    """RST instead of a reply."""
    return Spoiled("connection_reset", "connection_reset")


def wrong_content_type(content_type: str = "text/plain", of: Answer | None = None) -> Spoiled:
    """A good body under a wrong name."""
    return Spoiled("wrong_content_type", "wrong_content_type", of, {"content_type": content_type})


def html_page(status: int = 200) -> Canned:
    """What a captive portal or a proxy says."""
    return Canned("html_page", Reply(status, (HTML.encode(),), "text/html; charset=utf-8"))


def empty_body(status: int = 200) -> Canned:
    """Nothing at all."""
    return Canned("empty_body", Reply(status, (b"",)))


def not_json(text: str = "upstream connect error or disconnect/reset before headers", status: int = 200) -> Canned:
    """Words that are no JSON, called JSON."""
    return Canned("not_json", Reply(status, (text.encode(),)))


def error_in_200(message: str = "llama runner process has terminated") -> Canned:
    """An error that calls itself a success."""
    return Canned("error_in_200", Reply(200, (b'{"error": "%s"}' % message.encode(),)))


def empty_choices() -> Answer:
    """Nothing in the list of answers."""
    return Answer("", shape="empty_choices")


def null_content() -> Answer:
    """An answer whose content is null (or absent)."""
    return Answer("", shape="null_content")


def content_parts(text: str = "{}") -> Answer:
    """Content as a list of parts where a text is usual."""
    return Answer(text, shape="content_parts")


def no_usage(text: str = "{}") -> Answer:
    """A good answer that does not say what it cost."""
    return Answer(text, shape="no_usage")


_SERVERS: dict[str, Callable[[], Answer | Fault]] = {
    "empty_choices": empty_choices,
    "null_content": null_content,
    "content_parts": content_parts,
    "no_usage": no_usage,
    "html_page": html_page,
    "wrong_content_type": wrong_content_type,
    "endless_chunks": endless_chunks,
    "content_length_lie": lambda: content_length_lie(5),
    "gzip_bomb": gzip_bomb,
}
