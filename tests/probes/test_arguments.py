"""Arguments that are made up for a function, written down, and read again; and what the report says of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reviewbot.evidence.parsers.formal import Counterexample, Searched, Unable
from tests.probes.folders import Folders

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

ANNOTATED = {
    "list[dict[str, tuple[int, bool]]]": "[]",
    "tuple[int, bool]": "(0, False)",
    "set[str] | None": "None",
    "'int | str'": "0",
    "frozenset[int]": "frozenset()",
    "bytes": "b''",
    "typing.Literal['a', 3]": "'a'",
    "typing.Optional[Point]": "None",
    "Point": "Point(x=0, y=0)",
    "Options": "{'deep': False, 'name': ''}",
    "decimal.Decimal": "decimal.Decimal('0')",
    "datetime.date": "datetime.date(1, 1, 1)",
    "collections.abc.Iterable[Node]": "[]",
    "Node": "Node(left=None)",
    "Amount": "0",
    "typing.Annotated[int, 'cents']": "0",
}
TYPES = """
import collections.abc, datetime, decimal, typing
class Point(typing.NamedTuple):
    x: int
    y: int
class Options(typing.TypedDict):
    deep: bool
    name: str
class Node:
    def __init__(self, left: 'Node | None', note: object = None): self.left = left
Amount = typing.NewType('Amount', int)
"""


@pytest.mark.smoke
def test_arguments_are_made_for_many_annotations(folders: Folders) -> None:
    parameters = ", ".join(f"a{place}: {annotation}" for place, annotation in enumerate(ANNOTATED))
    code = f"{TYPES}\ndef f({parameters}): return "
    found = folders.compare(code + "1", code + "2")
    assert isinstance(found, Counterexample), found
    assert found.arguments == tuple(ANNOTATED.values())


@pytest.mark.ci
def test_examples_are_made_for_many_annotations(folders: Folders) -> None:
    pytest.importorskip("hypothesis")
    parameters = ", ".join(f"a{place}: {annotation}" for place, annotation in enumerate(ANNOTATED))
    code = f"{TYPES}\ndef f({parameters}): return a0 and a1"
    found = folders.compare(code, code, examples=100)
    assert isinstance(found, Searched), found
    assert found.by == ("boundaries", "hypothesis")


@pytest.mark.parametrize(
    "annotation", ["object", "typing.Any", "collections.abc.Callable[[], int]", "'Missing'", "typing.TextIO"]
)
def test_no_arguments_are_made_up_for_what_says_nothing(folders: Folders, annotation: str) -> None:
    code = f"{TYPES}\ndef f(a: {annotation}): return 1"
    found = folders.compare(code, code)
    assert isinstance(found, Unable)
    assert found.code == "annotations"


@pytest.mark.parametrize(
    "text", ["__import__('os')", "open('x')", "f(1)", "a.b", "1 + 1", "1, 2", "*[1]", "**{}", "lambda: 1", "", "(", "len"]
)
def test_only_literals_and_classes_are_read_as_arguments(folders: Folders, text: str) -> None:
    tree = folders.lay("head", {"shop.py": "def f(a: int): return a"})
    found = folders.replay(tree=str(tree), path="shop.py", function="f", arguments=[text])
    assert isinstance(found, Unable)
    assert found.code == "values"


def test_the_report_says_what_a_reader_needs(folders: Folders) -> None:
    found = folders.compare("def f(a: int, b: int = 0): return a", "def f(a: int, b: int = 0): return a if b < 3 else b")
    assert isinstance(found, Counterexample)
    assert found.arguments == ("0", "b=3")
    assert found.by == "boundaries"


def test_a_parameter_that_keeps_its_default_is_named(folders: Folders) -> None:
    code = "def f(a: int, key=None, /, *, sort=sorted): return a"
    found = folders.compare(code, code)
    assert isinstance(found, Searched)
    assert found.bound.startswith("with the default for key; with the default for sort; ")


def test_a_report_is_plain_json_of_ascii(folders: Folders) -> None:
    folders.compare(
        "def f(s: str): return s", "def f(s: str):\n    if 'b' in s: raise ValueError('\\x00\\ud800\\u2028')\n    return s"
    )
    lines: list[dict[str, Any]] = [
        json.loads(line) for line in (folders.top / "report1.jsonl").read_bytes().decode("ascii").splitlines()
    ]
    assert lines[0]["head"]["message"] == "\\x00\\ud800\\u2028"
