"""What somebody wrote as files: held against what was shown and what may be changed; and how it is shown to others."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reviewbot.debate.making import reply, schema
from reviewbot.debate.making.delta import Delta
from reviewbot.debate.making.schema import APPRAISAL_SCHEMA, EDITS_SCHEMA, MAKING_ENVELOPE
from reviewbot.debate.making.sheets import MOST_LINE, MOST_SHEETS, sheets
from reviewbot.debate.making.tree import Tree
from reviewbot.debate.making.written import Written, fitted
from reviewbot.debate.strict import InvalidReply
from reviewbot.domain.debate import Seat
from reviewbot.domain.repair import CodeVersion, Edit
from reviewbot.ports import Task
from reviewbot.screen import shown
from tests.debate.conversation import local_seat
from tests.debate.workshop import CHECK, CODE, FILES, PROPOSER, a_task, judged, point, swap, verdict, wrote
from tests.rings import examples

SOME = settings(max_examples=examples(200), derandomize=True)
KEY = "ghp_" + "a1B2" * 9
"""Of the form of a key, and none."""
HEAD = {
    **FILES,
    "dos.py": b"one\r\ntwo\r\nthree\r\n",
    "empty.py": b"",
    "key.py": f'KEY = "{KEY}"\nname = "ab\u202ecd"\nplain\n'.encode(),
    "latin.py": b"caf\xe9\n",
}
TASK = a_task(paths=frozenset(HEAD) - {"b.py"})
ADDING = a_task(paths=TASK.paths, may_add=True)


def fit(text: str, *versions: tuple[str, bytes | None], tree: Tree | None = None, task: Task = TASK) -> Written:
    written = tuple(CodeVersion(number, path, content, "proposer") for number, (path, content) in enumerate(versions, 1))
    return fitted(reply.writing(text), written, tree=tree or Tree(HEAD), task=task)


def test_swaps_are_carried_out_one_after_the_other() -> None:
    made = fit(wrote(swap("line 3\nline 4\n", "three\n"), swap("three\n", "3\n"), swap("line 10\n", "")))
    (edit,) = made.edits
    assert edit.content == CODE.replace(b"line 3\nline 4\n", b"3\n").replace(b"line 10\n", b"")
    assert made.explanation == "because"


def test_what_the_tool_wrote_comes_first_its_last_version_counts_and_all_are_kept() -> None:
    text = wrote(swap("two", "2"))
    made = fit(text, ("a.py", b"draft\n"), ("empty.py", b"x\n"), ("a.py", b"one\ntwo\n"))
    assert made.edits == (Edit("a.py", b"one\n2\n"), Edit("empty.py", b"x\n"))
    assert [version.number for version in made.versions] == [1, 2, 3]


def test_nothing_written_is_no_fault() -> None:
    assert fit(wrote(explanation=" cannot be done ")) == Written("cannot be done", ())


def test_a_file_may_go_or_come_where_that_is_allowed() -> None:
    assert fit(wrote(), ("a.py", None)).edits == (Edit("a.py", None),)
    assert fit(wrote(swap("", "new\n", "tests/new.py")), task=ADDING).edits == (Edit("tests/new.py", b"new\n"),)
    assert fit(wrote(), ("tests/new.py", b"x"), task=ADDING).edits == (Edit("tests/new.py", b"x"),)
    assert fit(wrote(swap("", "now\n", "empty.py"))).edits == (Edit("empty.py", b"now\n"),)


def test_what_came_and_went_again_is_nothing() -> None:
    made = fit(wrote(swap("line 3", "3")), ("scratch.py", b"x"), ("scratch.py", None))
    assert [edit.path for edit in made.edits] == ["a.py"]


def test_line_ends_are_those_of_the_file() -> None:
    assert fit(wrote(swap("one\ntwo\n", "1\n2\n", "dos.py"))).edits == (Edit("dos.py", b"1\r\n2\r\nthree\r\n"),)


def test_a_redacted_line_goes_as_a_whole_and_comes_back_never() -> None:
    shown_line = shown.whole(HEAD["key.py"])[0]
    assert "«secret:" in shown_line
    assert fit(wrote(swap(shown_line, 'KEY = environ["KEY"]', "key.py"))).edits[0].content == HEAD["key.py"].replace(
        f'"{KEY}"'.encode(), b'environ["KEY"]'
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (wrote(swap("line 11", "x")), "edits[0] (a.py): the text to find does not stand in the file"),
        (wrote(swap("line 3", "x"), swap("line 3", "x")), "edits[1] (a.py): the text to find does not stand in the file"),
        (wrote(swap("line 1", "x")), "edits[0] (a.py): the text to find stands more than once"),
        (wrote(swap("", "x")), "edits[0] (a.py): the text to find is empty"),
        (wrote(swap("line 3", "line 3")), "edits: with them every file is as it was before"),
        (wrote(swap("other", "x", "b.py")), "edits[0].path: b.py may not be changed: only these files may be changed: a.py"),
        (wrote(swap("", "x", "new.py")), "edits[0].path: new.py may not be added"),
        (wrote(swap("x", "y", "empty.py")), "edits[0].find: empty.py is empty"),
        (wrote(swap("caf", "x", "latin.py")), "edits[0].path: latin.py is no text in UTF-8"),
        (wrote(swap("plain", f'"{KEY}"', "key.py")), "edits[0].replace: there is a secret or a hidden character in it"),
        (wrote(swap("plain", "a\u202eb", "key.py")), "edits[0].replace: there is a secret or a hidden character in it"),
        (wrote(swap("plain", "«secret:github-token»", "key.py")), "stands for what is not shown"),
        (wrote(swap("plain", "⟨U+202E⟩", "key.py")), "stands for what is not shown"),
        (wrote(swap(KEY, "guessed", "key.py")), "does not stand in the file as it is shown"),
        (wrote(swap("ret:github", "x", "key.py")), "begins or ends inside of a placeholder"),
        (json.dumps({"explanation": "x", "edits": [{"path": "a.py", "find": "x"}]}), "edits[0]: missing ['replace']"),
        (json.dumps({"explanation": "x", "edits": [swap("a", "b", " ")]}), "edits[0].path: it is empty"),
        ("no JSON", "not valid JSON"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_so_that_it_can_be_mended(text: str, told: str) -> None:
    with pytest.raises(InvalidReply) as caught:
        fit(text)
    assert told in str(caught.value)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a//b", "./a.py", "a/../b", "a/"])
def test_a_new_file_has_a_path_from_the_top_of_the_repository(path: str) -> None:
    with pytest.raises(InvalidReply, match="is no path from the top"):
        fit(wrote(swap("", "x", path)), task=ADDING)
    with pytest.raises(InvalidReply, match="is no path from the top"):
        fit(wrote(), (path, b"x"), task=ADDING)


def test_a_file_that_may_not_be_changed_is_not_to_be_written_with_the_tool_either() -> None:
    with pytest.raises(InvalidReply, match=r"b\.py, written with the tool, may not be changed"):
        fit(wrote(), ("b.py", b"x"), task=ADDING)
    with pytest.raises(InvalidReply, match=r"edits\[0\]\.path: there is no file gone\.py"):
        fit(wrote(swap("x", "y", "gone.py")), task=ADDING)


def test_a_file_that_comes_along_stays_as_it_is() -> None:
    brought = Edit("tests/test_new.py", b"def test(): ...\n")
    task = a_task(paths=TASK.paths, may_add=True, brings=(brought,))
    tree = Tree(HEAD).having(task.brings)
    with pytest.raises(InvalidReply, match="it comes along as it is"):
        fit(wrote(swap("def test", "def no_test", brought.path)), tree=tree, task=task)
    with pytest.raises(InvalidReply, match="it comes along as it is"):
        fit(wrote(), (brought.path, None), tree=tree, task=task)
    assert [edit.path for edit in fit(wrote(swap("line 3", "3")), tree=tree, task=task).edits] == ["a.py"]


def test_a_swap_finds_its_place_in_the_file_as_it_is_now() -> None:
    tree = Tree(HEAD).having([Edit("a.py", CODE.replace(b"line 3", b"three"))])
    made = fit(wrote(swap("three", "3")), tree=tree)
    assert made.edits == (Edit("a.py", CODE.replace(b"line 3", b"3")),)
    with pytest.raises(InvalidReply):
        fit(wrote(swap("line 3", "3")), tree=tree)


def test_what_is_as_at_head_again_differs_in_nothing_from_it() -> None:
    tree = Tree(HEAD).having([Edit("a.py", b"else\n"), Edit("b.py", b"x")])
    back = tree.having([Edit("a.py", CODE), Edit("gone.py", None)])
    assert back.edits == (Edit("b.py", b"x"),)
    assert tree.changes(back) == (Edit("a.py", CODE),)


# The forms of the answers

TEXTS = st.text(alphabet='ab \n"é', max_size=6)
WRITINGS = st.fixed_dictionaries(
    {"explanation": TEXTS, "edits": st.lists(st.fixed_dictionaries({"path": TEXTS, "find": TEXTS, "replace": TEXTS}), max_size=2)}
)
POINTS = st.fixed_dictionaries({"text": TEXTS, "critical": st.booleans(), "cites": st.lists(TEXTS, max_size=2)})
VERDICTS = st.fixed_dictionaries(
    {
        "verdicts": st.lists(
            st.fixed_dictionaries(
                {
                    "letter": st.sampled_from(["A", "B"]),
                    "points": st.lists(POINTS, max_size=2),
                    "acceptable": st.booleans(),
                    "score": st.floats(-1, 11) | st.integers(0, 10),
                }
            ),
            max_size=3,
        )
    }
)


@SOME
@given(WRITINGS, st.booleans())
def test_every_writing_that_the_schema_allows_is_read(document: Any, enveloped: bool) -> None:
    assert Draft202012Validator(EDITS_SCHEMA).is_valid(document)
    assert Draft202012Validator(MAKING_ENVELOPE).is_valid({"answer": document})
    text = json.dumps({"answer": document} if enveloped else document)
    if all(item["path"].strip() for item in document["edits"]):
        assert len(reply.writing(text).swaps) == len(document["edits"])
    else:
        with pytest.raises(InvalidReply):
            reply.writing(text)


@SOME
@given(VERDICTS)
def test_verdicts_are_one_for_each_letter_or_invalid(document: Any) -> None:
    assert Draft202012Validator(APPRAISAL_SCHEMA).is_valid(document)
    listed = document["verdicts"]
    fits = sorted(item["letter"] for item in listed) == ["A", "B"]
    fits = fits and all(0 <= item["score"] <= 10 and all(p["text"].strip() for p in item["points"]) for item in listed)
    if fits:
        found = reply.verdicts(json.dumps(document), letters=("A", "B"))
        assert [one.letter for one in found] == ["A", "B"]
        return
    with pytest.raises(InvalidReply):
        reply.verdicts(json.dumps(document), letters=("A", "B"))


@SOME
@given(
    st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner))
)
def test_any_other_document_is_invalid_and_nothing_else(document: Any) -> None:
    for read in (reply.writing, lambda text: reply.verdicts(text, letters=("A",))):
        with pytest.raises(InvalidReply):
            read(json.dumps(document))


@pytest.mark.parametrize(
    "text",
    [
        judged(verdict(), verdict()),
        judged(verdict("B")),
        judged({**verdict(), "acceptable": "yes"}),
        judged({**verdict(), "score": True}),
        judged(verdict("A", {**point(), "critical": 1})),
    ],
)
def test_verdicts_that_say_nothing_certain_are_invalid(text: str) -> None:
    with pytest.raises(InvalidReply):
        reply.verdicts(text, letters=("A",))


def test_code_longer_than_any_gate_lets_through_is_invalid() -> None:
    assert reply.writing(wrote(swap("a", "x" * schema.MAX_CODE))).swaps
    with pytest.raises(InvalidReply, match=r"edits\[0\]\.replace: a text of at most"):
        reply.writing(wrote(swap("a", "x" * (schema.MAX_CODE + 1))))


# What is shown of files and candidates


def test_a_candidate_is_shown_in_hunks_with_the_numbers_that_its_lines_have() -> None:
    after = Tree(FILES).having(
        [Edit("a.py", CODE.replace(b"line 2\n", b"two\nzwei\n").replace(b"line 10\n", b"")), Edit("b.py", None)]
    )
    delta = Delta.between(Tree(FILES), after)
    assert delta.text.split("\n") == [
        "=== a.py, lines 1-6, in hunk H1",
        "1 |line 1",
        " -|line 2",
        "2+|two",
        "3+|zwei",
        "4 |line 3",
        "5 |line 4",
        "6 |line 5",
        "",
        "=== a.py, lines 8-10, in hunk H2",
        " 8 |line 7",
        " 9 |line 8",
        "10 |line 9",
        "  -|line 10",
        "",
        "=== b.py, nothing is left, in hunk H3",
        " -|other",
    ]
    assert delta.has("H3")
    assert not delta.has("H4")


LINES = st.lists(st.sampled_from([b"a", b"b", b"c", b"\xff", b""]), max_size=12).map(b"\n".join)


@SOME
@given(LINES, LINES)
@example(b"a\n", b"a")
@example(b"", b"\n")
def test_the_hunks_of_a_candidate_lead_from_one_file_to_the_other(old: bytes, new: bytes) -> None:
    """Whoever takes the removed lines out and the new ones in has the other file."""
    delta = Delta.between(Tree({"x": old}), Tree({"x": old}).having([Edit("x", new)]))
    before, now = list(shown.whole(old)), list(shown.whole(new))
    rebuilt, position = list[str](), 0
    for passage in delta.passages:
        skipped = passage.start - 1 - len(rebuilt)
        rebuilt += before[position : position + skipped]
        position += skipped
        for number, text in enumerate((*passage.lines, None), passage.start):
            for gone in (gone.text for gone in passage.removed if gone.before == number):
                assert before[position] == gone
                position += 1
            if text is None:
                break
            if number not in passage.changed:
                assert before[position] == text
                position += 1
            rebuilt.append(text)
    assert rebuilt + before[position:] == now
    assert bool(delta.passages) == (old != new)


def test_secrets_in_a_candidate_are_not_shown() -> None:
    delta = Delta.between(Tree(HEAD), Tree(HEAD).having([Edit("key.py", HEAD["key.py"].replace(b"plain", b"plainer"))]))
    assert KEY not in delta.text
    assert "⟨U+202E⟩" in delta.text


def test_a_candidate_of_many_lines_is_compared_quickly() -> None:
    old = b"".join(b"x = %d\n" % (number % 7) for number in range(30_000))
    new = b"".join(b"y = %d\n" % (number % 5) for number in range(30_000))
    assert len(Delta.between(Tree({"x": old}), Tree({"x": old}).having([Edit("x", new)])).passages) == 1


LONG = b"".join(b"line %d\n" % number for number in range(1, 1001))


def spans(task: Task, files: dict[str, bytes], *edits: Edit, seat: Seat = PROPOSER) -> list[tuple[str, int, int]]:
    found = sheets(task, Tree(files).having(edits), seat)
    assert all(sheet.lines for sheet in found if files.get(sheet.path))
    return [(sheet.path, sheet.start, sheet.start + len(sheet.lines) - 1) for sheet in found]


def test_a_short_file_is_shown_whole_and_a_long_one_around_the_place() -> None:
    assert spans(a_task(line=3), {"a.py": CODE}) == [("a.py", 1, 10)]
    assert spans(a_task(line=500), {"a.py": LONG}) == [("a.py", 350, 650)]
    assert spans(a_task(line=10), {"a.py": LONG}) == [("a.py", 1, 160)]
    assert spans(a_task(line=999), {"a.py": LONG}) == [("a.py", 849, 1000)]
    for seat in (local_seat("proposer"), replace(PROPOSER, room=2_000)):
        assert spans(a_task(line=500), {"a.py": LONG}, seat=seat) == [("a.py", 460, 540)]
    assert spans(a_task(line=500), {"a.py": LONG}, seat=replace(PROPOSER, room=90_000)) == [("a.py", 350, 650)]
    assert sheets(a_task(line=500), Tree({"a.py": LONG}), PROPOSER)[0].of == 1000


def test_the_place_moves_with_what_was_written_before_it() -> None:
    edit = Edit("a.py", b"new\n" * 100 + LONG)
    assert spans(a_task(line=500), {"a.py": LONG}, edit) == [("a.py", 450, 750)]
    below = Edit("a.py", LONG + b"new\n" * 100)
    assert spans(a_task(line=500), {"a.py": LONG}, below) == [("a.py", 350, 650)]
    gone = Edit("a.py", b"line 1\nline 2\n")
    assert spans(a_task(line=500), {"a.py": LONG}, gone) == [("a.py", 1, 2)]


def test_files_that_the_words_or_the_check_name_are_shown_as_well_and_not_all_of_them() -> None:
    files = {"a.py": CODE, "pkg/shop/cart.py": b"c\n", "tests/test_it.py": b"t\n", "other.py": b"o\n", "pkg/view.py": b"v\n"}
    task = a_task(
        wish="see view.py", check=CHECK.__class__(("pytest",), "import pkg\nfrom shop.cart import x", "tests/test_it.py::t")
    )
    many = frozenset(f"f{number}.py" for number in range(50)) | {"a.py"}
    named = [path for path, _, _ in spans(a_task(wish=task.wish, check=task.check, paths=many), files)]
    assert named == ["a.py", "pkg/shop/cart.py", "pkg/view.py", "tests/test_it.py"]
    lots = {f"f{number}.py": b"x\n" for number in range(50)} | {"a.py": CODE}
    assert len(sheets(a_task(wish=" ".join(lots), paths=many), Tree(lots), PROPOSER)) == MOST_SHEETS


def test_further_places_come_after_the_task_s_own_and_no_line_twice() -> None:
    task = a_task(line=500, places=(("a.py", 510), ("a.py", 900), ("b.py", 2), ("gone.py", 1)))
    assert spans(task, {"a.py": LONG, "b.py": b"x\ny\n"}) == [("a.py", 350, 650), ("a.py", 750, 1000), ("b.py", 1, 2)]


def test_what_is_no_text_is_not_shown_and_a_very_long_line_not_whole() -> None:
    assert sheets(a_task(), Tree({"a.py": b"\xff\n"}), PROPOSER) == ()
    assert sheets(a_task(), Tree({}), PROPOSER) == ()
    (sheet,) = sheets(a_task(), Tree({"a.py": b"x" * 5_000 + b"\n"}), PROPOSER)
    assert sheet.lines == (f"{'x' * MOST_LINE}⟨3000 more characters⟩",)
    (empty,) = sheets(a_task(), Tree({"a.py": b""}), PROPOSER)
    assert (empty.lines, empty.of) == ((), 0)
