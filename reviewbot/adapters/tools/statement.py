"""One SQL statement that only reads, told from its words alone: the first look, before a server that enforces it.

The text is taken apart as the database would: what stands in quotes or comments is no keyword. Where the two would disagree, the
session's own rules hold (see ``query_postgresql`` and ``query_sqlite``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from reviewbot.adapters.tools.declined import Declined, Why

READS = ("SELECT", "WITH", "VALUES", "TABLE", "SHOW", "EXPLAIN")
"""Words with which a statement may begin."""
EXPLAINED = (*READS[:4], "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE")
"""What EXPLAIN may be given: it plans these and runs none of them. With ANALYZE it would, so then only the first four."""

NEVER_CALLED = (
    *("pg_terminate_backend", "pg_cancel_backend", "pg_reload_conf", "pg_rotate_", "pg_promote", "pg_switch_wal", "pg_wal_"),
    *("pg_read_", "pg_ls_", "pg_stat_file", "pg_file_", "pg_stat_reset", "pg_create_", "pg_drop_", "pg_copy_", "pg_backup_"),
    *("pg_logical_", "pg_replication_", "pg_notify", "pg_advisory_", "pg_try_advisory_", "pg_export_snapshot", "pg_start_"),
    *("lo_", "loread", "lowrite", "dblink", "set_config", "setval", "nextval", "load_extension", "fts3_tokenizer"),
    *("query_to_xml", "cursor_to_xml", "ts_stat", "ts_rewrite", "txid_current", "pg_current_xact_id", "pg_stop_"),
)
"""Beginnings of names of functions that do more than read, that READ ONLY does not stop in every version (signals to other
sessions, files of the server, locks), or that run a text as SQL."""


_LETTER = r"[A-Za-z_\x80-\U0010ffff]"


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where two databases read the same text differently."""

    comment: str
    nested: bool
    quotes: str


POSTGRESQL = Dialect(
    comment=r"--[^\n\r]*",
    nested=True,
    quotes=(
        r"""[eE]'(?:[^'\\]|\\.|'')*+'|'(?:[^']|'')*+'|"(?:[^"]|"")*+\""""
        rf"|(?P<fence>\$(?:{_LETTER}[\w\x80-\U0010ffff]*+)?\$).*?(?P=fence)"
    ),
)
"""``sql/scan.l``, with ``standard_conforming_strings``, which the session sets."""
SQLITE = Dialect(
    comment=r"--[^\n]*",
    nested=False,
    quotes=r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+"|`(?:[^`]|``)*+`|\[[^\]]*+\]""",
)
"""``sqlite3GetToken`` in ``tokenize.c``."""


@dataclass(frozen=True, slots=True)
class _Token:
    """A ``word`` (keywords in capitals and small), a ``quoted`` text or name, a ``number``, or one ``sign``."""

    kind: str
    text: str
    end: int

    @property
    def keyword(self) -> str:
        """In capitals; empty for what is no word."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def function(self) -> str:
        """The name that it would have before a parenthesis."""
        if self.kind == "quoted" and self.text[0] in '"`[':
            return self.text[1:-1].lower()
        return self.text.lower() if self.kind == "word" else ""


def read_only(sql: str, dialect: Dialect) -> str:
    """``sql`` without what follows its one statement. Raises Declined where it is none, several, or does more than read."""
    tokens = list(_tokens(sql, dialect))
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if not tokens:
        raise Declined(Why.REFUSED, "there is no statement in the query")
    if any(token.text == ";" for token in tokens):
        raise Declined(Why.REFUSED, "one statement at a time: there is a ';' between two")
    if re.search(r"""[uU]&["']""", sql):
        raise Declined(Why.REFUSED, "write names and texts without U&: their escapes hide what is called")
    _check_beginning(tokens)
    for token, follower in pairwise(tokens):
        if follower.text == "(" and token.function.startswith(NEVER_CALLED):
            raise Declined(Why.REFUSED, f"{token.function[:60]} may not be called here: it does more than read")
    return sql[: tokens[-1].end]


def first_word(sql: str, dialect: Dialect) -> str:
    """The word that a statement begins with, in capitals, whatever stands before it."""
    return _first(list(_tokens(sql, dialect)))


def _check_beginning(tokens: list[_Token]) -> None:
    word = _first(tokens)
    if word not in READS:
        raise Declined(Why.REFUSED, "only statements that read may be asked", list(READS))
    if word != "EXPLAIN":
        return
    inner, runs = _explained(tokens[1:])
    allowed = READS[:4] if runs else EXPLAINED
    if inner not in allowed:
        raise Declined(Why.REFUSED, "EXPLAIN takes one of these; with ANALYZE, which runs it, one that reads", list(allowed))


def _explained(tokens: list[_Token]) -> tuple[str, bool]:
    """What follows EXPLAIN and its options, and whether it would be run."""
    runs = False
    if len(tokens) > 1 and tokens[0].text == "(" and tokens[1].keyword not in (*READS, "", *EXPLAINED):
        close = next((place for place, token in enumerate(tokens) if token.text == ")"), len(tokens))
        runs = any(token.function.upper() in ("ANALYZE", "ANALYSE") for token in tokens[:close])
        tokens = tokens[close + 1 :]
    while tokens and tokens[0].keyword in ("ANALYZE", "ANALYSE", "VERBOSE", "QUERY", "PLAN"):
        runs = runs or tokens[0].keyword.startswith("ANALY")
        tokens = tokens[1:]
    return _first(tokens), runs


def _first(tokens: list[_Token]) -> str:
    return next((token.keyword for token in tokens if token.text != "("), "")


def _tokens(sql: str, dialect: Dialect) -> Iterator[_Token]:
    pattern = re.compile(
        rf"(?P<space>[ \t\n\r\f\v]+|{dialect.comment})|(?P<open>/\*)|(?P<quoted>{dialect.quotes})|(?P<broken>['\"`])"
        rf"|(?P<word>{_LETTER}[\w$\x80-\U0010ffff]*+)|(?P<number>[$?:@]?\d[\w.]*+)|(?P<sign>.)",
        re.S | re.A,
    )
    place = 0
    while place < len(sql):
        match = pattern.match(sql, place)
        assert match is not None, "any character is a sign"
        kind = str(match.lastgroup)
        if kind == "broken":
            raise Declined(Why.REFUSED, f"the query has a quote {match[0]} that is not closed")
        place = _comment_end(sql, match.end(), nested=dialect.nested) if kind == "open" else match.end()
        if kind not in ("space", "open"):
            yield _Token(kind, match[0], place)


def _comment_end(sql: str, place: int, *, nested: bool) -> int:
    """Where the comment that was opened before ``place`` ends."""
    depth = 1
    for match in re.finditer(r"/\*|\*/", sql[place:]) if nested else re.finditer(r"\*/", sql[place:]):
        depth += 1 if match[0] == "/*" else -1
        if not depth:
            return place + match.end()
    raise Declined(Why.REFUSED, "the query has a comment that is not closed")
