"""Results of tools as JSON: whatever is asked, an object comes back, screened and no larger than a page."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.tools import page
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Database, Grounds
from reviewbot.adapters.tools.toolbox import Tools
from reviewbot.adapters.tools.trees import Trees
from reviewbot.domain.change import Revisions
from reviewbot.errors import GitError
from reviewbot.ports import Ended, Hit, Job, Outcome, ToolCall, ToolSpec, TreeEntry
from tests.rings import examples

KEY = "A" + "KIA" + "Q" * 16
BODY = ["QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm"] * 4
PEM = "\n".join(["-----BEGIN PRIVATE " + "KEY-----", *BODY, "-----END PRIVATE " + "KEY-----"])

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([KEY, PEM, "\u202e", "\0", "src/a.py"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


class World:
    """A tree of one file, a search that finds it, and a room in which nothing starts."""

    level = "bubblewrap"
    notes: tuple[str, ...] = ()

    def blob(self, object_id: str) -> bytes:
        return b'"quoted"\t\\ \x1b[0m\n' * 900

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        return (TreeEntry("src/a.py", 0o100644, "blob", 4),)

    def export(self, tree: str, into: Path) -> tuple[str, ...]:
        raise NotImplementedError

    def find(self, tree: str, words: tuple[str, ...], *, whole: bool, most: int) -> tuple[Hit, ...]:
        return (Hit("src/a.py", 1, b'"quoted"'),)

    def run(self, job: Job) -> Outcome:
        return Outcome(Ended.EXITED, 0, stdout=b"".join(job.files[0][1:]) * 900, stderr=b"\xff\0")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Tools:
    place = tmp_path_factory.mktemp("data") / "shop.db"
    sqlite3.connect(place).close()
    world = World()
    trees = Trees(world, Revisions("range", "b", "h", "base", "head"))
    return Tools(Grounds(trees, world, (Database("shop", f"sqlite:///{place}"),), ("*",), world))


def checked(tools: Tools, name: str, arguments: str) -> dict[str, Any]:
    """What came back, which is an object, an error exactly if it says so, and fits."""
    result = tools.use(ToolCall("1", name, arguments))
    document = json.loads(result.text)
    assert isinstance(document, dict)
    assert ("error" in document) == result.is_error
    if result.is_error:
        assert document["error"].keys() == {"kind", "message", "expected"}
        assert document["error"]["kind"] in set(Why)
        assert document["error"]["message"]
    assert len(result.text.encode()) <= page.MOST_BYTES
    assert len(result.text.split("\n", 1)[0]) < 3_000, "a record keeps the first line"
    return document


@given(st.sampled_from(["read_file", "search", "list_directory", "execute_command", "nothing"]), anything)
@settings(max_examples=examples(150), derandomize=True)
def test_any_arguments_give_an_object_and_never_an_exception(tools: Tools, name: str, arguments: Any) -> None:
    checked(tools, name, json.dumps(arguments))


@given(
    st.sampled_from(["read_file", "search", "list_directory", "execute_command"]),
    st.fixed_dictionaries(
        {},
        optional={
            "path": st.text() | st.sampled_from(["", "src", "src/a.py", "../x", "a\0b", "/"]),
            "revision": st.sampled_from(["head", "base", None, "x"]),
            "text": st.text(max_size=9) | st.just('"quoted"'),
            "start": st.integers(-3, 2_000) | anything,
            "end": st.integers(-3, 2_000),
            "argv": st.lists(st.text(), max_size=4) | anything,
            "directory": st.text() | st.sampled_from(["src", "..", "nowhere"]),
            "timeout_seconds": st.integers() | st.booleans(),
        },
    ),
)
@settings(max_examples=examples(300), derandomize=True)
def test_arguments_with_the_right_names_give_an_object_too(tools: Tools, name: str, arguments: dict[str, Any]) -> None:
    known = next(spec for spec in tools.specs if spec.name == name).parameters["properties"]
    checked(tools, name, json.dumps({key: value for key, value in arguments.items() if key in known}))


@given(st.text() | st.sampled_from(["", "{", "null", "[1]", '{"a": NaN}', '{"path": 1e999}', "9" * 5000]))
@settings(max_examples=examples(60), derandomize=True)
def test_what_is_no_json_gives_an_object(tools: Tools, text: str) -> None:
    checked(tools, "search", text)


@given(
    st.sampled_from(["SELECT ?", "EXPLAIN SELECT 1", "DELETE FROM a", "SELECT 1; SELECT 2", "((("]) | st.text(max_size=20),
    anything,
)
@settings(max_examples=examples(12), derandomize=True)
def test_any_query_gives_an_object(tools: Tools, query: str, parameters: Any) -> None:
    checked(tools, "query_database", json.dumps({"database": "shop", "query": query, "parameters": parameters}))


@given(anything)
@settings(max_examples=examples(150), derandomize=True)
def test_screening_keeps_the_shape_and_leaves_nothing_hidden(value: Any) -> None:
    screened = page.screened(value)
    assert shape(screened) == shape(value)
    texts = list(page._texts(screened))
    assert not any(KEY in text or "QUJD" in text or "\u202e" in text or "\0" in text for text in texts)
    assert page.screened(screened) == screened


def shape(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [shape(item) for item in value]
    return value.count("\n") if isinstance(value, str) else repr(value)


def test_a_key_of_several_lines_is_known_though_each_stands_in_a_text_of_its_own() -> None:
    numbered = [f"{number:6} | {line}" for number, line in enumerate(PEM.split("\n"), 1)]
    assert "QUJD" not in page.told({"lines": numbered})
    assert "QUJD" not in page.told({"rows": [[line, 1] for line in PEM.split("\n")]})


def test_a_text_of_which_only_the_ends_fit_says_what_is_missing() -> None:
    assert page.ends("short", 20) == "short"
    text = "".join(f"line {number}\n" for number in range(2_000))
    cut = page.ends(text, 1_000)
    assert cut.startswith("line 0\nline 1\n")
    assert cut.endswith("line 1999\n")
    assert "characters are left out⟩" in cut
    assert page.size(cut) <= 1_000
    assert page.size(page.ends('"\\\x1b\u20ac' * 999, 500)) <= 500


def test_what_is_short_stands_in_the_first_line_and_each_line_of_a_list_in_its_own() -> None:
    text = page.told({"path": "a", "lines": [f"{n} | {'x' * 90}" for n in range(9)], "more": None})
    first, second, *_, last = text.split("\n")
    assert first == '{"path": "a",'
    assert second == '"lines": ['
    assert last == '], "more": null}'
    assert len(text.split("\n")) == 12
    assert json.loads(text)["lines"][8].startswith("8 | x")


SPEC = ToolSpec("made", "", {"type": "object", "properties": {"n": {"type": ["integer", "null"], "description": ""}}})


class Made:
    """A tool that does what a test wants."""

    spec = SPEC

    def __init__(self, work: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        self.answer = work


def a_box(work: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Tools:
    world = World()
    return Tools(
        Grounds(Trees(world, Revisions("range", "b", "h", "base", "head")), world), (lambda _: Made(work), lambda _: None)
    )


def test_a_further_tool_is_a_line_in_the_table() -> None:
    box = a_box(lambda arguments: {"twice": 2 * arguments["n"]})
    assert box.specs == (SPEC,)
    assert checked(box, "made", '{"n": 4}') == {"twice": 8}


def test_a_result_that_somebody_forgot_to_cut_is_an_error() -> None:
    assert checked(a_box(lambda _: {"text": "x" * page.MOST_BYTES}), "made", "{}")["error"]["kind"] == "failed"


def test_equal_calls_of_several_panelists_are_made_once() -> None:
    begun, go_on, made = threading.Event(), threading.Event(), []

    def slow(arguments: Mapping[str, Any]) -> dict[str, Any]:
        made.append(arguments)
        begun.set()
        assert go_on.wait(10)
        return {"n": len(made)}

    box, said = a_box(slow), []
    threads = [threading.Thread(target=lambda: said.append(box.use(ToolCall("1", "made", '{"n": 1}')).text)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert (said, len(made)) == (['{"n": 1}'] * 3, 1)


@pytest.mark.parametrize(
    ("trouble", "times"),
    [
        (Declined(Why.TIMEOUT, "late"), 2),
        (GitError("gone"), 2),
        (Declined(Why.REFUSED, "no"), 1),
        (Declined(Why.MISSING, "no"), 1),
    ],
)
def test_what_failed_may_be_tried_again_and_what_is_refused_stays_so(trouble: Exception, times: int) -> None:
    made = []

    def work(_: Mapping[str, Any]) -> dict[str, Any]:
        made.append(1)
        raise trouble

    box = a_box(work)
    assert checked(box, "made", "{}") == checked(box, "made", "{}")
    assert len(made) == times


def test_who_calls_a_tool_in_the_wrong_way_is_shown_the_schema_again() -> None:
    def work(_: Mapping[str, Any]) -> dict[str, Any]:
        raise Declined(Why.INVALID, "not so")

    assert checked(a_box(work), "made", "{}")["error"]["expected"] == SPEC.parameters
