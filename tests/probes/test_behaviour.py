"""Whether two versions of a function do the same: every search here is a real process on real folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.adapters.sandbox.plain import PROBES
from reviewbot.evidence.parsers.formal import Called, Counterexample, Ending, Searched, Unable, differ
from tests.probes.folders import Folders

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

ITEM = """
from dataclasses import dataclass

@dataclass
class Item:
    price: int
    count: int = 1
"""
CART = (
    ITEM
    + """
class Cart:
    def __init__(self, items: list[Item]):
        self._items = list(items)
"""
)

PRESERVING = {
    "a shift for a product": (
        "def f(a: int, b: int) -> int: return a * 2 + b",
        "def f(a: int, b: int) -> int: return (a << 1) + b",
    ),
    "another order of text operations": ("def f(s: str): return s.strip().lower()", "def f(s: str): return s.lower().strip()"),
    "a loop for a comprehension": (
        "def f(xs: list[int]): return [x for x in xs if x > 1]",
        "def f(xs: list[int]):\n    out = []\n    for x in xs:\n        if x > 1:\n            out.append(x)\n    return out",
    ),
    "get for a membership test": (
        "def f(d: dict[str, int], k: str): return d[k] if k in d else 0",
        "def f(d: dict[str, int], k: str): return d.get(k, 0)",
    ),
    "another message of the same exception": (
        "def f(a: int):\n    if a < 0: raise ValueError('negative')\n    return a",
        "def f(a: int):\n    if a < 0: raise ValueError(f'{a} is below zero')\n    return a",
    ),
    "another order of a float sum": (
        "def f(a: float, b: float, c: float): return (a + b) * c if abs(a) < 1e6 and abs(b) < 1e6 and abs(c) < 1e6 and a > 0 and b > 0 else 0.0",
        "def f(a: float, b: float, c: float): return a * c + b * c if abs(a) < 1e6 and abs(b) < 1e6 and abs(c) < 1e6 and a > 0 and b > 0 else 0.0",
    ),
    "a parameter more that callers need not give": ("def f(a: int): return a", "def f(a: int, loud: bool = False): return a"),
    "annotations that only the head has": ("def f(a): return a", "def f(a: int): return a + 0"),
    "a cache": (
        CART + "    def f(self) -> int: return sum(i.price for i in self._items)",
        CART + "    def f(self) -> int:\n        self._sum = sum(i.price for i in self._items)\n        return self._sum",
    ),
    "a dataclass returned": (
        ITEM + "def f(i: Item): return Item(i.price * 2, i.count)",
        ITEM + "def f(i: Item): return Item(price=i.price + i.price, count=i.count)",
    ),
}

BREAKING: dict[str, tuple[str, str, str, str]] = {
    "an off-by-one": ("def f(a: int): return a > 9", "def f(a: int): return a >= 9", "returns False", "returns True"),
    "a lost case of the empty list": (
        "def f(xs: list[int]): return max(xs, default=0)",
        "def f(xs: list[int]): return max(xs)",
        "returns 0",
        "raises ValueError",
    ),
    "another exception": (
        "def f(d: dict[str, int]):\n    if not d: raise KeyError('none')\n    return 1",
        "def f(d: dict[str, int]):\n    if not d: raise IndexError('none')\n    return 1",
        "raises KeyError",
        "raises IndexError",
    ),
    "an argument that is changed": (
        "def f(xs: list[int]): return sorted(xs)",
        "def f(xs: list[int]):\n    xs.sort()\n    return xs",
        "returns [0, 1]",
        "returns [0, 1]",
    ),
    "what is printed": ("def f(a: int): print(a)", "def f(a: int): print(-a)", "returns None", "returns None"),
    "another default": (
        "def f(a: int, b: int = 1): return a + b",
        "def f(a: int, b: int = 2): return a + b",
        "returns 1",
        "returns 2",
    ),
    "a default that became required": ("def f(a: int = 1): return a", "def f(a: int): return a", "returns 1", "raises TypeError"),
    "or for get": (
        "def f(d: dict[str, int], k: str): return d.get(k, 7)",
        "def f(d: dict[str, int], k: str): return d.get(k) or 7",
        "returns 0",
        "returns 7",
    ),
    "a field that is forgotten": (
        ITEM + "def f(items: list[Item]): return sum(i.price * i.count for i in items)",
        ITEM + "def f(items: list[Item]): return sum(i.price for i in items)",
        "returns 0",
        "returns 1",
    ),
    "a private attribute": (
        CART + "    def f(self, i: Item) -> None: self._items.append(i)",
        CART + "    def f(self, i: Item) -> None: self._items.insert(0, i)",
        "returns None",
        "returns None",
    ),
    "an enumeration": (
        "import enum\nclass Size(enum.Enum):\n    S = 1\n    M = 2\ndef f(s: Size): return s",
        "import enum\nclass Size(enum.Enum):\n    S = 1\n    M = 2\ndef f(s: Size): return Size.S",
        "returns Size.M",
        "returns Size.S",
    ),
    "a bound that is a constant of the module": (
        "LIMIT = 86400\ndef f(seconds: int): return seconds <= LIMIT",
        "LIMIT = 86400\ndef f(seconds: int): return seconds < LIMIT",
        "returns True",
        "returns False",
    ),
    "an end of the process": (
        "def f(a: int): return a",
        "import os\ndef f(a: int):\n    if a == 3: os._exit(9)\n    return a",
        "returns 3",
        "ends the process with code 9",
    ),
    "a polite end of the process": (
        "def f(a: int): return a",
        "import sys\ndef f(a: int):\n    if a == 3: sys.exit('no')\n    return a",
        "returns 3",
        "raises SystemExit (no)",
    ),
    "recursion for a loop": (
        "def f(n: int): return n",
        "def f(n: int): return 0 if n <= 0 else 1 + f(n - 1) if n > 0 else n",
        "returns -1",
        "returns 0",
    ),
    "a generator that ends early": (
        "def f(xs: tuple[int, ...]):\n    yield from xs",
        "def f(xs: tuple[int, ...]):\n    for x in xs:\n        if x == 2: return\n        yield x",
        "returns generator[2]",
        "returns generator[]",
    ),
}

UNABLE = {
    "import": ("raise RuntimeError('at import')", "def f(a: int): return a"),
    "missing": ("def g(a: int): return a", "def f(a: int): return a"),
    "parameters": ("def f(a: int): return a", "def f(b: int): return b"),
    "annotations": ("def f(a): return a", "def f(a): return a"),
    "asynchronous": ("async def f(a: int): return a", "async def f(a: int): return a"),
    "input/output": ("def f(s: str): return open(s, 'w')", "def f(s: str): return open(s, 'w')"),
    "nondeterministic": ("import random\ndef f(a: int): return random.random()",) * 2,
    "vacuous": (
        "class A:\n    def __init__(self, a: int): raise ValueError\ndef f(a: A): return 1",
        "class A:\n    def __init__(self, a: int): raise ValueError\ndef f(a: A): return 2",
    ),
}


@pytest.mark.smoke
@pytest.mark.parametrize("name", PRESERVING)
def test_a_refactoring_that_preserves_behaviour_has_no_counterexample(folders: Folders, name: str) -> None:
    base, head = PRESERVING[name]
    found = folders.compare(base, head, "Cart.f" if "class Cart" in base else "f")
    assert isinstance(found, Searched), found
    assert not found.cut


@pytest.mark.smoke
@pytest.mark.matrix
@pytest.mark.parametrize("name", BREAKING)
def test_a_refactoring_that_does_not_has_one_that_can_be_replayed(folders: Folders, name: str) -> None:
    base, head, at_base, at_head = BREAKING[name]
    function = "Cart.f" if "class Cart" in base else "f"
    found = folders.compare(base, head, function)
    assert isinstance(found, Counterexample), found
    assert found.base is not None
    assert found.head is not None
    assert found.base.words.startswith(at_base)
    assert found.head.words.startswith(at_head)
    spec = {"path": "shop.py", "function": function, "arguments": found.arguments}
    assert folders.replay(tree=str(folders.top / "base"), **spec) == found.base
    assert folders.replay(tree=str(folders.top / "head"), **spec) == found.head


@pytest.mark.ci
def test_a_proof_takes_two_replays_on_each_side_that_agree(folders: Folders) -> None:
    found = folders.compare("def f(a: int): return a", "def f(a: int): return abs(a)")
    assert isinstance(found, Counterexample)
    base, head = (twice(folders, side, "f", found.arguments) for side in ("base", "head"))
    assert differ(base, head)
    assert not differ(base, base)
    assert not differ(base[:1], head)
    assert not differ((*base, *head), head)


def twice(folders: Folders, side: str, function: str, arguments: tuple[str, ...]) -> tuple[Called, ...]:
    """Two calls in fresh processes."""
    tree = str(folders.top / side)
    calls = [folders.replay(tree=tree, path="shop.py", function=function, arguments=arguments) for _ in range(2)]
    return tuple(call for call in calls if isinstance(call, Called))


@pytest.mark.parametrize("code", UNABLE)
def test_what_cannot_be_compared_is_said_with_its_reason(folders: Folders, code: str) -> None:
    base, head = UNABLE[code]
    found = folders.compare(base, head)
    assert isinstance(found, Unable)
    assert found.code == code
    assert found.reason


@pytest.mark.parametrize("parameters", ["a: int, *rest: int", "a: int, **rest: int"])
def test_functions_that_take_any_number_of_arguments_are_not_compared(folders: Folders, parameters: str) -> None:
    found = folders.compare(f"def f({parameters}): return a", f"def f({parameters}): return a")
    assert isinstance(found, Unable)
    assert found.code == "parameters"


def test_what_depends_on_the_calls_before_is_no_counterexample(folders: Folders) -> None:
    counting = "seen = 0\ndef f(a: int) -> int:\n    global seen\n    seen += {step}\n    return seen - {step}\n"
    found = folders.compare(counting.format(step=1), counting.format(step=2))
    assert isinstance(found, Unable)
    assert found.code == "nondeterministic"


@pytest.mark.ci
def test_what_depends_on_other_calls_before_is_no_counterexample(folders: Folders) -> None:
    remembering = "seen: list[int] = []\ndef f(a: int) -> int:\n    seen.append(a)\n    return {}(seen)\n"
    found = folders.compare(remembering.format("max"), remembering.format("min"))
    assert isinstance(found, Unable)
    assert found.code == "nondeterministic"


def test_each_side_keeps_its_own_module_state(folders: Folders) -> None:
    counting = "seen = []\ndef f(a: int) -> int:\n    seen.append(a)\n    return len(seen)\n"
    assert isinstance(folders.compare(counting, counting), Searched)


@pytest.mark.ci
def test_a_call_that_hangs_is_a_counterexample_where_the_other_side_ends(folders: Folders) -> None:
    found = folders.compare("def f(a: int): return a", "def f(a: int):\n    while a == 2: pass\n    return a")
    assert isinstance(found, Counterexample)
    assert found.head is not None
    assert found.head.ending is Ending.HANGS


@pytest.mark.ci
def test_a_function_that_never_ends_does_not_hold_the_search_up(folders: Folders) -> None:
    hanging = "def f(a: int):\n    while True: pass"
    found = folders.compare(hanging, hanging)
    assert isinstance(found, Searched)
    assert found.cut
    assert "does not end" in found.bound


@pytest.mark.ci
def test_two_searches_come_to_the_same(folders: Folders) -> None:
    pair = ("def f(s: str, n: int): return s[:n]", "def f(s: str, n: int): return s[:n] if n != 3 else s[:n - 1]")
    assert folders.compare(*pair) == folders.compare(*pair)


@pytest.mark.ci
def test_methods_of_all_kinds_are_called_as_they_are(folders: Folders) -> None:
    text = """
    class Cart:
        rate: int = {0}
        def __init__(self, price: int): self.price = price
        def own(self, a: int) -> int: return self.price + a * {0}
        @staticmethod
        def still(a: int) -> int: return a * {0}
        @classmethod
        def whole(cls, a: int) -> int: return a * cls.rate
        @property
        def gross(self) -> int: return self.price * {0}
    """
    for name in ("own", "still", "whole", "gross"):
        found = folders.compare(text.format(2), text.format(3), f"Cart.{name}")
        assert isinstance(found, Counterexample), (name, found)
        assert isinstance(folders.compare(text.format(2), text.format(2), f"Cart.{name}"), Searched)


def test_a_class_that_is_made_may_stand_in_another_module(folders: Folders) -> None:
    item = "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass Item:\n    price: int\n"
    code = "from __future__ import annotations\nfrom shop import item\ndef f(i: item.Item) -> int:\n    return i.price{}\n"
    for side, extra in (("base", ""), ("head", " + 1")):
        folders.lay(side, {"src/shop/__init__.py": "", "src/shop/item.py": item, "src/shop/price.py": code.format(extra)})
    trees = {side: str(folders.top / side) for side in ("base", "head")}
    found = folders.search(trees | {"path": "src/shop/price.py", "function": "f", "paths": 0})
    assert isinstance(found, Counterexample)
    assert found.arguments == ("shop.item.Item(price=0)",)


def test_a_function_may_have_moved_and_been_renamed(folders: Folders) -> None:
    base = folders.lay("base", {"old.py": "def g(a: int): return a"})
    head = folders.lay("head", {"new.py": "def f(a: int): return a + (a == 1)"})
    moved = {"path": "new.py", "function": "f", "base_path": "old.py", "base_function": "g", "paths": 0}
    found = folders.search({"base": str(base), "head": str(head)} | moved)
    assert isinstance(found, Counterexample)


def test_a_module_that_is_called_like_one_of_python_s_own_is_the_tree_s(folders: Folders) -> None:
    for side in ("base", "head"):
        folders.lay(side, {"json.py": f"def f(a: int): return '{side}'"})
    trees = {side: str(folders.top / side) for side in ("base", "head")}
    found = folders.search(trees | {"path": "json.py", "function": "f", "paths": 0})
    assert isinstance(found, Counterexample)
    assert found.head is not None
    assert found.head.text == "'head'"


EVIL = """
class Evil:
    def __init__(self, a: int): self.a = a
    def __repr__(self): {0}
    __str__ = __eq__ = __hash__ = __reduce__ = lambda *_: 1 / 0
class Wrong(Exception):
    def __str__(self): {0}
    __repr__ = __str__
def f(a: int):
    if a > 2: raise Wrong
    return [Evil(a{1})]
"""


@pytest.mark.ci
@pytest.mark.parametrize("deed", ["raise SystemExit", "import os; os._exit(1)", "return 5", "return '\\x00\\ud800' * 9"])
def test_a_value_is_told_without_its_own_words(folders: Folders, deed: str) -> None:
    same = folders.compare(EVIL.format(deed, ""), EVIL.format(deed, ""))
    found = folders.compare(EVIL.format(deed, ""), EVIL.format(deed, " + 1"))
    assert isinstance(found, Counterexample)
    assert found.head is not None
    assert found.head.text == "[Evil(a=1)]"
    assert isinstance(same, Searched) or "_exit" in deed


VALUES = """
    'a' * 10 ** 6 + str(a)
    10 ** 6000 + a
    (lambda xs: xs.append(xs) or xs)([a])
    [[[a]] * 99] * 99
    {object(): a}
    lambda: a
    type('T', (int,), {})(a)
    float('nan') * a
    -0.0 * a
    __import__('decimal').Decimal(a)
    {str(i): i for i in range(99)}.keys()
    set('abcdefgh')
    ValueError(a)
    print('x' * 10 ** 6)
"""


@pytest.mark.ci
def test_a_value_of_any_kind_is_the_same_in_two_processes(folders: Folders) -> None:
    code = f"def f(a: int): return [{','.join(VALUES.strip().splitlines())}]"
    assert isinstance(folders.compare(code, code, examples=12), Searched)


@pytest.mark.ci
def test_an_iterator_that_never_ends_is_read_up_to_a_bound(folders: Folders) -> None:
    code = "import itertools\ndef f(a: int): return itertools.count(a{})"
    assert isinstance(folders.compare(code.format(""), code.format(""), examples=12), Searched)
    assert isinstance(folders.compare(code.format(""), code.format(", 2"), examples=12), Counterexample)


def test_a_call_that_eats_memory_says_nothing(folders: Folders) -> None:
    code = "def f(a: int): return len('x' * (10 ** 10 + a % 2))"
    found = folders.compare(code, code)
    assert isinstance(found, Unable)
    assert found.code == "vacuous"


def test_code_that_writes_where_the_answers_go_proves_nothing(folders: Folders) -> None:
    code = "import os\ndef f(a: int):\n    for n in range(3, 30):\n        try: os.write(n, b'[1]\\n')\n        except OSError: pass\n    return a"
    found = folders.compare(code, code + " + 1")
    assert isinstance(found, Unable)
    assert found.code == "spoilt"


@pytest.mark.parametrize(
    ("deed", "event"),
    [
        ("__import__('subprocess').run(['true'])", "subprocess.Popen"),
        ("__import__('socket').create_connection(('127.0.0.1', 9))", "socket"),
        ("__import__('shutil').rmtree(s)", "shutil.rmtree"),
        ("__import__('os').remove(s)", "os.remove"),
        ("__import__('os').system(s)", "os.system"),
    ],
)
def test_made_up_arguments_never_reach_the_world(folders: Folders, deed: str, event: str) -> None:
    code = f"def f(s: str):\n    try: return {deed}\n    except BaseException: return None"
    found = folders.compare(code, code)
    assert isinstance(found, Unable)
    assert found.code == "input/output"
    assert event in found.reason


def test_what_is_written_is_stopped_before_it_is_there(folders: Folders) -> None:
    code = "import os, pathlib\ndef f(a: int): pathlib.Path(__file__).with_name('made').touch()"
    found = folders.compare(code, code)
    assert isinstance(found, Unable)
    assert found.code == "input/output"
    assert not list(folders.top.rglob("made"))


@pytest.mark.smoke
@pytest.mark.parametrize("words", [[], ["none.json", "r"], ["text", "r"], ["[]", "r"], ['{"head": "."}', "r"], ["{}"]])
def test_a_spec_that_is_none_is_told_in_one_line(tmp_path: Path, words: list[str]) -> None:
    if words and words[0] != "none.json":
        (tmp_path / "spec.json").write_text(words[0])
        words = [str(tmp_path / "spec.json"), *words[1:]]
    done = subprocess.run(
        [sys.executable, str(PROBES / "reviewbot_behaviour.py"), *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
