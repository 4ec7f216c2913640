"""Which words of a change are worth a search."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.context import names
from reviewbot.context.names import Names, called, declared, wanted
from reviewbot.ports import Passage, Removed
from reviewbot.testing import a_passage
from tests.rings import examples


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def pay(amount):", "pay"),
        ("    async def pay(self) -> None:", "pay"),
        ("class Basket(dict):", "Basket"),
        ("RATE: float = 0.2", "RATE"),
        ("rate = 0.2", "rate"),
        ("func (b *Basket) Pay(amount int) error {", "Pay"),
        ("type Basket struct {", "Basket"),
        ("pub(crate) async fn pay<T>(x: T) {", "pay"),
        ("export default class Basket extends Shop {", "Basket"),
        ("export const pay = (amount) => amount", "pay"),
        ("  public static BigDecimal payAll(List<Item> items) {", "payAll"),
        ("CREATE OR REPLACE FUNCTION pay(", "pay"),
        ("interface Basket {", "Basket"),
        ("  def pay", "pay"),
        ("  def self.pay", "pay"),
    ],
)
def test_a_declaration_is_known_by_its_look(line: str, name: str) -> None:
    assert declared(line) == (name,)


@pytest.mark.parametrize(
    "line",
    [
        "    This is a class which holds",
        "if rate == 0:",
        "return pay(1)",
        "    rate = 2",
        "else: x = 1",
        "# def pay():",
        "",
        "x" * 9000,
    ],
)
def test_what_declares_nothing_is_not_taken_for_it(line: str) -> None:
    assert declared(line) == ()


KEYWORDS = [
    "def",
    "class",
    "func",
    "function",
    "function*",
    "fun",
    "fn",
    "interface",
    "struct",
    "trait",
    "enum",
    "module",
    "type",
    "record",
    "object",
    "protocol",
]
MODIFIERS = "export default public private protected internal static final abstract async override virtual inline unsafe const"


@pytest.mark.parametrize("word", [*KEYWORDS, "CREATE TABLE", "create or replace view", *map(str.upper, KEYWORDS)])
@pytest.mark.parametrize("before", ["", "  ", "\t", "pub ", "Pub(in crate) ", *(f"{word} " for word in MODIFIERS.split())])
def test_every_keyword_declares_behind_every_modifier(word: str, before: str) -> None:
    assert declared(f"{before}{word} Thing(") == ("Thing",)


@pytest.mark.parametrize("word", ["public", "private", "protected", "internal", "static", "final", "abstract", "async"])
def test_every_modifier_declares_a_method(word: str) -> None:
    assert declared(f"  {word} List<Item> payAll(int rate) {{") == ("payAll",)


def test_calls_are_names_before_a_parenthesis_and_decorators() -> None:
    assert called("    total = basket.sum_up(rate(item), other)") == ["sum_up", "rate"]
    assert called("@cached") == ["cached"]
    assert called("def pay(amount=default_amount()):") == ["default_amount"]


def test_changed_are_declared_removed_and_enclosing_names_and_called_only_new_calls() -> None:
    text = "\n".join(["def pay(x):", "    charge(x)", "    charge(x)", "    print(x)", "    old_call(x)", "    audit(pay(x))"])
    passage = Passage(
        "a.py",
        1,
        tuple(text.split("\n")),
        frozenset({1, 2, 3, 4, 6}),
        "Shop.checkout",
        (Removed(1, "def refund(x):"), Removed(2, "    gone_call(x)")),
    )
    assert wanted([passage]) == Names(("pay", "refund", "checkout"), ("charge", "audit"))
    assert wanted([passage]).words == ("pay", "refund", "checkout", "charge", "audit")


def test_a_constructor_stands_for_its_class_and_context_for_nothing() -> None:
    assert wanted([Passage("a.py", 1, ("x = 1",), frozenset({1}), "Shop.__init__")]).changed == ("Shop",)
    assert wanted([Passage("a.py", 1, ("def seen():", "    shown()"), frozenset(), "Shop")]) == Names()


def test_words_that_tell_nothing_are_dropped() -> None:
    text = "def test_pay():\n    xy()\n    get()\n    len()\n    __init__()\n    self.append()\n    " + "n" * 90 + "()"
    assert wanted([a_passage("a.py", text)]) == Names()


def test_there_are_at_most_so_many_and_the_frequent_come_first() -> None:
    text = "\n".join([*(f"    call_{number}()" for number in range(100)), "    often()", "    often()"])
    found = wanted([a_passage("a.py", text)]).called
    assert len(found) == names.MOST_CALLED
    assert found[0] == "often"


def test_of_an_enormous_change_the_first_lines_speak() -> None:
    text = "\n".join([*["    first_call()"] * names.MOST_LINES, "    late_call()"])
    assert wanted([a_passage("a.py", text)]).called == ("first_call",)


@given(st.text(max_size=200))
@settings(max_examples=examples(100), derandomize=True)
def test_any_line_is_read(line: str) -> None:
    found = wanted([a_passage("a.py", line)])
    assert all(names.SHORTEST <= len(word) <= names.LONGEST for word in found.words)
    assert len(set(found.words)) == len(found.words)


@pytest.mark.parametrize("line", ["public " * 3000, "def " + "(" * 3000, "a" * 50_000 + "(", "x:" * 3000 + "=", "( " * 9000])
def test_a_hostile_line_takes_no_time(line: str) -> None:
    assert len(wanted([a_passage("a.py", "\n".join([line] * 50))]).words) <= names.MOST_CALLED + names.MOST_CHANGED
