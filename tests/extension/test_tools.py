"""Tools of other packages stand behind the same door as ours: they see what ours see, and what they say is checked and screened."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.installed import Extension
from reviewbot.adapters.tools import outside, page, toolbox
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Database, Grounds
from reviewbot.adapters.tools.outside import OWN, OutsideTool
from reviewbot.adapters.tools.toolbox import Tools
from reviewbot.adapters.tools.trees import Trees
from reviewbot.domain.change import Revisions
from reviewbot.errors import ConfigError, GitError
from reviewbot.ports import ToolCall, ToolSpec
from tests.rings import examples

KEY = "AKIA" + "Q5TZ7WXN3J2KDVB4"
ONE = Extension("tool", "odd", "odd-package", "1.0", "odd:offered")
WORDS = {"properties": {"text": {"type": ["string", "null"], "description": "anything"}}}


class Odd:
    """A tool that does what a test wants."""

    def __init__(self, work: Callable[[], Any], parameters: Mapping[str, Any] = WORDS, description: str = "Odd.") -> None:
        self.spec = ToolSpec("another name", description, parameters)
        self._work = work

    def answer(self, arguments: Mapping[str, Any]) -> Any:
        return self._work()


def told(work: Callable[[], Any]) -> tuple[dict[str, Any], bool]:
    """What a model is told, and whether that is an error."""
    tools = Tools(_grounds(), (lambda _: OutsideTool(ONE, Odd(work)),))
    result = tools.use(ToolCall("c", "odd", "{}"))
    assert len(result.text.encode()) <= page.MOST_BYTES
    return json.loads(result.text), result.is_error


def _grounds(**other: Any) -> Grounds:
    nothing: Any = None
    return Grounds(Trees(nothing, Revisions("range", "b", "h", "base", "head")), nothing, **other)


def raising(error: BaseException) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


def test_its_words_are_screened_and_its_name_is_the_operators() -> None:
    assert told(lambda: {"said": [f"key {KEY}", "x\u202ey", 1, 0.5, None, True, {"more": ("a",)}]}) == (
        {"said": ["key «secret:aws-access-key»", "x⟨U+202E⟩y", 1, 0.5, None, True, {"more": ["a"]}]},
        False,
    )


DEEP: dict[str, Any] = {}
_inner = DEEP
for _ in range(2_000):
    _inner["a"] = {}
    _inner = _inner["a"]


class Lost(Mapping[str, Any]):
    """A result that is read when it is looked at, and gone by then."""

    def __getitem__(self, key: str) -> Any:
        raise OSError(key)

    def __iter__(self) -> Iterator[str]:
        raise OSError("gone")

    def __len__(self) -> int:
        return 1


FAILS = {
    "it raises": (raising(KeyError("x")), "the tool failed (KeyError: 'x')"),
    "it leaves": (raising(SystemExit(0)), "the tool failed (SystemExit: 0)"),
    "it fails while it is read": (Lost, "the tool failed (OSError: gone)"),
    "it fails while a part is read": (lambda: {"a": Lost()}, "the tool failed (OSError: gone)"),
    "it refuses in a way that is none": (raising(Declined("no", "x")), "the tool failed (ValueError"),  # type: ignore[arg-type]
    "it tells a key": (raising(ValueError(KEY)), "the tool failed (ValueError: «secret:aws-access-key»)"),
    "no object": (lambda: ["a"], "it is no object"),
    "nothing": (lambda: None, "it is no object"),
    "no JSON": (lambda: {"a": {1}}, "set is no value of JSON"),
    "no number": (lambda: {"a": float("nan")}, "float is no value of JSON"),
    "a large number": (lambda: {"a": 10**400}, "int is no value of JSON"),
    "a field that is no name": (lambda: {KEY: 1, "a b": 2}, "a field's name has letters"),
    "a field that is no text": (lambda: {1: 2}, "a field's name has letters"),
    "deep": (lambda: DEEP, "nested too deeply"),
    "large": (lambda: {"a": "x" * (page.MOST_BYTES + 1)}, "larger than a page: ask for less"),
    "huge": (lambda: {"a": "x" * 10_000_000}, "larger than a page: ask for less"),
}


@pytest.mark.parametrize("how", FAILS)
def test_what_it_does_wrong_is_told_to_the_model_and_nothing_ends(how: str) -> None:
    work, words = FAILS[how]
    document, is_error = told(work)
    assert (document["error"]["kind"], is_error) == ("failed", True)
    assert words in document["error"]["message"]


@pytest.mark.parametrize("named", [["ada"], {1}, ["x" * page.MOST_BYTES]])
def test_it_may_refuse_as_ours_do(named: Any) -> None:
    document, is_error = told(raising(Declined(Why.MISSING, "no such owner", named)))
    expected = ["ada"] if named == ["ada"] else None
    assert (document, is_error) == ({"error": {"kind": "not_found", "message": "no such owner", "expected": expected}}, True)


def test_one_that_never_returns_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "SECONDS", 0.1)
    let_go = threading.Event()
    document, is_error = told(lambda: let_go.wait(60) and {})
    let_go.set()
    assert (document["error"]["kind"], is_error) == ("timeout", True)
    assert document["error"]["message"] == "the tool took longer than 0.1 s"


def test_a_fault_of_git_is_gits() -> None:
    assert told(raising(GitError("gone")))[0]["error"]["message"] == "git could not answer: gone"


def test_it_is_shown_what_ours_are_shown_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    given_to: list[Grounds] = []

    def make(grounds: Grounds) -> Odd:
        given_to.append(grounds)
        return Odd(dict)

    monkeypatch.setattr(outside.installed, "loaded", lambda _: make)
    room: Any = object()
    grounds = _grounds(databases=(Database("shop", "postgresql://ada:secret@db.example/shop"),), commands=("make",), room=room)
    assert outside.offered(ONE, grounds) is not None
    assert given_to == [Grounds(grounds.trees, grounds.search)]
    assert given_to[0].room is None


def test_one_that_has_nothing_to_work_on_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside.installed, "loaded", lambda _: lambda _: None)
    assert outside.offered(ONE, _grounds()) is None


def test_its_schema_is_written_as_models_want_it() -> None:
    given_schema = {
        "properties": {"a": {"type": "array", "items": {"type": "string", "pattern": "x"}, "$ref": "#"}},
        "additionalProperties": True,
    }
    assert OutsideTool(ONE, Odd(dict, given_schema)).spec.parameters == {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}}},
        "required": ["a"],
        "additionalProperties": False,
    }


SPECS: dict[str, tuple[Any, Any]] = {
    "no properties": ({}, "Odd."),
    "no type": ({"properties": {"a": {}}}, "Odd."),
    "an unknown type": ({"properties": {"a": {"type": "object"}}}, "Odd."),
    "an array of nothing": ({"properties": {"a": {"type": "array"}}}, "Odd."),
    "a name that is none": ({"properties": {"a b": {"type": "string"}}}, "Odd."),
    "no description": (WORDS, ""),
    "a long description": (WORDS, "x" * 2_000),
    "a description that is no text": (WORDS, None),
}


@pytest.mark.parametrize("how", SPECS)
def test_a_schema_that_cannot_be_held_against_arguments_is_an_error_at_the_start(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters, description = SPECS[how]
    monkeypatch.setattr(outside.installed, "loaded", lambda _: lambda _: Odd(dict, parameters, description))
    with pytest.raises(ConfigError, match=r"the tool 'odd' of odd-package 1\.0 cannot be used"):
        outside.offered(ONE, _grounds())


def test_names_of_our_own_are_known() -> None:
    assert {offered.__module__.rpartition(".")[2] for offered in toolbox.TOOLS} | {"code"} == set(OWN)


NAMES = st.sampled_from(["a", "b", "c"]) | st.text(max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=examples(60))
@given(value=st.dictionaries(NAMES, VALUES, max_size=3) | VALUES)
def test_whatever_it_returns_the_model_is_told_json(value: Any) -> None:
    told(lambda: value)
