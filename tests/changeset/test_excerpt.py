"""Numbered lines around a change: screened, with the enclosing function."""

from __future__ import annotations

import difflib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.changeset import diff, excerpt, outline
from reviewbot.domain.change import ChangeSet, Contents, FileStatus, LineKind, Revisions
from reviewbot.ports import Passage, RawDiff, Removed

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


def test_a_removal_at_the_end_stands_before_the_line_that_would_follow() -> None:
    (passage,) = shown("a.txt", "1\n2\n3\n", "1\n")
    assert (passage.lines, passage.removed) == (("1",), (Removed(2, "2"), Removed(2, "3")))


@pytest.mark.parametrize("patch_alone", [False, True])
@pytest.mark.parametrize("said", ["deleted file mode 100644", "index 1111111..2222222 100644"])
def test_of_a_file_without_lines_what_was_removed_is_shown(said: str, patch_alone: bool) -> None:
    newer = "/dev/null" if said.startswith("deleted") else "b/a.txt"
    text = f"diff --git a/a.txt b/a.txt\n{said}\n--- a/a.txt\n+++ {newer}\n@@ -1,2 +0,0 @@\n-1\n-2\n"
    change = diff.read(RawDiff(b"", b"", text.encode()), PATCH)
    head = None if newer == "/dev/null" else b""
    (passage,) = excerpt.passages(change.files, {} if patch_alone else {"a.txt": Contents(b"1\n2\n", head)})
    assert passage == Passage("a.txt", 1, (), frozenset(), "", (Removed(1, "1"), Removed(1, "2")))


def test_a_hunk_without_context_says_where_its_lines_stood() -> None:
    change = diff.read(RawDiff(b"", b"", b"--- a/a.txt\n+++ b/a.txt\n@@ -3,1 +2,0 @@\n-3\n"), PATCH)
    assert excerpt.passages(change.files, {}) == (Passage("a.txt", 3, (), frozenset(), "", (Removed(3, "3"),)),)


@pytest.mark.parametrize("patch_alone", [False, True])
def test_removed_lines_stand_before_the_line_that_took_their_place(patch_alone: bool) -> None:
    old = "".join(f"{n}\n" for n in range(1, 31))
    change, contents = change_of(
        "a.txt", old, old.replace("4\n5\n", "four\n", 1).replace("20\n21\n", "").replace("30\n", "thirty\n")
    )
    found = [line for passage in excerpt.passages(change.files, {} if patch_alone else contents) for line in passage.removed]
    assert found == [Removed(4, "4"), Removed(4, "5"), Removed(19, "20"), Removed(19, "21"), Removed(27, "30")]


def test_a_line_taken_out_of_a_key_is_redacted_like_the_key() -> None:
    body = [f"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm{n}" for n in range(20)]
    old = "\n".join(["-----BEGIN PRIVATE " + "KEY-----", *body, "-----END PRIVATE " + "KEY-----", "x\u202ey", ""])
    (passage,) = shown("a.pem", old, old.replace(body[10] + "\n", "").replace("x\u202ey", "plain"), context=12)
    assert not any("QUJD" in line.text for line in passage.removed)
    assert passage.removed[-1] == Removed(22, "x⟨U+202E⟩y")
    key = "+".join(("A", "KIA")).replace("+", "") + "Q" * 16
    change, _ = change_of("a.py", f"a = '{key}'\n", "a = load()\n")
    (passage,) = excerpt.passages(change.files, {})
    assert passage.removed == (Removed(1, "a = '«secret:aws-access-key»'"),)


@pytest.mark.parametrize("end", ["", "end\n"])
def test_of_a_very_long_removal_the_middle_is_counted_only(end: str) -> None:
    (passage,) = shown("a.txt", "".join(f"{n}\n" for n in range(1000)) + end, end)
    assert len(passage.removed) == excerpt.FIRST_REMOVED + 1 + excerpt.LAST_REMOVED
    assert passage.removed[excerpt.FIRST_REMOVED] == Removed(1, "⟨900 more removed lines are not shown⟩")
    assert (passage.removed[0].text, passage.removed[-1].text) == ("0", "999")


@pytest.mark.parametrize(("gone", "missing"), [(100, 0), (101, 0), (102, 2), (1000, 900)])
def test_removed_lines_that_nobody_is_shown_are_said(gone: int, missing: int) -> None:
    change, contents = change_of("a.py", "".join(f"x{n} = {n}\n" for n in range(gone)) + "end\n", "end\n")
    found = excerpt.passages(change.files, contents)
    assert len(found[0].removed) == gone - missing + bool(missing)
    said = (f"a.py: {missing} of its removed lines were not shown to the panel",) if missing else ()
    assert excerpt.unshown(change.files) == said


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


def removed_by_hand(change: ChangeSet) -> list[tuple[int, str]]:
    """Every removed line with the number of the next newer line, from the hunks' own numbering."""
    found: list[tuple[int, str]] = []
    for hunk in (hunk for file in change.files for hunk in file.hunks):
        lines = list(hunk.lines())
        last = max((line.new for line in lines if line.new), default=hunk.new_start)
        for index, line in enumerate(lines):
            if line.kind is LineKind.REMOVED:
                found.append((next((after.new for after in lines[index:] if after.new), last + 1), line.text.decode()))
    return found


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
        gone = [(line.before, line.text) for passage in passages for line in passage.removed]
        assert gone == removed_by_hand(change)
        assert all(p.start <= line.before <= p.start + len(p.lines) for p in passages for line in p.removed)
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
