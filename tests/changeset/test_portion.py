"""A change in portions: nothing lost, nothing doubled, cut where a reader would cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.changeset import pack
from reviewbot.changeset.cut import line_tokens
from reviewbot.changeset.portion import divide, listed, oversized, passage_tokens, portion_tokens
from reviewbot.ports import Passage, Removed
from reviewbot.testing import a_passage
from tests.rings import examples


def everything(passages: tuple[Passage, ...] | list[Passage]) -> Counter[tuple[str, str, int, str]]:
    """Every changed and every removed line, with how often it is there."""
    added = [(p.path, "+", number, p.text(number) or "") for p in passages for number in p.changed]
    gone = [(p.path, "-", line.before, line.text) for p in passages for line in p.removed]
    return Counter(added + gone)


def flat(portions: tuple[tuple[Passage, ...], ...]) -> list[Passage]:
    return [passage for portion in portions for passage in portion]


def paths(portions: tuple[tuple[Passage, ...], ...]) -> list[list[str]]:
    return [list(dict.fromkeys(passage.path for passage in portion)) for portion in portions]


TEXTS = st.sampled_from(
    ["", "x = 1", "    y = 2", "def f():", "class A:", "    def g(self):", "}", "# say", "é" * 40, "z" * 90, "@d"]
)


@st.composite
def some_passages(draw: st.DrawFn) -> list[Passage]:
    made: list[Passage] = []
    for path in draw(
        st.lists(st.sampled_from(["a/b.py", "a/c.go", "tests/test_b.py", "README.md", "auth.py"]), max_size=4, unique=True)
    ):
        at = 1
        for _ in range(draw(st.integers(1, 2))):
            lines = draw(st.lists(TEXTS, max_size=25))
            end = at + len(lines)
            changed = draw(st.sets(st.integers(at, end - 1))) if lines else set()
            gone = sorted(draw(st.lists(st.integers(at, end), max_size=12, min_size=0 if lines else 1)))
            removed = tuple(Removed(number, f"old {index}") for index, number in enumerate(gone))
            made.append(Passage(path, at, tuple(lines), frozenset(changed), "f", removed))
            at = end + 5
    return made


@given(some_passages(), st.sampled_from([1, 60, 90, 150, 400, 5000]))
@settings(max_examples=examples(150), derandomize=True)
def test_nothing_is_lost_or_doubled_and_the_size_is_kept(passages: list[Passage], tokens: int) -> None:
    portions = divide(passages, tokens)
    assert everything(flat(portions)) == everything(passages)
    assert all(portions)
    for index, portion in enumerate(portions):
        if portion_tokens(portion) > tokens:
            assert index in oversized(portions, tokens)
            assert len(portion) == 1
            assert len(portion[0].lines) + len(portion[0].removed) == 1, "a single line that is larger than the room"
    assert divide(passages, tokens) == portions


@given(some_passages(), st.sampled_from([60, 90, 150, 400]))
@settings(max_examples=examples(100), derandomize=True)
def test_lines_keep_their_numbers_and_their_order(passages: list[Passage], tokens: int) -> None:
    known = {(p.path, p.start + index): text for p in passages for index, text in enumerate(p.lines)}
    order = {p.path: index for index, p in reversed(list(enumerate(passages)))}
    for portion in divide(passages, tokens):
        assert all(known[p.path, p.start + index] == text for p in portion for index, text in enumerate(p.lines))
        ranks = [order[p.path] for p in portion]
        assert ranks == sorted(ranks)
        for one, other in pairwise(portion):
            if one.path == other.path and one.changed and other.changed:
                assert max(one.changed) < min(other.changed)
    seen = Counter((p.path, number) for p in flat(divide(passages, tokens)) for number in range(p.start, p.start + len(p.lines)))
    assert set(known) == set(seen), "context is shown too"


@given(st.text(max_size=300), st.integers(1, 5))
@settings(max_examples=examples(150), derandomize=True)
def test_a_line_is_never_cheaper_than_the_pack_says(line: str, times: int) -> None:
    text = "\n".join([line.replace("\n", " ")] * times)
    assert sum(map(line_tokens, text.split("\n"))) >= pack.tokens(text.encode("utf-8", "replace"))


def test_a_small_change_is_one_portion_in_its_own_order() -> None:
    passages = [a_passage("README.md", "a"), a_passage("auth.py", "b"), a_passage("z.py", "c")]
    assert divide(passages, 1000) == (tuple(passages),)
    assert divide([], 1000) == ()


def test_what_is_risky_comes_first_and_prose_last() -> None:
    body = "\n".join(f"line {number}" for number in range(40))
    names = ["README.md", "x/data.json", "y/plain.py", "z/auth.py"]
    portions = divide([a_passage(name, body) for name in names], 400)
    assert paths(portions) == [["z/auth.py"], ["y/plain.py"], ["x/data.json"], ["README.md"]]


def test_a_module_and_its_test_stay_together_though_other_files_would_fit_as_well() -> None:
    body = "\n".join(f"line {number}" for number in range(20))
    names = ["src/shop/a.py", "src/shop/b.py", "tests/shop/test_a.py", "tests/shop/test_b.py"]
    portions = divide([a_passage(name, body) for name in names], 270)
    assert paths(portions) == [["src/shop/a.py", "tests/shop/test_a.py"], ["src/shop/b.py", "tests/shop/test_b.py"]]


def test_files_of_one_directory_stay_together_when_they_fit() -> None:
    body = "\n".join(f"line {number}" for number in range(20))
    names = ["a/one.py", "b/one.py", "a/two.py", "b/two.py"]
    portions = divide([a_passage(name, body) for name in names], 270)
    assert paths(portions) == [["a/one.py", "a/two.py"], ["b/one.py", "b/two.py"]]


METHODS = [
    line
    for number in range(12)
    for line in (f"    def method_{number}(self):", '        """Say."""', "", f"        x = {number}", "        return x")
]
SHOP = "\n".join(["import os", "", "class Shop:", *METHODS])


@pytest.mark.parametrize("path", ["shop.py", "shop.unknown"])
def test_a_huge_passage_is_cut_between_functions_and_says_where_it_goes_on(path: str) -> None:
    portions = divide([a_passage(path, SHOP)], 250)
    assert len(portions) > 2
    for portion in portions[1:]:
        head, part = portion
        assert head == Passage(path, 3, ("class Shop:",), frozenset(), "Shop")
        assert part.lines[0].startswith("    def method_")
        assert part.symbol == "Shop"
    assert oversized(portions, 250) == ()


def test_a_function_longer_than_the_room_repeats_its_first_line() -> None:
    body = "\n".join(["def long(a):", *(f"    a += {number}" for number in range(100))])
    portions = divide([a_passage("long.py", body)], 400)
    assert all(portion[0].lines == ("def long(a):",) and not portion[0].changed for portion in portions[1:])
    assert all(portion[1].symbol == "long" for portion in portions[1:])


def test_python_is_parsed_so_that_a_text_is_no_function() -> None:
    plain = [f"x_{number} = {number}" for number in range(20)]
    fake = ["TEXT = '''", *(f"def fake_{number}(): pass" for number in range(8)), "'''"]
    passage = a_passage("x.py", "\n".join([*plain, "def real():", "    return 1", *fake]))
    _, (later,) = divide([passage], passage_tokens(passage) - 1)
    assert later.lines[0] == "def real():"


def test_code_between_brackets_is_cut_where_they_close() -> None:
    functions = [line for n in range(10) for line in (f"func f{n}() {{", "\tx := 1", "\ty := 2", "\treturn", "}")]
    portions = divide([a_passage("main.go", "\n".join(functions))], 180)
    assert len(portions) > 1
    assert all(portion[0].lines[0].startswith("func ") and portion[0].lines[-1] == "}" for portion in portions)


def test_a_decorator_stays_with_its_function() -> None:
    functions = [line for n in range(20) for line in ("# about it", "@decorated", f"def f{n}():", "    return 1")]
    portions = divide([a_passage("x.unknown", "\n".join(functions))], 180)
    assert all(passage.lines[0] == "# about it" for portion in portions[1:] for passage in portion)


def test_a_long_removal_is_cut_too() -> None:
    removed = tuple(Removed(1, f"gone {number}") for number in range(200))
    portions = divide([Passage("a.py", 1, (), frozenset(), "", removed)], 300)
    assert tuple(line for passage in flat(portions) for line in passage.removed) == removed
    assert len(portions) > 3
    assert oversized(portions, 300) == ()


def test_a_line_longer_than_the_room_is_alone_and_named() -> None:
    lines = ["a = 1", "x" * 5000, "b = 2"]
    portions = divide([a_passage("a.js", "\n".join(lines))], 200)
    assert [portion[0].lines for portion in portions if len(portion[0].lines[0]) > 100] == [("x" * 5000,)]
    (index,) = oversized(portions, 200)
    assert portions[index][0].lines == ("x" * 5000,)


def test_a_head_is_left_out_where_its_line_would_not_fit_any_more() -> None:
    lines = ["def f():", "    " + "y " * 300, "    " + "z " * 300]
    wide = passage_tokens(replace(a_passage("a.txt", lines[1]), symbol="f"))
    portions = divide([replace(a_passage("a.txt", "\n".join(lines)), symbol="f")], wide)
    assert [len(portion) for portion in portions] == [1, 1, 1]
    assert oversized(portions, wide) == ()


def test_the_rest_of_a_risky_directory_waits_for_its_turn() -> None:
    body = "\n".join(f"line {number}" for number in range(40))
    names = ["a/auth.py", "a/notes.md", "b/plain.py"]
    assert paths(divide([a_passage(name, body) for name in names], 400)) == [["a/auth.py"], ["b/plain.py"], ["a/notes.md"]]


def test_portions_are_listed_by_name() -> None:
    passages = [a_passage("b.py", "x = 1\n" * 90), a_passage("a.md", "y = 2\n" * 90)]
    one, two = listed(divide(passages, 500))
    assert (one.name, one.paths, two.name, two.paths) == ("P1", ("b.py",), "P2", ("a.md",))
    assert one.tokens == passage_tokens(passages[0])
