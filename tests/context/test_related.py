"""Definitions, callers and tests of a change: found, ranked, cut out, fitted."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.git import GitRepo
from reviewbot.context import mentions
from reviewbot.context.blocks import Block, Parser, guessed, innermost
from reviewbot.context.mentions import Mention, found, read
from reviewbot.context.names import Names, wanted
from reviewbot.context.related import related
from reviewbot.ports import Hit, Passage, Related
from reviewbot.testing import a_passage
from tests.repo import Repo
from tests.rings import examples


def grammar(path: str, content: bytes) -> tuple[Block, ...] | None:
    pytest.importorskip("ast_grep_py")
    from reviewbot.context.grammar import parsed

    return parsed(path, content)


PARSERS = pytest.mark.parametrize("parser", [guessed, grammar])

SHOP: dict[str, str] = {
    "shop/pay.py": "def pay(amount):\n    return charge(amount)\n",
    "shop/bank.py": "import os\n\n\n@cached\ndef charge(amount):\n    send(amount)\n\n\ndef other():\n    pass\n",
    "shop/till.py": "from shop.pay import pay\n\n\ndef checkout(basket):\n    # pay (later)\n    return pay(basket.total)\n",
    "far/away/tool.py": "from shop.pay import pay\n\n\nclass Tool:\n    def run(self):\n        pay(1)\n",
    "tests/test_pay.py": "from shop.pay import pay\n\n\ndef test_pay():\n    assert pay(1) == 1\n",
    "docs/pay.md": "Call pay(1).\n",
    "shop/notes.py": "# pay(1) is called elsewhere\n",
    "shop/other.py": "def pay(x):\n    pass\n",
}


def hits_in(files: Mapping[str, str], words: tuple[str, ...]) -> list[Hit]:
    return [
        Hit(path, number, line.encode())
        for path, text in sorted(files.items())
        for number, line in enumerate(text.split("\n"), 1)
        if any(word in line for word in words)
    ]


def look_up(
    files: Mapping[str, str], passages: list[Passage], *, budget: int = 5000, parser: Parser = guessed
) -> tuple[Related, ...]:
    names = wanted(passages)
    told = found(read(hits_in(files, names.words), names.words), names, passages)
    texts = {path: files[path].encode() for path in mentions.paths(told)}
    return related(told, texts, passages, budget_tokens=budget, parser=parser)


def brief(items: tuple[Related, ...]) -> list[tuple[str, str, str, int, int]]:
    return [(i.relation, i.symbol, i.passage.path, i.passage.start, len(i.passage.lines)) for i in items]


@PARSERS
def test_a_change_comes_with_what_it_calls_who_calls_it_and_what_tests_it(parser: Parser) -> None:
    (definition, caller, test, other) = look_up(SHOP, [a_passage("shop/pay.py", SHOP["shop/pay.py"])], parser=parser)
    assert (definition.relation, definition.symbol, definition.passage.symbol) == ("definition", "charge", "charge")
    assert definition.passage.lines[-2:] == ("def charge(amount):", "    send(amount)")
    assert caller == Related(
        "caller",
        "pay",
        Passage(
            "shop/till.py",
            4,
            ("def checkout(basket):", "    # pay (later)", "    return pay(basket.total)"),
            frozenset(),
            "checkout",
        ),
    )
    assert (test.relation, test.passage.path, test.passage.lines[0]) == ("test", "tests/test_pay.py", "def test_pay():")
    assert (other.relation, other.passage.path, other.passage.symbol) == ("caller", "far/away/tool.py", "run")


def test_through_a_real_repository(git_repo: Repo, tmp_path: Path) -> None:
    for name, text in SHOP.items():
        git_repo.write(name, text)
    git_repo.commit()
    tree = git_repo.git("rev-parse", "HEAD^{tree}")
    (tmp_path / "scratch").mkdir()
    repo = GitRepo.open(git_repo.path, tmp_path / "scratch", environment=git_repo.environment)
    passages = [a_passage("shop/pay.py", SHOP["shop/pay.py"])]
    names = wanted(passages)
    told = found(read(repo.find(tree, names.words, whole=True, most=1000), names.words), names, passages)
    ids = {entry.path: entry.object_id for entry in repo.entries(tree)}
    texts = {path: repo.blob(ids[path]) for path in mentions.paths(told)}
    repo.close()
    assert related(told, texts, passages, budget_tokens=5000) == look_up(SHOP, passages)


def test_lines_that_are_shown_already_are_not_shown_again() -> None:
    text = "\n".join(
        ["def pay(x):", "    return x", "", "def more():", "    a = 1", "    pay(2)", "    pay(3)", "    return a", "x = 1"]
    )
    passages = [
        a_passage("shop/pay.py", "\n".join(text.split("\n")[:5])),
        Passage("shop/pay.py", 8, ("    return a",), frozenset({8}), ""),
    ]
    (caller,) = look_up({"shop/pay.py": text}, passages)
    assert (caller.passage.start, caller.passage.lines) == (6, ("    pay(2)", "    pay(3)"))


def test_one_function_with_two_calls_is_shown_once() -> None:
    files = {"till.py": "def checkout():\n    pay(1)\n    pay(2)\n"}
    assert brief(look_up(files, [a_passage("pay.py", "def pay(x):")])) == [("caller", "pay", "till.py", 1, 3)]


def test_of_a_large_function_the_surroundings_of_the_call_are_shown_and_of_a_large_definition_its_beginning() -> None:
    body = [f"    x{number} = {number}" for number in range(60)]
    files = {
        "caller.py": "\n".join(["def big():", *body, "    pay(1)", *body]),
        "defined.py": "\n".join(["def charge(x):", *body]),
    }
    items = brief(look_up(files, [a_passage("pay.py", "def pay(x):\n    charge(x)")]))
    assert items == [("definition", "charge", "defined.py", 1, 30), ("caller", "pay", "caller.py", 57, 11)]


def test_the_budget_is_kept_and_what_is_too_large_gives_way() -> None:
    files = {
        f"f{number}.py": f"def user_{number}():\n    pay({number})\n" + f"    y = {number}\n" * (20 if number == 0 else 1)
        for number in range(4)
    }
    everything = look_up(files, [a_passage("pay.py", "def pay(x):")])
    assert len(everything) == 4
    small = look_up(files, [a_passage("pay.py", "def pay(x):")], budget=150)
    assert [item.passage.path for item in small] == ["f1.py", "f2.py", "f3.py"]
    assert look_up(files, [a_passage("pay.py", "def pay(x):")], budget=10) == ()


def test_nearer_files_come_first_and_one_place_does_not_take_all() -> None:
    calls = "\n\n\n".join(f"def user_{number}():\n    pay({number})" for number in range(9))
    files = {"a/first.py": calls, "shop/near.py": calls, "z/far.py": calls}
    items = look_up(files, [a_passage("shop/pay.py", "def pay(x):")])
    assert [item.passage.path for item in items][:3] == ["shop/near.py", "a/first.py", "z/far.py"]
    assert len(items) == mentions.PER_SYMBOL["caller"]


def test_a_name_that_is_defined_everywhere_is_no_definition() -> None:
    files = {f"f{number}.py": "def handle(x):\n    pass\n" for number in range(mentions.MOST_DEFINITIONS + 1)}
    assert look_up(files, [a_passage("pay.py", "    handle(x)")]) == ()
    files.popitem()
    assert len(look_up(files, [a_passage("pay.py", "    handle(x)")])) == mentions.PER_SYMBOL["definition"]


def test_secrets_and_hidden_characters_are_screened_over_the_whole_file() -> None:
    body = [f"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm{n:02}" for n in range(20)]
    key = ["KEY = '''", "-----BEGIN PRIVATE " + "KEY-----", *body, "-----END PRIVATE " + "KEY-----", "'''"]
    files = {"a.py": "\n".join([*key, "pay(KEY)  # \u202e", ""])}
    (item,) = look_up(files, [a_passage("pay.py", "def pay(x):")])
    assert not any("QUJD" in line for line in item.passage.lines)
    assert item.passage.text(25) == "pay(KEY)  # ⟨U+202E⟩"


def test_a_file_that_cannot_be_read_or_is_too_large_is_left_out() -> None:
    told = (Mention("caller", "pay", "a.py", 1), Mention("caller", "pay", "b.py", 1), Mention("caller", "pay", "c.py", 9))
    texts = {"b.py": b"pay(1)\n" + b"x" * 700_000, "c.py": b"pay(1)\n"}
    assert related(told, texts, [], budget_tokens=10**6) == ()


def test_there_is_a_bound_to_the_files_and_the_mentions() -> None:
    names = Names(tuple(f"name_{number}" for number in range(24)), ())
    many = [Hit(f"d{number}/f.py", 1, f"    call(name_{number % 24})".encode()) for number in range(5000)]
    told = found(read(many, names.words), names, [a_passage("x.py", "x")])
    assert len(mentions.paths(told)) == mentions.MOST_FILES
    few = [
        Hit(path, number, f"    call(name_{number % 24})".encode()) for path in ("a.py", "test_a.py") for number in range(1, 200)
    ]
    assert len(found(read(few, names.words), names, [a_passage("x.py", "x")])) == mentions.MOST_MENTIONS


def test_a_line_that_is_shown_does_not_take_the_place_of_one_that_is_not() -> None:
    hits = [Hit("a.py", number, b"    pay(1)") for number in range(1, 11)]
    told = found(read(hits, ("pay",)), Names(("pay",), ()), [Passage("a.py", 1, ("    pay(1)",) * 8, frozenset({1}))])
    assert [mention.line for mention in told] == [9, 10]


def test_a_near_caller_of_one_symbol_comes_before_a_far_one_of_a_weightier() -> None:
    hits = [Hit("far/away.py", 1, b"    alpha(1)"), Hit("shop/near.py", 1, b"    beta(1)")]
    told = found(read(hits, ("alpha", "beta")), Names(("alpha", "beta"), ()), [a_passage("shop/pay.py", "x")])
    assert [mention.symbol for mention in told] == ["beta", "alpha"]


LINES = st.sampled_from(
    [
        "def pay(x):",
        "    pay(1)",
        "charge(2)",
        "class A:",
        "",
        "    def charge(self):",
        "x = 1",
        "}",
        "end",
        "\u202e",
        "import pay",
    ]
)


@PARSERS
@given(
    files=st.dictionaries(
        st.sampled_from(["a.py", "b/c.js", "tests/test_d.py", "e.rb"]), st.lists(LINES, max_size=25), max_size=4
    ),
    budget=st.integers(0, 400),
)
@settings(max_examples=examples(60), derandomize=True)
def test_whatever_is_there_nothing_is_shown_twice_and_the_budget_holds(
    parser: Parser, files: dict[str, list[str]], budget: int
) -> None:
    texts = {path: "\n".join(lines) for path, lines in files.items()}
    passages = [a_passage("a.py", "def pay(x):\n    charge(x)", start=3)]
    items = look_up(texts, passages, budget=budget, parser=parser)
    shown = [(i.passage.path, i.passage.start + n) for i in items for n in range(len(i.passage.lines))]
    assert len(shown) == len(set(shown))
    assert not {("a.py", 3), ("a.py", 4)} & set(shown)
    assert sum(len(line) for i in items for line in i.passage.lines) <= budget * 3.2
    assert items == look_up(texts, passages, budget=budget, parser=parser)
    for item in items:
        assert item.passage.lines
        assert not item.passage.changed


SAMPLES = {
    "a.py": (
        "@deco\ndef one():\n    pass\n\n\nclass Two:\n    def three(self):\n        pass\n",
        {("one", 1, 3), ("Two", 6, 8), ("three", 7, 8)},
    ),
    "a.js": (
        "export const one = (a) => {\n  return a\n}\nlet y = 2\nclass Two {\n  three() {\n  }\n}\n",
        {("one", 1, 3), ("Two", 5, 8), ("three", 6, 7)},
    ),
    "a.ts": ("export interface One {\n  a: number\n}\nfunction two(): void {\n}\n", {("One", 1, 3), ("two", 4, 5)}),
    "a.go": ("package x\n\nfunc (r *T) One() {\n}\n\ntype Two struct {\n}\n", {("One", 3, 4), ("Two", 6, 7)}),
    "a.rs": ("pub fn one() {\n}\nstruct Two {\n}\n", {("one", 1, 2), ("Two", 3, 4)}),
    "a.java": ("class One {\n  int two() {\n    return 1;\n  }\n}\n", {("One", 1, 5), ("two", 2, 4)}),
    "a.c": ("static int *one(int a) {\n  return 0;\n}\nstruct two {\n  int x;\n};\n", {("one", 1, 3), ("two", 4, 6)}),
    "a.cpp": ("int A::one(int a) {\n  return 0;\n}\n", {("one", 1, 3)}),
    "a.rb": ("class One\n  def two\n  end\nend\n", {("One", 1, 4), ("two", 2, 3)}),
    "a.kt": ("fun one(x: Int): Int {\n  return 1\n}\n", {("one", 1, 3)}),
    "a.sh": ("one() {\n  true\n}\n", {("one", 1, 3)}),
    "a.lua": ("function b.one()\nend\n", {("one", 1, 2)}),
    "a.php": ("<?php\nfunction one() {\n}\n", {("one", 2, 3)}),
    "a.swift": ("func one() {\n}\n", {("one", 1, 2)}),
    "a.scala": ("object One {\n  def two(x: Int) = 1\n}\n", {("One", 1, 3), ("two", 2, 2)}),
    "a.cs": ("class One {\n  void Two() {\n  }\n}\n", {("One", 1, 4), ("Two", 2, 3)}),
    "a.tsx": ("function One() {\n  return <p/>\n}\n", {("One", 1, 3)}),
}


@pytest.mark.parametrize("path", [*SAMPLES])
def test_a_grammar_knows_where_functions_begin_and_end(path: str) -> None:
    text, blocks = SAMPLES[path]
    assert {(block.name, block.start, block.end) for block in grammar(path, text.encode()) or ()} == blocks


@pytest.mark.parametrize("path", ["a.sql", "Dockerfile", "a.toml", "a", "a.PY.exe", "x.vue", ""])
def test_a_language_that_is_not_known_is_not_asked_for(path: str) -> None:
    assert grammar(path, b"def x(): pass") is None
    assert grammar("big.py", b"#" * 500_000) is None


def test_a_grammar_with_other_kinds_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ast_grep_py")
    from reviewbot.context import grammar as module

    monkeypatch.setattr(module, "_KINDS", {"python": ["no_such_kind"]})
    assert module.parsed("a.py", b"def x(): pass") is None


NONSENSE = {
    "brackets": b"(" * 100_000,
    "bytes": b"\xff\xfe\0def x(",
    "ifs": b"if x:\n" * 5_000,
    "heads": b"class A:\n" + b"    def b(self):\n" * 3_000,
}


@pytest.mark.parametrize("content", [*NONSENSE.values()], ids=[*NONSENSE])
@PARSERS
def test_nonsense_is_read_without_harm(parser: Parser, content: bytes) -> None:
    for path in ("a.py", "a.js", "a.c", "a.rb"):
        assert all(block.start <= block.end for block in parser(path, content) or ())


def test_blocks_are_guessed_by_indentation() -> None:
    text = "def one(\n    a,\n):\n    pass\n\nclass Two:\n    x = 1\n\n    def three(self):\n        pass\nplain = 1\nfunction four() {\n  x()\n}\n"
    assert guessed("x", text.encode()) == (Block("one", 1, 4), Block("Two", 6, 10), Block("three", 9, 10), Block("four", 12, 14))
    assert innermost(guessed("x", text.encode()), 10) == Block("three", 9, 10)
    assert innermost(guessed("x", text.encode()), 11) is None


@pytest.mark.parametrize(("path", "opens", "closes"), [("a.js", "function f(){", "}"), ("a.rb", "def f;", "end;")])
def test_functions_in_each_other_without_end_are_left_to_guessing(path: str, opens: str, closes: str) -> None:
    assert grammar(path, (opens * 500 + closes * 500).encode()) is None
    assert grammar(path, (opens + closes + "\n").encode() * 2_001) is None
    for shallow in ((opens + closes + "\n") * 40, opens * 40 + closes * 40):
        assert len(grammar(path, shallow.encode()) or ()) == 40
