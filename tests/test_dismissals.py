"""The file of dismissed findings."""

from __future__ import annotations

import pytest
import yaml
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewbot.config.dismissals import Dismissal, read_dismissals, write_dismissals
from reviewbot.errors import ConfigError

NAME = ".reviewbot/dismissed.yml"
ONE = Dismissal(
    key="12345e67",
    reason="The cache is meant",
    title='Mutable "default"',
    path="a.py",
    by="ada",
    date="2026-01-02",
)
TWO = Dismissal(key="beef", reason="Not ours", path="b.py")

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
DISMISSALS = st.builds(Dismissal, key=TEXTS, reason=TEXTS, title=TEXTS, path=TEXTS)


def test_the_file_is_readable_and_sorted_by_path() -> None:
    text = write_dismissals({"beef": TWO, ONE.key: ONE}).decode()
    assert text.startswith("# Findings that reviewbot does not report again, and why.")
    assert text.endswith(
        """
- key: "12345e67"
  reason: "The cache is meant"
  title: "Mutable \\"default\\""
  path: "a.py"
  by: "ada"
  date: "2026-01-02"
- key: "beef"
  reason: "Not ours"
  path: "b.py"
"""
    )
    assert text == write_dismissals({ONE.key: ONE, "beef": TWO}).decode()


def test_a_file_without_entries_is_an_empty_list() -> None:
    text = write_dismissals({}).decode()
    assert yaml.safe_load(text) == []
    assert read_dismissals(text.encode(), NAME) == read_dismissals(b"# nothing\n", NAME) == {}


@settings(max_examples=50)
@given(st.lists(DISMISSALS, max_size=4, unique_by=lambda entry: entry.key))
@example([Dismissal(key="x\n- key: y", reason="\x00\x85\u2028\U0001f600\\", path=": #")])
def test_what_is_written_is_read_again(entries: list[Dismissal]) -> None:
    dismissals = {entry.key: entry for entry in entries}
    text = write_dismissals(dismissals)
    assert read_dismissals(text, NAME) == dismissals
    assert len(yaml.safe_load(text)) == len(entries)


@each(
    ("text", "message"),
    [
        ("dismissed: []", ":1: the file must be a list"),
        ("- key: a\n  reson: x", ":2: unknown key [0].reson; did you mean [0].reason?"),
        ("- key: a\n  path: b", ":1: [0].reason is missing"),
        ("- key: a\n  reason: ''", ":2: [0].reason must be a text"),
        ("- key: 12345e67\n  reason: x", ":1: [0].key must be a text"),
        ("- key: a\n  reason: b\n- a", ":3: [1] must be a mapping"),
        ("- &a {}", ":1: a YAML anchor is not allowed"),
        ("<<<<<<< ours\n- key: a\n=======", ":2: this is not YAML"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_dismissals(text.encode(), NAME)
    assert str(error.value).startswith(NAME + message)
