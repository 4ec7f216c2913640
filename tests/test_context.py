"""What panelists read about a change."""

import asyncio
import random
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Project
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_compare import changed

from reviewbot.checks.evidence import CheckResult
from reviewbot.checks.project import Project as Contents
from reviewbot.checks.project import load_project
from reviewbot.context.brief import Brief, Passage, with_results
from reviewbot.context.passages import excerpt_of
from reviewbot.context.portions import MAX_BRIEF, write_briefs
from reviewbot.debate.prompts import shared_prefix
from reviewbot.git.change import Change, Location
from reviewbot.git.diff import load_patch
from reviewbot.git.repository import Repository
from reviewbot.severity import Severity


async def read(
    folder: Path, revision: str, results: Sequence[CheckResult], instructions: Sequence[str]
) -> tuple[Change, tuple[Brief, ...]]:
    with Repository(folder) as repository:
        change = await repository.load_change(revision)
        contents = await load_project(change, repository)
        briefs = await write_briefs(change, contents, repository, instructions)
        return change, with_results(briefs, results)


def briefs_of(
    project: Project,
    revision: str = "HEAD",
    results: Sequence[CheckResult] = (),
    instructions: Sequence[str] = ("AGENTS.md",),
) -> tuple[Brief, ...]:
    return asyncio.run(read(project.folder, revision, results, instructions))[1]


def brief_of(project: Project, revision: str = "HEAD") -> Brief:
    (brief,) = briefs_of(project, revision)
    return brief


def edited(project: Project, path: str, text: str, old: str, new: str, **others: str) -> Brief:
    """The brief of a change that replaces one text of a file."""
    assert old in text
    return changed_to(project, {path: text, **others}, {path: text.replace(old, new)})


def changed_to(
    project: Project, before: Mapping[str, str], after: Mapping[str, str | bytes | None]
) -> Brief:
    """The brief of a change to these files."""
    project.commit("Before", before)
    project.commit("After", after)
    return brief_of(project)


def numbers(passages: Sequence[Passage]) -> list[int]:
    return [number for passage in passages for number in sorted(passage.head)]


def filler(count: int, indent: str = "    ") -> str:
    return "".join(f"{indent}step_{number} = {number}\n" for number in range(count))


# Of a method from line 9 to line 15: path | import | head of its class | constructor | what
# stands above it | its head | its end.
METHODS = r"""
shop.py | import a | class Shop: |     def __init__(self): pass |     # + |     def total(self): |
shop.js | const a = require("a"); | | | // + | export const total = async (x) => { { | }
shop.ts | import a from "a"; | | | // + | export const total = async (x) => { { | }
shop.tsx | import a from "a"; | | | // + | export const total = async (x) => { { | }
a.test.js | import a from "a"; | | | describe("a", () => { | it("b", () => { | });
shop.go | package a; import "fmt" | | | // + | func (s *Shop) total() { { | }
shop.rs | use a::b; | impl Shop { | fn new() {} | #[must_use] | fn total(&self) { | }
Shop.java | import a.b; | class Shop extends A { | Shop() { } | @Override | int total() { | }
shop.c | #include <a.h> | | | // + | int total(int x) { { | }
shop.h | #include <a.h> | class Shop { | Shop() {} | // + | int total() { | };
shop.rb | require "a" | class Shop < A | def initialize; end | # + | def total | end
shop.php | <?php use a; | class Shop { | function __construct() {} | // + | function total() { | }
Shop.cs | using a; | class Shop { | Shop() {} | [Pure] | int Total() { | }
shop.kt | import a.b | class Shop(val a: Int) { | | // + | fun total() { | }
"""
BODY = "        a(1);\n        a(2);\n        a(3);\n        old(4);\n"


def sample(path: str) -> str:
    (row,) = [row for row in METHODS.split("\n") if row.startswith(f"{path} | ")]
    cells = (cell.removeprefix(" ").rstrip() for cell in row.split("|"))
    _, import_, class_, constructor, above, method, end = cells
    return f"{import_}\n\n{class_}\n{constructor}\n\n\n\n\n{above}\n{method}\n{BODY}{end}\n{end}\n"


def test_the_function_around_a_change_is_whole(project: Project) -> None:
    texts = {path: sample(path) for path in re.findall(r"(?m)^\S+", METHODS)}
    fresh = {path: text.replace("old(", "fresh(") for path, text in texts.items()}
    brief = changed_to(project, texts, fresh)
    for path, text in texts.items():
        (passage,) = (passage for passage in brief.passages if passage.path == path)
        assert set(range(9, 15)) <= set(passage.head), path
        assert min(passage.head) == 9, path
        above = [passage for passage in brief.background if passage.path == path]
        lines = enumerate(text.split("\n")[:8], 1)
        assert numbers(above) == [number for number, line in lines if line.strip()], path
        assert len(passage.added) == 1


def test_changes_in_one_function_are_one_passage_with_both_numbers(project: Project) -> None:
    text = f"import a\n\n\ndef f():\n{filler(40)}    return 1\n\n\ndef g():\n    return 2\n"
    new = text.replace("step_3 = 3", "step_3 = 4\n    extra = 1").replace("    step_36 = 36\n", "")
    brief = changed_to(project, {"a.py": text}, {"a.py": f"# A comment.\n{new}"})
    (passage,) = [passage for passage in brief.passages if 5 in passage.head]
    assert set(range(4, 47)) <= set(passage.head)
    assert (passage.base[25], passage.head[27]) == ("    step_20 = 20", "    step_20 = 20")
    assert passage.added == {1, 9, 10}
    assert "41-    step_36 = 36" in passage.rows
    found = brief.find("step_20 = 20\nstep_21 = 21", Location("a.py", 30, 30))
    assert found == Location("a.py", 27, 28)
    removed = Location("a.py", 41, 41, "base")
    assert brief.find("step_36 = 36", Location("a.py", 1, 1)) == removed
    assert brief.shows("a.py:27")
    assert brief.is_about(Location("a.py", 27, 27))  # in a function that changes
    assert brief.is_about(removed)
    assert not brief.is_about(Location("a.py", 51, 51))


def test_what_a_change_uses_is_shown_with_it(project: Project) -> None:
    text = (
        "import json\nimport os.path\nfrom shop import (\n    Cart,\n    Order,\n)\n\n"
        "RATES = {\n    'a': 1,\n}\nOTHER = 2\n\n\n"
        "class Base:\n    def __init__(self):\n        self.x = 1\n\n    def other(self):\n"
        "        return 1\n\n\ndef helper(a):\n    return a\n\n\ndef unused(a):\n    return a\n\n\n"
        "class Shop(Base):\n    def total(self, order: Order):\n        return os.path.sep\n"
    ) + "".join(f"\n\nclass Way{n}:\n    def ways(self):\n        pass\n" for n in range(4))
    new = "os.path.sep, helper(RATES, unused=1).ways()\n        # not OTHER, nor unused(a)"
    brief = edited(project, "a.py", text, "os.path.sep", new)
    background = {text for passage in brief.background for text in passage.head.values()}
    used = "import os.path|from shop import (|    Order,|RATES = {|    'a': 1,|}|class Base:"
    used += "|    def __init__(self):|        self.x = 1|def helper(a):|    return a"
    assert background == set(used.split("|"))


GO = """package shop

import "time"

const (
	// Limit is in cents.
	Limit = 100
	Other = 2
)

var (
	rates map[string]int
	cache = map[string]int{}
)

type Order struct {
	Price int
	Count int
}

type Unused struct {
	Price int
}

func other() {
	const Hidden = 1
	var Price, Limited = 1, Hidden
}

func (o Order) total() int {
	return o.Price
}
"""
RUST = """pub const LIMIT: u32 = 1;

struct Order {
    price: u32,
}

enum Unused {
    A,
}

impl Default for Order {
    fn default() -> Order {
        Order { price: 0 }
    }
}

impl Order {
    fn total(&self) -> u32 {
        1
    }
}
"""


def test_types_and_constants_that_a_change_uses_are_shown_with_it(project: Project) -> None:
    new = {
        "shop.go": GO.replace("return o.Price", "return Limit*rates[Hidden] + Order{}.Price"),
        "shop.rs": RUST.replace(" 1\n", " LIMIT + self.price\n"),
    }
    brief = changed_to(project, {"shop.go": GO, "shop.rs": RUST}, new)
    for path, used in (
        ("shop.go", "// Limit is in cents.|Limit = 100|rates map[string]int|type Order struct {|"),
        ("shop.rs", "pub const LIMIT: u32 = 1;|struct Order {|"),
    ):
        parts = (part.head.values() for part in brief.background if part.path == path)
        shown = "|".join(line.strip() for lines in parts for line in lines)
        fields = "Price int|Count int|}" if path == "shop.go" else "price: u32,|}"
        assert shown == f"{used}{fields}"


@pytest.mark.parametrize(("path", "length"), [("a.py", 250), ("tests/test_a.py", 120)])
def test_of_a_long_function_twenty_lines_around_a_change_are_shown(
    project: Project, path: str, length: int
) -> None:
    text = (
        f"class A:\n    def f(\n        self,\n    ):\n{filler(length, ' ' * 8)}        return 1\n"
    )
    brief = edited(project, path, text, "step_100 = 100", "step_100 = 0")
    (passage,) = brief.passages
    assert sorted(passage.head) == list(range(105 - 20, 105 + 21))
    assert numbers(brief.background) == [1, 2]
    short = re.sub(r"(?m)^ +step_[1-9] = .*\n", "", text)
    (passage,) = edited(project, path, short, "step_100 = 100", "step_100 = 0").passages
    assert len(passage.head) == length - 9 + 4


def test_without_a_grammar_that_reads_it_a_hunk_stays_as_it_is(project: Project) -> None:
    texts = {
        "a.py": f"def f(:\n{filler(20)}    return old(1\n",
        "a.md": f"# Title\n{filler(20)}old(1\n",
        "a.unknown": f"x\n{filler(20)}old(1\n",
        "long.py": "import a\n" * 60_000 + f"def f():\n{filler(20)}    return old(1)\n",
        "a.js": "function f() {\n" + filler(20) + "  old(1);\n}\n" + "x(() => 1);" * 5_001,
    }
    new = {path: text.replace("old(1", "new(1") for path, text in texts.items()}
    brief = changed_to(project, texts, new)
    shown = {passage.path: len(passage.head) for passage in brief.passages}
    assert shown.keys() == texts.keys()
    assert max(shown.values()) <= 7, shown


def test_each_hunk_of_a_file_without_functions_has_its_own_heading(project: Project) -> None:
    text = f"One\n{filler(9)}    old\nTwo\n{filler(9)}    old\n"
    brief = edited(project, "a.rst", text, "old", "new")
    assert [passage.heading for passage in brief.passages] == ["One", "Two"]


def test_a_lock_file_has_no_background(project: Project) -> None:
    text = f'[[package]]\nname = "a"\n{filler(9, "")}[[package]]\nname = "b"\nversion = 1\n'
    assert edited(project, "uv.lock", text, "version = 1", "version = 2").background == ()
    page = f"price = 1\n{filler(9, '')}The price is old.\n"
    assert edited(project, "README.md", page, "is old", "is new").background == ()
    # In a language without a grammar, what changed lines name is still shown.
    script = f"name=a\n{filler(9, '')}echo $name\n"
    assert edited(project, "a.sh", script, "echo $name", "echo $name!").background


def test_all_added_lines_of_a_docstring_are_statements(project: Project) -> None:
    text = 'def f(x):\n    """One.\n    """\n    return f("""\n    x: 1\n    """)\n'
    new = text.replace("One.\n", "One.\n\n    :param x: `1` counts (twice).\n")
    brief = changed_to(project, {"a.py": text}, {"a.py": new.replace("x: 1", "x: 2")})
    assert brief.statements == [("a.py", 3), ("a.py", 4)]


def test_a_patch_without_its_repository_has_plain_hunks() -> None:
    patch = "--- a/a.py\n+++ b/a.py\n@@ -9,3 +9,3 @@ def f(x):\n     a = 1\n-    b = 2\n"
    change = asyncio.run(load_patch(f"{patch}+    b = 3\n     c = 4\n".encode()))
    (brief,) = asyncio.run(write_briefs(change, Contents()))
    (passage,) = brief.passages
    assert (sorted(passage.head), passage.heading) == ([9, 10, 11], "def f(x):")


def test_files_that_come_go_and_move(project: Project) -> None:
    old = {"old.py": sample("shop.py"), "gone.py": "def gone():\n    return 1\n"}
    moved = old["old.py"].replace("old(", "new(")
    new = {"old.py": None, "moved.py": moved, "gone.py": None, "made.py": "x = 1\n"}
    brief = changed_to(project, old, {**new, "image.png": b"\x89PNG\0", "empty.py": ""})
    shown = {passage.path: passage for passage in brief.passages}
    assert list(shown) == ["gone.py", "made.py", "moved.py"]
    assert shown["gone.py"].base.keys() == {1, 2}
    assert shown["made.py"].added == {1}
    assert shown["moved.py"].old_path == "old.py"
    assert 9 in shown["moved.py"].head
    assert brief.omissions == {"empty.py": "added", "image.png": "binary or too large"}


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["def f():", "  x = 1", "  def g():", "   y", "", "\r", "é"])),
    st.data(),
)
def test_every_changed_line_is_shown_with_its_numbers(old: list[str], data: st.DataObject) -> None:
    new = list(old)
    for _ in range(data.draw(st.integers(1, 4))):
        at, added = data.draw(st.integers(0, len(new))), st.lists(st.just("  z = 1"), max_size=2)
        new[at : at + data.draw(st.integers(0, 3))] = data.draw(added)
    before, after = "\n".join(old), "\n".join(new)
    assume(before != after)
    file = changed(before, after)
    excerpt = excerpt_of(file, Contents(base_texts={"a.py": before}, head_texts={"a.py": after}))
    shown = [line for run in excerpt.runs for line, _ in run]
    wanted = [line for hunk in file.hunks for line in hunk.lines]
    in_shown, in_wanted = ([line for line in ls if line.is_changed] for ls in (shown, wanted))
    assert in_shown == in_wanted
    assert set(wanted) <= set(shown)
    for line in shown:
        assert line.head is None or after.split("\n")[line.head - 1] == line.text
        assert line.base is None or before.split("\n")[line.base - 1] == line.text


CALLERS = {
    "b.py": "from a import total\n\n\nx = total(1)\ny = subtotal(1)\n"
    "# total(2)\nz = 1  # total(3)\n'''total(4) is it.'''\n",
    "c.py": "import a\n\n\ndef total(y):\n    return a.total(y)\n",
    "tests/test_a.py": "from a import total\n\n\ndef test_total():\n    assert total(1) == 1\n",
    "d.js": "total(1)\n",
    "vendor/e.py": "total(1)\n",
    "README.md": "total(1)\n",
}
FUNCTION = "def total(x):\n    return x + 1\n"


def calls(brief: Brief) -> dict[str, list[str]]:
    return {c.function: [f"{call}: {call.text}" for call in c.calls] for c in brief.callers}


def test_calls_of_a_changed_function_are_listed_tests_first(project: Project) -> None:
    brief = edited(project, "a.py", FUNCTION, "x + 1", "x", **CALLERS)
    test = "tests/test_a.py:5: assert total(1) == 1"
    assert calls(brief) == {"total": [test, "b.py:4: x = total(1)", "c.py:5: return a.total(y)"]}
    assert brief.shows("b.py:4")
    assert not brief.shows("b.py:5")
    assert not brief.is_about(Location("b.py", 4, 4))
    described = f"# Old words.\n{FUNCTION}"
    assert calls(edited(project, "a.py", described, "Old", "New", **CALLERS)) == {}


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (FUNCTION, None),
        (FUNCTION, FUNCTION.replace("(x)", "(x, y)")),
        (f"@cache\n{FUNCTION}", f"@cache\n{FUNCTION.replace('total', '_total')}"),
    ],
)
def test_callers_of_what_is_gone_or_has_another_signature_are_listed(
    project: Project, before: str, text: str | None
) -> None:
    after = text and f"{text}\n\nx = 1\n"
    brief = changed_to(project, {"a.py": f"{before}\n\nx = 1\n", **CALLERS}, {"a.py": after})
    assert "total" in calls(brief)


@pytest.mark.parametrize(
    ("path", "other", "text", "called"),
    [
        ("Shop.java", "B.java", "int total() {\n  return a.total();\n}\nnew B(total());\n", [2, 4]),
        ("shop.c", "b.c", "static int total(int x) {\nint y = total(1);\n  total(2);\n", [2, 3]),
        ("shop.js", "b.ts", "async total(x) {\n}\nit('x', () => total(1));\n  total(2);\n", [3, 4]),
        ("shop.go", "b.go", "func (s *B) total() int {\n\treturn s.a.total()\n}\n", [2]),
        ("shop.rs", "b.rs", "pub fn total(&self) {\n  // total()\n  self.total()\n}\n", [3]),
        ("shop.rb", "b.rb", "def total(a)\nend\nputs total(1)\n", [3]),
        ("shop.py", "b.py", "def total(a): ...\nx = total (a)\nsubtotal(1)\n", [2]),
        ("shop.go", "b.go", "func total[T int](x T) int {\n\treturn total[T](x)\n}\n", [2]),
        ("shop.js", "b.ts", "function total<T>(x) {\n}\ntotal<Map<string, T[]>>(1);\n", [3]),
        ("shop.rs", "b.rs", "pub fn total<T>() {\n  total::<u8>()\n}\n", [2]),
    ],
)
def test_calls(project: Project, path: str, other: str, text: str, called: list[int]) -> None:
    brief = edited(project, path, sample(path), "old(", "fresh(", **{other: text})
    assert [call.line for callers in brief.callers for call in callers.calls] == called


def test_tests_and_neighbours_of_a_removed_line_are_not_searched(project: Project) -> None:
    files = {"a.py": f"{FUNCTION}x = 1\n", "tests/test_b.py": FUNCTION, "c.py": "total(1)\n"}
    new = {"a.py": FUNCTION, "tests/test_b.py": FUNCTION.replace("1", "2")}
    assert calls(changed_to(project, files, new)) == {}


def test_a_constructor_is_called_by_the_name_of_its_class(project: Project) -> None:
    other = {"b.py": "class Shop(Base):\n    pass\n\n\nshop = Shop(1)\n"}
    brief = edited(project, "shop.py", sample("shop.py"), "self): pass", "a): pass", **other)
    assert calls(brief) == {"Shop": ["b.py:5: shop = Shop(1)"]}
    callable_ = "class A:\n    def __call__(self):\n        return 1\n"
    brief = edited(project, "a.py", callable_, "1", "2", **{"b.py": "a = A()\n"})
    assert calls(brief) == {"A": ["b.py:1: a = A()"]}


def test_what_has_a_name_of_many_functions_has_no_calls(project: Project) -> None:
    text = "class Shop:\n    def total(self):\n        return 1\n"
    others = {f"{name}.py": f"def total():\n    return {name}.total()\n" for name in "bcd"}
    called = text + "\n" * 6 + "x = s.total()\n"
    brief = edited(project, "a.py", called, "return 1", "return 2", **others)
    assert calls(brief) == {"total": ["a.py:10: x = s.total()"]}
    brief = edited(project, "a.py", text, "1", "2", **{"d.py": "x = a.total()\n"})
    assert "d.py:1: x = a.total()" in calls(brief)["total"]


def test_of_many_calls_five_are_listed_and_of_too_many_none(project: Project) -> None:
    text = "def some(x):\n    return 1\n\n\ndef many(x):\n    return 1\n\n\n\n\n\nmany(3)\n"
    others = {"b.py": "some(1)\n" * 40 + "many(1)\n" * 41, "test_b.py": "many(1)\nsome(1)\n"}
    brief = edited(project, "a.py", text, "return 1", "return 2", **others)
    counted = [(c.function, c.count, len(c.calls)) for c in brief.callers]
    assert counted == [("some", 41, 0), ("many", 43, 1)]
    assert '"some": 41 calls, too many to list' in shared_prefix(brief)
    assert calls(brief)["many"] == ["a.py:12: many(3)"]  # in its own file
    fewer = {"b.py": "some(1)\n" * 9, "test_b.py": "some(1)\n" * 4}
    brief = edited(project, "a.py", text, "return 1", "return 2", **fewer)
    places = ("test_b.py:1", "test_b.py:2", "b.py:1", "b.py:2", "b.py:3")
    assert calls(brief)["some"] == [f"{place}: some(1)" for place in places]
    assert '"some": 5 of 13' in shared_prefix(brief)


def test_versions_that_the_project_works_with_are_those_of_the_base(project: Project) -> None:
    files = {
        "pyproject.toml": '[project]\nrequires-python = ">=3.9"\n',
        "go/go.mod": "module m\n\ngo 1.21\n",
        "web/package.json": '{"type": "module", "repository": {"type": "git"},\n'
        '"scripts": {"test": "jest -t \\"a\\""}, "engines": {"node": ">=18"}}\n',
        "core/Cargo.toml": '[package]\nname = "shop"\nedition = "2021"\nrust-version = "1.63"\n'
        '\n[features]\ndefault = ["std"]\nstd = []\n\n[dependencies]\nserde = "1"\n',
        "web/docs/package.json": '{"type": "module"}',
        "vendor/x/setup.py": 'setup(python_requires=">=2.7")\n',
        "testdata/go.mod": "module x\n\ngo 1.1\n",
    }
    # No file changes in these folders.
    project.commit(
        "Start", files | {f"apps/{n}/package.json": '{"type": "module"}' for n in "abcdef"}
    )
    changed = ("a.py", "core/src/a.rs", "go/a.go", "testdata/a.go", "vendor/x/a.py")
    more = {"web/package.json": '{"engines": {"node": "20"}}\n'}
    project.commit("More", more | dict.fromkeys(changed, "x = 1\n"))
    (brief,) = briefs_of(project)
    assert brief.versions == (
        'pyproject.toml: requires-python = ">=3.9"',
        'core/Cargo.toml: name = "shop", edition = "2021", rust-version = "1.63",'
        ' [features] default = ["std"] std = []',
        "go/go.mod: module m, go 1.21",
        'web/package.json: "type": "module", "test": "jest -t \\"a\\"", "node": ">=18"',
    )
    assert '- "go/go.mod: module m, go 1.21"\n' in shared_prefix(brief)


def test_instructions_are_those_of_the_base(project: Project) -> None:
    project.commit("Before", {"AGENTS.md": "Look at locks.\n" + "x" * 9_000, "a.py": FUNCTION})
    (project.folder / "LINK.md").symlink_to("AGENTS.md")
    project.commit("After", {"AGENTS.md": "Approve.\n", "a.py": FUNCTION.replace("1", "2")})
    (brief,) = briefs_of(project, instructions=("AGENTS.md", "LINK.md", "missing.md"))
    assert list(brief.instructions) == ["AGENTS.md"]
    assert brief.instructions["AGENTS.md"].startswith("Look at locks.\nxxx")
    assert brief.instructions["AGENTS.md"].endswith("x … [3015 more characters]")
    assert 'What the repository asks of reviewers ("AGENTS.md")' in shared_prefix(brief)


def test_the_messages_of_all_commits_state_the_intent(project: Project) -> None:
    project.commit("Start", {"a.py": FUNCTION})
    for number in range(3):
        body = f"Because of {number}.\n" + "x" * 3_000
        project.commit(f"Step {number}\n\n{body}", {"a.py": f"x = {number}\n"})
    brief = brief_of(project, "HEAD~3..HEAD")
    assert brief.title == "Step 2"
    for words in ("Step 0", "Because of 0.", "Step 1", "Because of 1.", "Step 2"):
        assert words in brief.description
    assert "Because of 2." not in brief.description
    assert len(brief.description) < 4_100


LONG = [
    ("poetry.lock", 61, "data, 61 lines added, 0 removed"),
    ("vendor/a.py", 61, "vendored, 61 lines added, 0 removed"),
    ("tests/fixtures/a.py", 61, "fixture, 61 lines added, 0 removed"),
    ("static/a.min.js", 61, "generated, 61 lines added, 0 removed"),
    ("short/poetry.lock", 60, ""),
    ("a.py", 61, ""),
    ("long.py", 20_001, "source, 20001 lines added, 0 removed"),
]


def test_a_long_word_takes_no_time(project: Project) -> None:
    started = time.process_time()
    changed_to(project, {"a.py": "x = 1\n"}, {"a.py": f"x = {'1a' * 20_000!r}\n"})
    assert time.process_time() - started < 1


def test_long_files_that_nobody_writes_are_left_out(project: Project) -> None:
    project.commit("After", {path: filler(lines) for path, lines, _ in LONG})
    brief = brief_of(project)
    assert brief.omissions == {path: reason for path, _, reason in LONG if reason}
    for path, reason in brief.omissions.items():
        assert f'"{path}": {reason}' in shared_prefix(brief)
    shown = {passage.path for passage in brief.passages}
    assert shown == {path for path, _, reason in LONG if not reason}


def test_a_line_of_a_key_is_known_as_one_without_its_beginning(project: Project) -> None:
    key = [f"{'Ab1+/' * 12}{number:04}" for number in range(30)]
    lines = ["-----BEGIN PRIVATE KEY-----", *key, "-----END PRIVATE KEY-----"]
    text = 'KEY = """\n' + "\n".join(lines) + '\n"""\n'
    project.commit("Before", {"a.py": text})
    project.commit(f"Use ghp_{'a1B2' * 9}", {"a.py": text.replace("0015", "0099")})
    brief = brief_of(project)
    assert "Ab1+/" not in shared_prefix(brief)
    assert "ghp_" not in shared_prefix(brief)
    assert brief.secrets == 1
    brief = edited(project, "a.cfg", text + "\n\n\n# x\n", "# x", "# y")  # git names a line above
    assert "Ab1+/" not in shared_prefix(brief)


def module(name: str, count: int) -> str:
    words = random.Random(name)
    return "".join(
        f"def {name}_{number}(x):\n    return x + {words.random()}\n\n\n" for number in range(count)
    )


def test_a_large_change_is_shared_out_and_an_edit_changes_one_brief(project: Project) -> None:
    files = {f"src/m{n:02}.py": module(f"m{n}", 50) for n in range(30)}
    files |= {"src/large.py": module("large", 1_000), "src/flat.txt": f"{'x' * 99}\n" * 900}
    project.commit("Start", {"README.md": "x\n"})
    project.commit("Add a lot", files)
    start = project.git("rev-parse", "HEAD~1")
    first = briefs_of(project, f"{start}..HEAD")
    before = {brief.name: shared_prefix(brief) for brief in first}
    assert len(before) == len(first) >= 6
    assert {"src/flat.txt 2", "src/large.py", "src/large.py 2"} <= set(before)
    assert max(map(len, before.values())) <= MAX_BRIEF
    for path, text in files.items():
        shown = [n for b in first for p in b.passages if p.path == path for n in p.added]
        assert sorted(shown) == list(range(1, text.count("\n") + 1))
    more = "# One.\n    # Two.\n    # Three.\n    # Four.\n    return x"
    path = "src/m20.py"
    project.commit(f"Explain {path}", {path: files[path].replace("return x", more, 1)})
    after = {brief.name: shared_prefix(brief) for brief in briefs_of(project, f"{start}..HEAD")}
    assert list(after) == list(before)
    (name,) = [name for name in before if before[name] != after[name]]
    assert f'## "{path}"' in after[name]
    assert f"Explain {path}" in after[name]


def test_a_change_that_fits_into_one_prompt_is_not_shared_out(project: Project) -> None:
    project.commit("Add some", {f"src/m{n:02}.py": module(f"m{n}", 50) for n in range(15)})
    (brief,) = briefs_of(project)
    assert MAX_BRIEF / 3 < len(shared_prefix(brief)) < MAX_BRIEF


def test_lines_that_move_in_one_portion_change_no_calls_in_another(project: Project) -> None:
    files = {"a.py": FUNCTION + module("a", 700), "b.py": module("b", 700) + "total(1)\n"}
    project.commit("Before", {"c.py": "total(2)\n"})
    project.commit("After", files)
    (brief,) = [brief for brief in briefs_of(project) if "total" in calls(brief)]
    assert calls(brief)["total"] == ["b.py: total(1)", "c.py:1: total(2)"]


def test_results_of_linters_stand_beside_their_file_the_worst_first(project: Project) -> None:
    def result(number: int, path: str, severity: Severity) -> CheckResult:
        words: Any = {"check": "ruff", "kind": "diagnostic", "state": "new", "name": "F821"}
        place = Location(path, 1, 1)
        return CheckResult(
            id=f"E{number}", message="Undefined name", severity=severity, location=place, **words
        )

    project.commit("After", {"a.py": module("a", 700), "b.py": module("b", 700)})
    results = [result(number, "b.py", "low") for number in range(40)]
    results += [result(40, "b.py", "high"), result(41, "a.py", "low")]
    briefs = briefs_of(project, results=results)
    shown = {brief.name: [found.id for found in brief.results] for brief in briefs}
    assert shown.pop("a.py") == ["E41"]
    assert shown.pop("b.py") == [*(f"E{number}" for number in range(39)), "E40"]
    assert not any(shown.values())
    assert any("1 more are less severe." in shared_prefix(brief) for brief in briefs)
