"""Listings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from reviewbot.cli.tables import as_json, columns
from tests.cli.planted import KEY


class State(StrEnum):
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Thing:
    name: str
    parts: tuple[object, ...] = ()
    state: State = State.OPEN


def test_columns_are_as_wide_as_their_widest_cell():
    assert columns(("a", "bcd"), [("long", "x"), ("y", "")], nothing="none") == "A     BCD\nlong  x\ny     -"
    assert columns(("a",), [], nothing="none") == "none"


def test_a_cell_steers_no_terminal_breaks_no_line_and_shows_no_key():
    told = columns(("a", "b"), [("\x1b[2Jx\ny", KEY)], nothing="")
    assert "\x1b" not in told
    assert KEY not in told
    assert len(told.splitlines()) == 2


def test_json_holds_every_field_and_no_key():
    told = as_json((Thing("a", (Thing("b"), MappingProxyType({"c": 1.5}), None, True)), Thing(KEY)))
    held = json.loads(told)
    assert held[0] == {
        "name": "a",
        "parts": [{"name": "b", "parts": [], "state": "open"}, {"c": 1.5}, None, True],
        "state": "open",
    }
    assert KEY not in told


def test_the_halves_of_a_key_in_two_texts_do_not_take_the_json_between_them_along():
    begin, end = "-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----"
    things = {"title": begin, "body": "A" * 30 + end, "key": f"{begin}{'A' * 30}{end}"}
    told = json.loads(as_json(things))
    assert (told["title"], told["body"]) == (begin, "A" * 30 + end)
    assert "AAAA" not in told["key"]
