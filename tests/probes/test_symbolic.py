"""What CrossHair adds to guesses: inputs that nobody guesses, and the word that all paths were followed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reviewbot.domain.evidence import Side
from reviewbot.evidence.parsers import formal
from reviewbot.evidence.parsers.formal import Counterexample, Searched
from reviewbot.ports import Ended, Job
from tests.probes.folders import Folders
from tests.sandboxes import open_room

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

pytest.importorskip("crosshair")

FOLLOW = {"examples": 10, "paths": 200, "seconds": 30}

#: Code with a branch for arguments that no table holds, and what makes up the arguments.
RARE = {
    "two numbers": "def f(a: int, b: int): return {} if 3 * a + 5 * b == 123457 else 0",
    "a text": "def f(s: str): return {} if len(s) == 3 and s[0] == 'q' and s[2] == '#' else 0",
    "a list": "def f(xs: list[int]): return {} if len(xs) == 2 and xs[0] - xs[1] == 77123 + len(xs) else 0",
    "a dictionary": "def f(d: dict[int, int]): return {} if sum(d.values()) == 43 * 43 else 0",
    "an object": "class A:\n    def __init__(self, n: int): self.n = n * 2\ndef f(a: A): return {} if a.n == 9 * 98766 else 0",
    "a method": "class A:\n    def __init__(self, n: int): self.n = n\n    def f(self, m: int): return {} if self.n - m == 7 * 7777 else 0",
    "objects in a list": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    n: int\n"
    "def f(xs: list[A]): return {} if len(xs) > 1 and xs[1].n == 4321 * 2 + 1 else 0",
    "an optional one": "def f(a: int, b: int | None = None): return {} if b is not None and b > a + 31 * 31313 else 0",
    "an argument that is changed": "def f(xs: list[int]):\n    if len(xs) == 1 and xs[0] == 9 * 98765: xs.append({})",
    "what is printed": "def f(a: int):\n    if a == 9 * 98765: print({})",
}


@pytest.mark.parametrize("name", RARE)
def test_a_difference_that_nobody_guesses_is_found(folders: Folders, name: str) -> None:
    function = "A.f" if name == "a method" else "f"
    found = folders.compare(RARE[name].format(1), RARE[name].format(2), function, **FOLLOW)
    assert isinstance(found, Counterexample), found
    assert found.by == "crosshair"


def test_what_is_imported_during_a_call_is_the_side_s_own(folders: Folders) -> None:
    code = "def f(a: int):\n    from shop import limit\n    return a == limit.LIMIT"
    for side, value in (("base", 9), ("head", 8)):
        limit = f"LIMIT = {value} * 98765\n"
        folders.lay(side, {"shop/__init__.py": "", "shop/price.py": code, "shop/limit.py": limit})
    trees = {side: str(folders.top / side) for side in ("base", "head")}
    found = folders.search(trees | FOLLOW | {"path": "shop/price.py", "function": "f"})
    assert isinstance(found, Counterexample)
    assert found.by == "crosshair"


@pytest.mark.smoke
def test_all_paths_of_a_simple_function_are_followed(folders: Folders) -> None:
    code = "def f(a: int, b: int):\n    if a > b: return a - b\n    return b - a"
    found = folders.compare(code, code.replace("a > b", "b < a"), **FOLLOW)
    assert isinstance(found, Searched)
    assert found.exhausted
    assert "all" in found.bound


def test_objects_that_are_never_made_do_not_count_as_paths_not_followed(folders: Folders) -> None:
    code = "class A:\n    def __init__(self, a: int):\n        if a < 0: raise ValueError\n        self.a = a\ndef f(a: A): return a.a"
    found = folders.compare(code, code + " + 0", **FOLLOW)
    assert isinstance(found, Searched)
    assert found.exhausted


@pytest.mark.parametrize(
    "code",
    [
        "def f(a: float): return a + 1",
        "class A:\n    def __init__(self, a: int, b=1): self.a = a\ndef f(a: A): return a.a",
        "import decimal\ndef f(a: decimal.Decimal): return 1",
        "class A:\n    def __init__(self, a: int): self.a = a\ndef f(xs: list[A]): return len(xs)",
        "import typing\ndef f(a: int | typing.Callable[[], int]): return 1",
    ],
)
def test_paths_that_are_only_some_are_not_called_all(folders: Folders, code: str) -> None:
    found = folders.compare(code, code, **FOLLOW)
    assert isinstance(found, Searched), found
    assert not found.exhausted


@pytest.mark.ci
def test_two_symbolic_searches_come_to_the_same(folders: Folders) -> None:
    pair = ("def f(xs: list[int]): return sorted(set(xs))", "def f(xs: list[int]): return sorted(dict.fromkeys(xs))")
    first = folders.compare(*pair, **FOLLOW)
    assert isinstance(first, Searched)
    assert not first.cut
    assert folders.compare(*pair, **FOLLOW) == first


def test_code_that_ends_the_symbolic_search_leaves_what_was_guessed(folders: Folders) -> None:
    code = "import os, sys\ndef f(a: int):\n    if 'crosshair' in sys.modules: os._exit(3)\n    return a"
    found = folders.compare(code, code, **FOLLOW)
    assert isinstance(found, Searched)
    assert found.cut
    assert "ended the search" in found.bound


def test_code_that_reaches_for_the_world_on_a_rare_path_is_stopped_there(folders: Folders) -> None:
    code = "def f(a: int):\n    if a == 9 * 98765: open('made', 'w')\n    return a"
    found = folders.compare(code, code, **FOLLOW)
    assert isinstance(found, Searched)
    assert not found.exhausted
    assert not list(folders.top.rglob("made"))


CONTRACT = """
def half(a: int) -> int:
    '''
    pre: a >= 0
    post: _ * 2 == a
    '''
    return a // 2

class Tank:
    def __init__(self, level: int):
        self.level = level

    def fill(self, more: int) -> int:
        '''
        pre: more > 0
        post: self.level == __old__.self.level + more
        '''
        self.level += more if more != 9 * 98765 else 1
        return self.level

def plain(a: int) -> int:
    return a

def kept(a: int) -> int:
    '''
    post: _ > a
    '''
    return a + 1
"""


def contract(folders: Folders, function: str) -> Any:
    tree = folders.lay("tree", {"shop.py": CONTRACT})
    spec = {"tree": str(tree), "path": "shop.py", "function": function, "contract": True}
    (found,) = folders.run("contract", spec | FOLLOW).results
    return found


@pytest.mark.parametrize(("function", "line"), [("half", 5), ("Tank.fill", 16)])
def test_a_contract_in_the_code_that_does_not_hold_has_a_counterexample(folders: Folders, function: str, line: int) -> None:
    found = contract(folders, function)
    assert isinstance(found, Counterexample), found
    assert found.judged is not None
    assert found.judged.line == line
    spec = {"tree": str(folders.top / "tree"), "path": "shop.py", "function": function, "contract": True}
    assert folders.replay(**spec, arguments=found.arguments) == found.judged


def test_a_contract_that_holds_is_followed_on_all_paths(folders: Folders) -> None:
    found = contract(folders, "kept")
    assert isinstance(found, Searched)
    assert found.exhausted


def test_a_function_without_a_contract_is_said_to_have_none(folders: Folders) -> None:
    found = contract(folders, "plain")
    assert isinstance(found, formal.Unable)
    assert found.code == "missing"


@pytest.mark.parametrize("level", ["bubblewrap", "unconfined"])
def test_the_search_runs_inside_the_sandbox_and_its_limits(tmp_path: Path, level: str) -> None:
    for side, value in (("base", 1), ("head", 2)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "shop.py").write_text(RARE["two numbers"].format(value))
    room = open_room(level, tmp_path)
    spec = json.dumps({"path": "shop.py", "function": "f"} | FOLLOW).encode()
    words = ("{scratch}/spec.json", "{scratch}/report", "head={tree}/head", "base={tree}/base")
    job = Job(
        "search",
        ("{own_python}", "-s", "-B", "{probes}/reviewbot_behaviour.py", *words),
        60,
        executes=True,
        tree=Side.HEAD,
        files=(("spec.json", spec),),
        collect=("report",),
        environment=(("PYTHONHASHSEED", "0"),),
    )
    try:
        outcome = room.run(job)
    finally:
        room.close()
    assert (outcome.ended, outcome.exit_code) == (Ended.EXITED, 0), outcome.stderr
    (found,) = formal.read(outcome.file("report") or b"").results
    assert isinstance(found, Counterexample)
    assert found.by == "crosshair"
