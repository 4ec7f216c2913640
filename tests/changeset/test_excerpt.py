"""Numbered lines around a change: screened, with the enclosing function."""

from __future__ import annotations

import difflib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.changeset import diff, excerpt, outline
from reviewbot.domain.change import ChangeSet, Contents, FileStatus, Revisions
from reviewbot.ports import Passage, RawDiff

PATCH = Revisions("patch", "patch", "patch", None, None)


def change_of(path: str, old: str, new: str) -> tuple[ChangeSet, dict[str, Contents]]:
    """The change between two texts, made by difflib, an implementation that is not git's."""
    lines = difflib.unified_diff(old.split("\n")[:-1], new.split("\n")[:-1], f"a/{path}", f"b/{path}", lineterm="")
    change = diff.read(RawDiff(b"", b"", "".join(f"{line}\n" for line in lines).encode()), PATCH)
    return change, {path: Contents(old.encode(), new.encode())}


def shown(path: str, old: str, new: str, *, context: int = 6) -> tuple[Passage, ...]:
    change, contents = change_of(path, old, new)
    return excerpt.passages(change.files, contents, context=context)


PROGRAM = """\
import os


class Account:
    def deposit(self, amount):
        self.total += amount
        return self.total

    @property
    def empty(self):
        return self.total == 0


""" + "".join(f"FILLER_{n} = {n}\n" for n in range(60))


def test_a_small_function_is_shown_whole_and_named() -> None:
    (passage,) = shown("a.py", PROGRAM, PROGRAM.replace("== 0", "is 0"), context=0)
    assert passage.symbol == "Account.empty"
    assert (passage.start, passage.lines) == (9, ("    @property", "    def empty(self):", "        return self.total is 0"))
    assert passage.changed == {11}
    assert passage.text(11) == "        return self.total is 0"


def test_context_surrounds_a_change_and_neighbours_become_one() -> None:
    new = PROGRAM.replace("FILLER_20 = 20", "X = 1").replace("FILLER_30 = 30", "Y = 1").replace("FILLER_55 = 55", "Z = 1")
    first, second = shown("a.py", PROGRAM, new)
    assert first.changed == {34, 44}
    assert (first.start, len(first.lines)) == (28, 23)
    assert second.changed == {69}


def test_a_syntax_error_falls_back_to_gits_heading() -> None:
    text = b"--- a/x.py\n+++ b/x.py\n@@ -10,1 +10,1 @@ def broken(a, b):\n-    x = 1\n+    x = (\n"
    change = diff.read(RawDiff(b"", b"", text), PATCH)
    head = b"\n" * 9 + b"    x = (\n"
    (passage,) = excerpt.passages(change.files, {"x.py": Contents(None, head)})
    assert passage.symbol == "broken"


def test_a_removal_alone_shows_where_it_was() -> None:
    (passage,) = shown("a.txt", "".join(f"{n}\n" for n in range(50)), "".join(f"{n}\n" for n in range(50) if n != 25))
    assert passage.changed == frozenset()
    assert (passage.start, passage.lines[0], passage.lines[-1]) == (20, "19", "32")


def test_a_removal_at_the_end_and_an_emptied_file_do_no_harm() -> None:
    (passage,) = shown("a.txt", "1\n2\n3\n", "1\n")
    assert passage.lines == ("1",)
    assert shown("a.txt", "1\n", "") == ()


def test_secrets_and_hidden_characters_are_screened_over_whole_files() -> None:
    key = "-----BEGIN PRIVATE " + "KEY-----\n" + "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9w\n" * 20
    old = key + "-----END PRIVATE " + "KEY-----\nlast\n"
    (passage,) = shown("a.txt", old, old.replace("last", "x\u202ey\x1b[0m"), context=3)
    assert not any("QUJD" in line for line in passage.lines)
    assert passage.text(23) == "x⟨U+202E⟩y⟨U+001B⟩[0m"


def test_line_numbers_hold_with_strange_separators_and_crlf() -> None:
    old = "a\r\nb\u2028b\x0cb\r\nc\r\n"
    (passage,) = shown("a.txt", old, old.replace("c\r", "d\r"))
    assert passage.lines == ("a", "b⟨U+2028⟩b⟨U+000C⟩b", "d")
    assert passage.changed == {3}


def test_without_contents_the_hunks_speak() -> None:
    change, _ = change_of("a.py", PROGRAM, PROGRAM.replace("== 0", "is 0"))
    (passage,) = excerpt.passages(change.files, {})
    assert passage.text(11) == "        return self.total is 0"
    assert passage.changed == {11}


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30), st.integers(0, 8))
def test_every_added_line_is_shown_once_under_its_number(old: list[str], new: list[str], context: int) -> None:
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    if before == after:
        return
    change, contents = change_of("a.txt", before, after)
    for known in (contents, {}):
        passages = excerpt.passages(change.files, known, context=context)
        numbers = [number for passage in passages for number in passage.changed]
        assert sorted(numbers) == [number for file in change.files for number, _ in file.added_lines()]
        for passage in passages:
            assert all(passage.text(passage.start + n) == new[passage.start + n - 1] for n in range(len(passage.lines)))
        ends = [(passage.start, passage.start + len(passage.lines)) for passage in passages]
        assert all(first[1] < second[0] for first, second in pairwise(ends)), "neighbours are one"


@pytest.mark.parametrize("text", ["", "one\n", "one", "a\n\nb", "\n"])
def test_an_added_file_is_rebuilt_from_its_hunk(text: str) -> None:
    body = text.split("\n")
    ends = text.endswith("\n")
    body = body[:-1] if ends else body
    patch = "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\n"
    if text:
        patch += f"--- /dev/null\n+++ b/x\n@@ -0,0 +1,{len(body)} @@\n" + "".join(f"+{line}\n" for line in body)
        patch += "" if ends else "\\ No newline at end of file\n"
    (file,) = diff.read(RawDiff(b"", b"", patch.encode()), PATCH).files
    assert file.status is FileStatus.ADDED
    assert excerpt.rebuilt(file) == text.encode()


NESTED = """\
@decorate(
    1,
)
def outer():
    def inner():
        return 1
    return inner
x = 1
class A:
    if x:
        async def deep(self): pass
    try:
        pass
    except E:
        def rescue(self): pass
    end = 1
"""


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (1, "outer"),
        (4, "outer"),
        (6, "outer.inner"),
        (7, "outer"),
        (8, None),
        (9, "A"),
        (11, "A.deep"),
        (15, "A.rescue"),
        (16, "A"),
    ],
)
def test_the_innermost_symbol_is_found(line: int, name: str | None) -> None:
    symbol = outline.of("a.py", NESTED.encode()).around(line)
    assert (symbol.name if symbol else None) == name


@pytest.mark.parametrize("source", [b"def x(:\n", b"x = " + b"(" * 5000, b"\0", b"x = '\\d'\n", b"\xff\xfe"])
def test_what_is_no_python_has_no_outline_and_says_nothing(source: bytes) -> None:
    assert outline.of("a.py", source).symbols == ()


def test_a_function_that_holds_others_is_shown_once_and_to_its_end() -> None:
    body = [f"    x{n} = {n}" for n in range(10)]
    one, two = (["    def one():", "        return 1"], ["    def two():", "        return 2"])
    old = "\n".join(["def outer():", *body, *one, *body, *two, "    return one", ""])
    new = old.replace("x0 = 0", "x0 = 9", 1).replace("return 1", "return 3").replace("return 2", "return 4")
    (passage,) = shown("a.py", old, new, context=0)
    assert (passage.symbol, passage.start, len(passage.lines)) == ("outer", 1, 26)
    assert passage.changed == {2, 13, 25}


@pytest.mark.parametrize(("second", "count"), [(33, 1), (34, 2)])
def test_passages_that_touch_are_one(second: int, count: int) -> None:
    lines = [str(number) for number in range(1, 60)]
    new = ["x" if number in ("20", str(second)) else number for number in lines]
    assert len(shown("a.txt", "\n".join([*lines, ""]), "\n".join([*new, ""]))) == count
