"""The gate over git's lists alone: whatever they say, it never raises, and lets through only what is allowed in so many words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.autofix import gate, listing
from reviewbot.autofix.gate import BATCH, RULES, SMALL, GateOptions, Limits
from reviewbot.domain.repair import Edit, Refusal
from reviewbot.errors import GitError, PatchError
from reviewbot.ports import RawDiff
from tests.rings import examples

ONE, TWO = "1" * 40, "2" * 40
NONE = "0" * 40
BLOBS = {ONE: b"x = 1\n", TWO: b"x = 2\n", NONE: b""}
OPTIONS = GateOptions(frozenset({"a.py", "src/b.py", "conftest.py", "run.sh", ".github/workflows/ci.yml"}))


def blob(object_id: str) -> bytes:
    """The blobs of these tests; of any other id there is none."""
    if object_id not in BLOBS:
        raise GitError(f"the object {object_id} is not in this repository")
    return BLOBS[object_id]


def listed(
    path: str, letter: str = "M", *, modes: str = "100644 100644", ids: str = f"{ONE} {TWO}", lines: str = "1\t1"
) -> RawDiff:
    name = path.encode("utf-8", "surrogateescape")
    return RawDiff(f":{modes} {ids} {letter}".encode() + b"\0" + name + b"\0", f"{lines}\t".encode() + name + b"\0", b"")


def added(path: str) -> RawDiff:
    return listed(path, "A", modes="000000 100644", ids=f"{NONE} {TWO}", lines="1\t0")


def judged(diff: RawDiff, options: GateOptions = OPTIONS, names: tuple[str, ...] = ("a.py", "src/b.py")) -> set[str]:
    return {refusal.rule for refusal in gate.judge(diff, blob, options, names_at=lambda: names)}


def test_a_change_of_a_reviewed_file_is_allowed():
    assert judged(listed("a.py")) == set()
    assert judged(listed("a.py", modes="100755 100755")) == set()
    assert judged(listed("a.py", ids=f"{'1' * 64} {'2' * 64}")) == {"content"}, "of ids that are whole, but not here"


@pytest.mark.parametrize(
    ("diff", "rules"),
    [
        (listed("a.py", "D", modes="100644 000000", ids=f"{ONE} {NONE}"), "entry"),
        (listed("a.py", "T", modes="100644 120000"), "entry"),
        (listed("a.py", modes="100644 100755"), "entry"),
        (listed("a.py", modes="120000 120000"), "entry"),
        (listed("a.py", modes="160000 160000"), "entry"),
        (listed("a.py", modes="100664 100664"), "entry"),
        (listed("a.py", "U"), "entry"),
        (listed("a.py", "X"), "entry"),
        (listed("a.py", "M100"), ""),
        (added("new.py"), "entry"),
        (listed("b.py"), "scope"),
        (listed("A.py"), "scope"),
        (listed("./a.py"), "scope name protected"),
        (listed("src/../a.py"), "scope name protected"),
        (listed("/a.py"), "scope name"),
        (listed("conftest.py"), "protected"),
        (listed("run.sh"), "protected"),
        (listed(".github/workflows/ci.yml"), "protected"),
        (listed("a.py", lines="-\t-"), "content"),
        (listed("a.py", ids=f"{'3' * 40} {TWO}"), "content"),
        (listed("a.py", ids=f"{ONE} {'3' * 40}"), "content"),
        (listed("a.py", lines="300\t101"), "size"),
        (RawDiff(b"", b"", b""), "empty"),
        (RawDiff(b"", b"", b"diff --git a/a.py b/a.py\n"), "empty"),
    ],
)
def test_what_is_not_that_is_refused(diff: RawDiff, rules: str):
    assert judged(diff) == set(rules.split())


@pytest.mark.parametrize(
    "path",
    [
        *(".git/config", ".GIT/config", "src/.Git/hooks/x", ".g\u200cit/config", ".git\u200c/config", ".\ufeffgit/config"),
        *(
            "git~1/config",
            "GIT~2/x",
            ".git./config",
            ".git /config",
            ".git::$INDEX_ALLOCATION/config",
            ".git\\config",
            "\uff0egit/x",
        ),
        *(".gitmodules", ".gitattributes", ".GitAttributes", ".gitmodules ", "gitmod~1", ".gitignore::$DATA", "a/.gitconfig"),
        *("\u200b.git/x", ".gıt/config", ".gİt/config", ".ɡit/config", "\u202etig./x"),
    ],
)
def test_nothing_that_some_file_system_reads_as_git_can_be_opened(path: str):
    options = replace(OPTIONS, reviewed=frozenset({path}), may_add=True, opened=lambda _: True)
    for diff in (listed(path), added(path)):
        assert judged(diff, options) & {"protected", "name"}, path


def test_lists_that_do_not_agree_are_refused():
    one = listed("a.py")
    for diff in (
        RawDiff(one.raw, b"", b""),
        RawDiff(b"", one.numstat, b""),
        RawDiff(one.raw * 2, one.numstat, b""),
        RawDiff(one.raw, one.numstat * 2, b""),
        RawDiff(one.raw * 2, one.numstat * 2, b""),
        RawDiff(one.raw, listed("b.py").numstat, b""),
        RawDiff(one.raw[:-1], one.numstat, b""),
        RawDiff(b":" + one.raw, one.numstat, b""),
        RawDiff(one.raw.replace(b" M", b" R100") + b"other\0", one.numstat, b""),
        RawDiff(one.raw.replace(b"100644", b"100689"), one.numstat, b""),
    ):
        assert judged(diff) == {"entry"}, diff


LETTERS = st.sampled_from(["M", "M", "A", "D", "T", "R", "C", "U", "X", "B"])
MODES = st.sampled_from(["100644", "100644", "100755", "120000", "160000", "000000", "040000", "100664", "100600"])
IDS = st.sampled_from([ONE, TWO, NONE, "3" * 40])
PATHS = st.one_of(
    st.sampled_from(
        [*OPTIONS.reviewed, "A.py", "src/B.py", "new.py", "random.py", ".git/config", "a.py ", "src/../a.py", "\u0430.py"]
    ),
    st.text(st.characters(blacklist_characters="\0"), min_size=1, max_size=12).map(
        lambda text: text.encode("utf-8", "replace").decode()
    ),
)
ENTRIES = st.tuples(PATHS, LETTERS, MODES, MODES, IDS, IDS, st.sampled_from(["1\t1", "0\t0", "-\t-", "9999\t1"]))
LISTINGS = st.lists(ENTRIES, max_size=4)


Listed = tuple[str, str, str, str, str, str, str]
NEVER = frozenset(
    [
        "conftest.py",
        "run.sh",
        ".github/workflows/ci.yml",
        "A.py",
        "src/B.py",
        "random.py",
        ".git/config",
        "a.py ",
        "src/../a.py",
        "\u0430.py",
    ]
)


def is_allowed(entry: Listed, *, may_add: bool) -> bool:
    """What the issue says, in other words than the program's."""
    path, letter, old_mode, new_mode, old_id, new_id, lines = entry
    if path in NEVER or lines not in ("1\t1", "0\t0") or new_id not in BLOBS:
        return False
    if letter == "M":
        return path in ("a.py", "src/b.py") and old_mode == new_mode in ("100644", "100755") and old_id in BLOBS
    plain = path == unicodedata.normalize("NFC", path) and path.isprintable() and not re.search(r"(^|/)(\.|/|$)|[\\:]", path)
    return letter == "A" and may_add and (old_mode, new_mode) == ("000000", "100644") and plain


@settings(max_examples=examples(800))
@given(entries=LISTINGS, may_add=st.booleans())
def test_whatever_git_lists_only_what_is_allowed_passes(entries: list[Listed], may_add: bool):
    parts = [
        listed(path, letter, modes=f"{one} {two}", ids=f"{old} {new}", lines=lines)
        for path, letter, one, two, old, new, lines in entries
    ]
    diff = RawDiff(b"".join(part.raw for part in parts), b"".join(part.numstat for part in parts), b"")
    refusals = gate.judge(diff, blob, replace(OPTIONS, may_add=may_add), names_at=lambda: ("a.py", "src/b.py"))
    assert {refusal.rule for refusal in refusals} <= set(RULES)
    assert all(refusal.reason and "\n" not in refusal.reason for refusal in refusals)
    if not refusals:
        assert entries
        assert [entry for entry in entries if not is_allowed(entry, may_add=may_add)] == []


@settings(max_examples=examples(500))
@given(raw=st.binary(max_size=120), numstat=st.binary(max_size=60), patch=st.binary(max_size=60), may_add=st.booleans())
def test_bytes_that_are_no_list_never_pass(raw: bytes, numstat: bytes, patch: bytes, may_add: bool):
    assert gate.judge(RawDiff(raw, numstat, patch), blob, replace(OPTIONS, may_add=may_add), names_at=tuple)


@settings(max_examples=examples(300))
@given(data=st.data())
def test_a_list_with_any_byte_changed_passes_only_where_it_says_the_same(data: st.DataObject):
    one = listed("src/b.py")
    at = data.draw(st.integers(0, len(one.raw) - 1))
    raw = one.raw[:at] + data.draw(st.binary(max_size=2)) + one.raw[at + data.draw(st.integers(0, 2)) :]
    diff = RawDiff(raw, one.numstat, b"")
    if judged(diff) == set():
        found = listing.read(diff)
        assert found is not None
        assert [(entry.path, entry.is_modified) for entry in found] == [("src/b.py", True)]


CONTENTS = st.one_of(
    st.binary(max_size=60),
    st.lists(
        st.sampled_from(["def test_a():", "    assert x", "# noqa", "\u202e", "<<<<<<< a", "{", "}", "'", '"""', "\r"]),
        max_size=8,
    ).map(lambda lines: "\n".join(lines).encode()),
)
TESTED = "tests/test_a.py tests/a_test.go tests/a.test.ts src/a.rs tests/ATest.java tests/a_spec.rb tests/a.bats a.json a.yml a.toml a.xml a.cs a.c a.php"


@settings(max_examples=examples(400))
@given(old=CONTENTS, new=CONTENTS, path=st.sampled_from(TESTED.split()), comes=st.booleans())
def test_whatever_stands_in_files_is_judged_and_never_raises(old: bytes, new: bytes, path: str, comes: bool):
    blobs = {ONE: old, TWO: new}
    diff = added(path) if comes else listed(path)
    options = GateOptions(frozenset({path}), may_add=True)
    refusals = gate.judge(diff, blobs.__getitem__, options, names_at=tuple)
    assert {refusal.rule for refusal in refusals} <= set(RULES)
    assert not [refusal for refusal in refusals if any(not character.isprintable() for character in refusal.reason)]


@settings(max_examples=examples(200))
@given(content=CONTENTS, path=st.sampled_from(TESTED.split()))
def test_a_file_that_stays_as_it_is_breaks_no_rule_but_that_it_is_no_text(content: bytes, path: str):
    refusals = gate.judge(listed(path), lambda _: content, GateOptions(frozenset({path})), names_at=tuple)
    assert {refusal.rule for refusal in refusals} <= {"content"}
    if b"\0" not in content and content.decode("utf-8", "replace").encode() == content:
        assert refusals == ()


# --- before anything is applied -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "rules"),
    [
        (b"", "empty"),
        (b" \n\t\n", "empty"),
        (b"x" * 256_001, "size"),
        (b"@@ -1 +1 @@\n" * 201, "size"),
        (b"diff --git a/x b/x\n" * 11, "size"),
        (b"diff --git a/x b/x\nGIT binary patch\n", "content"),
        (b"a\0b", "content"),
        (b"@@ -1 +1 @@\n" * 200 + b"diff --git a/x b/x\n" * 10, ""),
        (b"+@@ -1 +1 @@\n-diff --git a b\n GIT binary patch\n" * 300, ""),
    ],
)
def test_a_patch_is_weighed_by_its_bytes(patch: bytes, rules: str):
    assert {refusal.rule for refusal in gate.weigh(patch)} == set(rules.split())


def test_tools_may_change_more_at_once_than_models():
    patch = b"diff --git a/x b/x\n@@ -1 +1 @@\n" * 150
    assert gate.weigh(patch)
    assert gate.weigh(patch, BATCH) == ()
    assert (BATCH.files, BATCH.lines) > (SMALL.files, SMALL.lines)
    assert gate.weigh(b"xx", Limits(1, 1, 1, 1))


@given(st.binary())
def test_any_bytes_can_be_weighed(patch: bytes):
    assert {refusal.rule for refusal in gate.weigh(patch, Limits(50, 1, 1, 1))} <= set(RULES)


# --- before there is a tree -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (Edit("a.py", b""), ""),
        (Edit("a.py", None), "entry"),
        (Edit("new.py", b""), "scope"),
        (Edit("../a.py", b""), "scope name protected"),
        (Edit(".git/config", b""), "scope protected"),
        (Edit("conftest.py", b""), "protected"),
        (Edit("\ud800", b""), "scope name"),
        (Edit("a\0b", b""), "scope name"),
        (Edit("", b""), "scope name"),
    ],
)
def test_names_of_edits_are_judged_before_there_is_a_tree(edit: Edit, rules: str):
    assert {refusal.rule for refusal in gate.foreseen((edit,), OPTIONS)} == set(rules.split())


def test_a_new_file_is_foreseen_to_be_allowed_where_it_may_come():
    assert gate.foreseen((Edit("new.py", b""),), replace(OPTIONS, may_add=True)) == ()


@given(st.text(), st.booleans())
def test_any_name_can_be_foreseen(path: str, may_add: bool):
    gate.foreseen((Edit(path, b""),), replace(OPTIONS, may_add=may_add))


# --- what is said ---------------------------------------------------------------------------------------------------


def test_a_reason_shows_no_secret_and_no_hidden_character():
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    blobs = {ONE: b"x = 1\n", TWO: f"x = 1  # noqa: {key} \u202e\n".encode()}
    refusals = gate.judge(listed("a.py"), blobs.__getitem__, OPTIONS, names_at=tuple)
    said = " ".join(map(str, refusals))
    assert {refusal.rule for refusal in refusals} == {"content", "secret", "suppression"}
    assert key not in said
    assert "\u202e" not in said


def test_of_one_rule_in_one_file_a_few_reasons_are_told():
    new = "".join(f"x = {n}  # noqa: E{n}\n" for n in range(100, 150)).encode()
    refusals = gate.judge(listed("a.py"), {ONE: b"", TWO: new}.__getitem__, OPTIONS, names_at=tuple)
    assert [refusal.rule for refusal in refusals] == ["suppression"] * gate.MOST_REASONS


def test_what_git_says_of_a_patch_is_shown_as_everything_is():
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2

    class Refusing:
        def apply(self, tree: str, patch: bytes) -> str:
            raise PatchError(f"git does not apply the patch: {key}\u202e.py: No such file\nand more")

    nothing: Any = Refusing()
    refused = gate.admitted(b"x", ONE, trees=nothing, objects=nothing, options=OPTIONS)
    assert (refused.tree, refused.diff, refused.passed) == ("", None, False)
    assert [refusal.rule for refusal in refused.refusals] == ["apply"]
    assert refused.refusals[0].reason == "git does not apply the patch: «secret:github-token»⟨U+202E⟩.py: No such file and more"


def test_too_many_files_are_too_many_though_each_is_small():
    many = [listed(f"n{number}.py", lines="0\t0") for number in range(11)]
    diff = RawDiff(b"".join(one.raw for one in many), b"".join(one.numstat for one in many), b"")
    options = replace(OPTIONS, reviewed=frozenset(f"n{number}.py" for number in range(11)))
    assert judged(diff, options) == {"size"}
    assert judged(diff, replace(options, limits=BATCH)) == set()


def test_contents_are_not_read_where_a_name_is_refused():
    def never(object_id: str) -> bytes:
        raise AssertionError(object_id)

    refusals = gate.judge(listed("conftest.py"), never, OPTIONS, names_at=tuple)
    assert [type(refusal) for refusal in refusals] == [Refusal]


def test_the_tree_is_listed_only_where_a_file_is_new():
    asked: list[str] = []

    def names() -> tuple[str, ...]:
        asked.append("once")
        return ("Src/b.py",)

    gate.judge(listed("a.py"), blob, OPTIONS, names_at=names)
    assert asked == []
    assert gate.judge(added("src/c.py"), blob, replace(OPTIONS, may_add=True), names_at=names)
    assert asked == ["once"]


def test_two_new_files_are_not_taken_for_each_other():
    one, other = added("new.py"), added("New.py")
    both = RawDiff(one.raw + other.raw, one.numstat + other.numstat, b"")
    assert judged(both, replace(OPTIONS, may_add=True)) == {"name"}


def test_a_grammar_that_finds_more_faults_refuses():
    def parser(_: str, content: bytes) -> int | None:
        return content.count(b"!")

    def ask(old: bytes, new: bytes, parser: Callable[[str, bytes], int | None]) -> set[str]:
        options = GateOptions(frozenset({"a.ts"}), parser=parser)
        return {refusal.rule for refusal in gate.judge(listed("a.ts"), {ONE: old, TWO: new}.__getitem__, options, names_at=tuple)}

    assert ask(b"!", b"!", parser) == set()
    assert ask(b"!", b"!!", parser) == {"syntax"}
    assert ask(b"!!", b"!", parser) == set()
    assert ask(b"a", b"b" * 100, lambda _, content: None if len(content) > 50 else 0) == {"syntax"}
