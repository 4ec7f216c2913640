"""What lies before the panel: portions, each with what the rest of the tree says about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot import briefing
from reviewbot.briefing import LARGEST_FILE, MOST_HITS, BriefingOptions, Library
from reviewbot.changeset.portion import portion_tokens
from reviewbot.context.blocks import Block
from reviewbot.debate.papers import Papers
from reviewbot.errors import GitError
from reviewbot.ports import Dossier, Hit, Passage, Rule
from reviewbot.testing import a_dossier, a_passage
from tests.rings import examples

COMMON = replace(a_dossier(), rules=(Rule("AGENTS.md", "Be kind."),), title="Pay", focus="money", criteria=(("tests", 2),))
TREE: dict[str, str] = {
    "shop/pay.py": "def pay(amount):\n    return charge(amount)\n",
    "shop/bank.py": "def charge(amount):\n    send(amount)\n",
    "shop/till.py": "from shop.pay import pay\n\n\ndef checkout(basket):\n    return pay(basket.total)\n",
    "tests/test_pay.py": "from shop.pay import pay\n\n\ndef test_pay():\n    assert pay(1) == 1\n",
    "db/save.py": "def save(row):\n    return row\n",
    "db/job.py": "from db.save import save\n\n\ndef nightly(rows):\n    return [save(row) for row in rows]\n",
}
PAY = a_passage("shop/pay.py", TREE["shop/pay.py"].rstrip("\n"))
SAVE = a_passage("db/save.py", TREE["db/save.py"].rstrip("\n"))
OPTIONS = BriefingOptions(related_tokens=2_000)


def papers(common: Dossier, passages: tuple[Passage, ...], library: Library | None, *, options: BriefingOptions) -> Papers:
    """Divided, and laid out."""
    return briefing.papers(common, briefing.divided(passages, library, options=options))


class Shelf:
    """A tree in memory, that counts what is asked of it."""

    def __init__(self, files: Mapping[str, str] = TREE, *, breaks: bool = False) -> None:
        self.files = files
        self.searches: list[tuple[str, tuple[str, ...], bool, int]] = []
        self.read: list[str] = []
        self._breaks = breaks

    def find(self, tree: str, words: tuple[str, ...], *, whole: bool, most: int) -> tuple[Hit, ...]:
        self.searches.append((tree, words, whole, most))
        if self._breaks:
            raise GitError("git grep ran out of time", hint="try again")
        return tuple(
            Hit(path, number, line.encode())
            for path, text in sorted(self.files.items())
            for number, line in enumerate(text.split("\n"), 1)
            if any(word in line for word in words)
        )

    def blob(self, object_id: str) -> bytes:
        self.read.append(object_id)
        return self.files[object_id.removeprefix("id of ")].encode()

    def entries(self, tree: str) -> tuple[()]:
        return ()

    def export(self, tree: str, into: object) -> tuple[()]:
        return ()

    @property
    def library(self) -> Library:
        return Library(self, self, "the tree", {path: f"id of {path}" for path in self.files})


def beside(found: briefing.Papers, index: int = 0) -> list[tuple[str, str]]:
    return [(item.relation, item.passage.path) for item in found.dossiers[index].related]


def test_a_change_that_nobody_divides_is_one_dossier_and_all_of_the_common_words() -> None:
    (dossier,) = papers(COMMON, (PAY, SAVE), None, options=BriefingOptions()).dossiers
    assert dossier == replace(COMMON, passages=(PAY, SAVE), portion="P1", of=1)


def test_portions_are_named_and_counted_and_carry_the_same_words() -> None:
    found = papers(COMMON, (PAY, SAVE), None, options=BriefingOptions(portion_tokens=60))
    assert [(dossier.portion, dossier.of) for dossier in found.dossiers] == [("P1", 2), ("P2", 2)]
    assert {dossier.rules for dossier in found.dossiers} == {COMMON.rules}
    assert found.small == ()


def test_small_portions_for_local_models_have_names_of_their_own_and_no_context() -> None:
    found = papers(COMMON, (PAY, SAVE), Shelf().library, options=replace(OPTIONS, small_tokens=60))
    assert [dossier.portion for dossier in found.dossiers] == ["P1"]
    assert [(dossier.portion, dossier.of, dossier.related) for dossier in found.small] == [("L1", 2, ()), ("L2", 2, ())]
    assert beside(found)


def test_an_empty_change_is_still_a_dossier() -> None:
    (dossier,) = papers(COMMON, (), None, options=BriefingOptions(portion_tokens=100)).dossiers
    assert (dossier.passages, dossier.of) == ((), 1)


def test_a_portion_comes_with_definitions_callers_and_tests_of_its_own() -> None:
    shelf = Shelf()
    found = papers(COMMON, (PAY, SAVE), shelf.library, options=replace(OPTIONS, portion_tokens=60))
    homes = {dossier.passages[0].path: index for index, dossier in enumerate(found.dossiers)}
    assert sorted(beside(found, homes["shop/pay.py"])) == [
        ("caller", "shop/till.py"),
        ("definition", "shop/bank.py"),
        ("test", "tests/test_pay.py"),
    ]
    assert beside(found, homes["db/save.py"]) == [("caller", "db/job.py")]


def test_the_tree_is_searched_once_for_all_portions() -> None:
    shelf = Shelf()
    again = a_passage("far/pay.py", "def pay(amount):\n    return charge(2 * amount)")
    papers(COMMON, (PAY, SAVE, again), shelf.library, options=replace(OPTIONS, portion_tokens=60))
    ((tree, words, whole, most),) = shelf.searches
    assert (tree, whole, most) == ("the tree", True, MOST_HITS)
    assert {"pay", "charge", "save"} <= set(words)
    assert len(words) == len(set(words))


def test_context_keeps_its_budget() -> None:
    none = papers(COMMON, (PAY,), Shelf().library, options=replace(OPTIONS, related_tokens=20))
    assert beside(none) == []
    some = papers(COMMON, (PAY,), Shelf().library, options=replace(OPTIONS, related_tokens=60))
    assert 0 < len(beside(some)) < 3


def test_without_a_tree_or_a_budget_nothing_is_looked_up() -> None:
    shelf = Shelf()
    assert beside(papers(COMMON, (PAY,), None, options=OPTIONS)) == []
    assert beside(papers(COMMON, (PAY,), shelf.library, options=replace(OPTIONS, related_tokens=0))) == []
    assert (shelf.searches, shelf.read) == ([], [])


def test_a_change_without_a_name_is_not_searched_for() -> None:
    shelf = Shelf()
    assert beside(papers(COMMON, (a_passage("a.txt", "1 + 1"),), shelf.library, options=OPTIONS)) == []
    assert shelf.searches == []


def test_a_tree_too_large_to_search_leaves_the_change_without_context() -> None:
    found = papers(COMMON, (PAY, SAVE), Shelf(breaks=True).library, options=replace(OPTIONS, portion_tokens=60))
    assert len(found.dossiers) == 2
    assert [beside(found, index) for index in (0, 1)] == [[], []]


def test_what_is_too_large_or_not_in_the_tree_is_not_shown() -> None:
    huge = {**TREE, "shop/till.py": TREE["shop/till.py"] + "#" * LARGEST_FILE}
    assert "shop/till.py" not in dict(map(reversed, beside(papers(COMMON, (PAY,), Shelf(huge).library, options=OPTIONS))))
    shelf = Shelf()
    gone = replace(shelf.library, blobs={path: shelf.library.blobs[path] for path in TREE if path != "shop/till.py"})
    assert "shop/till.py" not in [path for _, path in beside(papers(COMMON, (PAY,), gone, options=OPTIONS))]
    assert "id of shop/till.py" not in shelf.read


def test_the_parser_that_is_given_finds_the_functions() -> None:
    asked: list[str] = []

    def parser(path: str, content: bytes) -> tuple[Block, ...]:
        asked.append(path)
        return ()

    papers(COMMON, (PAY,), Shelf().library, options=replace(OPTIONS, parser=parser))
    assert "shop/bank.py" in asked


@settings(max_examples=examples(40), derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(["a.py", "b/c.py", "b/d.sql"]), st.integers(1, 30)), max_size=6), st.integers(40, 300))
def test_every_changed_line_is_in_one_dossier_of_either_size(sizes: list[tuple[str, int]], tokens: int) -> None:
    passages = tuple(
        a_passage(path, "\n".join(f"line {n}" for n in range(size)), start=1 + 100 * index)
        for index, (path, size) in enumerate(sizes)
    )
    found = papers(COMMON, passages, None, options=BriefingOptions(portion_tokens=tokens * 3, small_tokens=tokens))

    def lines(those: tuple[Passage, ...]) -> Counter[tuple[str, int]]:
        return Counter((passage.path, line) for passage in those for line in passage.changed)

    for pile, most in ((found.dossiers, tokens * 3), (found.small, tokens)):
        assert lines(tuple(passage for dossier in pile for passage in dossier.passages)) == lines(passages)
        assert all(portion_tokens(dossier.passages) <= most for dossier in pile)
