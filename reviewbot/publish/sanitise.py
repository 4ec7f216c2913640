"""The one door through which untrusted words leave as Markdown that GitHub renders.

Markdown is read with a parser and written anew from the few things that a review needs (paragraphs, list items, code,
links to known documentation), so that nothing survives because nobody thought of forbidding it. What GitHub would bring to
life by itself (``@name``, ``#12``, ``https://…``, ``/command``) is shown as code, where it stays dead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from reviewbot.publish import plain

LINK_HOSTS = frozenset({"docs.astral.sh", "docs.python.org", "peps.python.org", "cwe.mitre.org"})
"""Where a link may lead: documentation of rules. Nowhere that an author of a change can write."""

MARKDOWN_LIMIT = 8_000
INLINE_LIMIT = 600
CODE_LIMIT = 8_000

_CHAT_COMMAND = re.compile(r"(?m)^(?=/[A-Za-z])")
_ALIVE = re.compile(r"@|#\d|://|www\.|mailto:|xmpp:|\bgh-\d", re.IGNORECASE)
_SAFE_URL = re.compile(r"https://(?:[A-Za-z0-9._~/?#=+,-]|%[0-9A-F]{2})+")
_SPECIAL = re.compile(r"[\\`*\[<~$]|&(?=[#\w])|(?<![^\W_])(?<!_)_+|_+(?!_)(?![^\W_])")
_BLOCK_START = re.compile(r">|::|(?:[-+]+|=+|#{1,6}|\d{1,9}(?=[.)]$))(?:[.)]?)$")
_OPENING, _CLOSING = "([{\"'", ")]}\"'.,;:!?"
_LANGUAGE = re.compile(r"[A-Za-z0-9+#-]{1,20}")
_COLOURED = re.compile(
    r"bash|c|c#|c\+\+|console|cpp|cs|css|diff|dockerfile|go|html|ini|java|javascript|js|json|jsx|kotlin|php|py|python|rb|ruby|rust"
    r"|scala|sh|sql|swift|text|toml|ts|tsx|typescript|xml|yaml|yml",
    re.IGNORECASE,
)
"""Languages that an untrusted fence may name. GitHub makes a button of ``suggestion``, and drawings with links of ``mermaid``."""


def markdown(text: str, *, hosts: frozenset[str] = LINK_HOSTS, limit: int = MARKDOWN_LIMIT) -> str:
    """Untrusted Markdown as safe Markdown: one-line paragraphs, flat lists, fences. Idempotent below ``limit`` characters."""
    written, was_item = "", False
    for block in _blocks(_parser().parse(plain.shortened(plain.text(text), limit)), hosts):
        gap = "\n" if was_item and block.startswith("- ") else "\n\n"
        written += (gap if written else "") + block.rstrip()
        was_item = block.startswith("- ")
    return plain.defuse(written)


def inline(text: str, *, hosts: frozenset[str] = LINK_HOSTS, limit: int = INLINE_LIMIT) -> str:
    """Untrusted Markdown as one safe line."""
    line = " ".join(plain.shortened(plain.text(text), limit).split())
    return plain.defuse("".join(_line(token.children or [], hosts) for token in _parser().parseInline(line)).strip())


def code_block(text: str, language: str = "", *, limit: int = CODE_LIMIT) -> str:
    """A fence longer than any run of backticks in ``text``. A line that would be a bot's ``/command`` is moved by one column."""
    shown = _CHAT_COMMAND.sub(" ", plain.defuse(plain.shortened(plain.text(text), limit))).strip("\n")
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language if _LANGUAGE.fullmatch(language) else ''}\n{shown}\n{fence}"


def code_span(text: str, *, limit: int = INLINE_LIMIT) -> str:
    """One line of code, or nothing for nothing."""
    content = plain.defuse(" ".join(plain.shortened(plain.text(text), limit).split()))
    if not content:
        return ""
    fence = "`" * (_longest_run(content) + 1)
    pad = " " if content[0] == "`" or content[-1] == "`" else ""
    return f"{fence}{pad}{content}{pad}{fence}"


class _Kind(Enum):
    """What a piece of a line is."""

    SPACE = auto()
    WORD = auto()
    CODE = auto()
    LINK = auto()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a line before it is written: a word or a gap of prose, code, or the address of an allowed link."""

    kind: _Kind
    text: str


_SPACE = _Piece(_Kind.SPACE, " ")


@cache
def _parser() -> MarkdownIt:
    """Built once: it keeps nothing between texts."""
    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).disable("reference")


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def _blocks(tokens: Iterable[Token], hosts: frozenset[str]) -> Iterator[str]:
    """Flat blocks of the document. A list item keeps its mark on its first line only."""
    mark = ""
    for token in tokens:
        if token.type == "list_item_open":
            mark = "- "
        elif token.type in ("fence", "code_block"):
            mark = ""
            if token.content.strip("\n"):
                language = token.info.strip()
                yield code_block(token.content, language if _COLOURED.fullmatch(language) else "")
        elif token.type == "inline" and (line := _line(token.children or [], hosts)):
            yield mark + line
            mark = ""


def _line(tokens: Iterable[Token], hosts: frozenset[str]) -> str:
    """One line of Markdown from the parser's inline tokens."""
    written = ""
    previous = _SPACE
    for piece in _tidy(_pieces(_runs(tokens), hosts)):
        if not written and piece.text.startswith("/"):  # a bot's command
            piece = _Piece(_Kind.CODE, piece.text)
        if piece.kind is _Kind.CODE and previous.kind is _Kind.CODE:
            written += " "
        written += _write(piece, first=not written)
        previous = piece
    return written


def _write(piece: _Piece, *, first: bool) -> str:
    if piece.kind is _Kind.CODE:
        return code_span(piece.text)
    if piece.kind is _Kind.LINK:
        return f"<{piece.text}>"
    escaped = _SPECIAL.sub(lambda match: "".join(f"\\{character}" for character in match.group()), piece.text)
    if first and (start := _BLOCK_START.match(escaped)):
        at = start.end() - 1 if escaped[0].isdigit() else 0  # of a number, its dot is escaped
        return f"{escaped[:at]}\\{escaped[at:]}"
    return escaped


def _tidy(pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Without gaps at the ends or beside each other."""
    waiting, begun = False, False
    for piece in pieces:
        if piece.kind is _Kind.SPACE:
            waiting = begun
            continue
        if waiting:
            yield _SPACE
        yield piece
        waiting, begun = False, True


def _runs(tokens: Iterable[Token]) -> Iterator[_Piece]:
    """Runs of prose and code: emphasis and images become their words, a link its words and then its address."""
    prose = ""
    addresses: list[str] = []
    for token in tokens:
        if token.type == "code_inline":
            yield _Piece(_Kind.WORD, prose)
            yield _Piece(_Kind.CODE, token.content)
            prose = ""
        elif token.type == "link_open":
            addresses.append("" if token.info == "auto" else str(token.attrGet("href") or ""))
        elif token.type == "link_close":
            address = addresses.pop()
            prose += f" {address} " if address else ""
        elif token.type == "image":
            prose += f"{token.content} {token.attrGet('src') or ''} "
        elif token.type in ("softbreak", "hardbreak"):
            prose += " "
        elif token.markup.startswith("_"):
            prose += token.markup  # __init__ is meant, not bold
        else:
            prose += token.content
    yield _Piece(_Kind.WORD, prose)


def _pieces(runs: Iterable[_Piece], hosts: frozenset[str]) -> Iterator[_Piece]:
    for run in runs:
        if run.kind is _Kind.CODE:
            yield run if code_span(run.text) else _SPACE
            continue
        for part in re.split(r"(\s+)", plain.text(run.text)):
            if part.strip():
                yield from _word(part, hosts)
            elif part:
                yield _SPACE


def _word(word: str, hosts: frozenset[str]) -> Iterator[_Piece]:
    """A word as it is, or what GitHub would bring to life in it as code (or as an allowed link) between its punctuation."""
    if not _ALIVE.search(word):
        yield _Piece(_Kind.WORD, word)
        return
    core = word.lstrip(_OPENING)
    before, core = word[: len(word) - len(core)], core.rstrip(_CLOSING)
    after = word[len(before) + len(core) :]
    kind = _Kind.LINK if _is_allowed(core, hosts) else _Kind.CODE
    yield from (piece for piece in (_Piece(_Kind.WORD, before), _Piece(kind, core), _Piece(_Kind.WORD, after)) if piece.text)


def _is_allowed(address: str, hosts: frozenset[str]) -> bool:
    return _SAFE_URL.fullmatch(address) is not None and urlsplit(address).netloc in hosts
