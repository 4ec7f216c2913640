"""Formatted as the project formats: by what leaves its files as they are, with settings of the base, and with its line endings."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.change import ChangeSet, FileChange, Revisions
from reviewbot.domain.repair import Edit
from reviewbot.evidence import formatters
from reviewbot.evidence.formatters import Formatted, tidy
from reviewbot.evidence.formatters.kept import kept, same_words
from reviewbot.evidence.formatters.table import FORMATTERS, edition
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Ended, Job, Outcome
from tests.evidence.asked import Scene, scene

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci]

MARK = b"\xef\xbb\xbf"
NEAT = 'def f(a):\n    return {"a": a}\n'
UNTIDY = "\n\nx = [1,\n  2]\n"
TIDY = "\n\nx = [1, 2]\n"


def laid_out(made: Scene, *edits: Edit, options: CheckOptions | None = None) -> Formatted:
    return made.conduct(formatters.laid_out(made.view, edits, options or CheckOptions()))


def after(made: Scene, path: str, content: str | bytes) -> bytes | None:
    """What becomes of a file that is written so."""
    data = content.encode() if isinstance(content, str) else content
    return laid_out(made, Edit(path, data)).edits[0].content


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program, path="/usr/bin:/usr/local/bin"), reason=f"{program} is not installed")


@pytest.mark.smoke
def test_a_file_that_the_formatter_leaves_as_it_is_is_formatted(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": NEAT})
    assert after(made, "a.py", NEAT + UNTIDY) == (NEAT + TIDY).encode()
    assert [job.name for job in made.jobs[0]] == ["format:ruff format:head", "format:black:head"]
    assert len(made.jobs) == 2


@pytest.mark.parametrize("head", ["x=1\n", NEAT.replace('"', "'"), "def f(:\n"], ids=["untidy", "other quotes", "not Python"])
def test_a_file_that_the_formatter_would_change_is_left_as_it_was_written(head: str, tmp_path: Path) -> None:
    assert after(scene(tmp_path, {"a.py": head}), "a.py", head + UNTIDY) == (head + UNTIDY).encode()


def test_what_cannot_be_parsed_is_left_as_it_was_written(tmp_path: Path) -> None:
    assert after(scene(tmp_path, {"a.py": NEAT}), "a.py", "def f(:\n  x\n") == b"def f(:\n  x\n"


def test_the_settings_of_the_base_hold_and_not_those_of_the_change(tmp_path: Path) -> None:
    base = {"ruff.toml": "line-length = 30\n[format]\nquote-style = 'single'\n"}
    head = {"ruff.toml": "line-length = 200\n", "sub/ruff.toml": "line-length = 200\n", "sub/a.py": NEAT.replace('"', "'")}
    made = scene(tmp_path, head, base)
    assert (
        after(made, "sub/a.py", head["sub/a.py"] + '\n\nx = ["a long text", "another one"]\n')
        == (head["sub/a.py"] + "\n\nx = [\n    'a long text',\n    'another one',\n]\n").encode()
    )


def test_a_file_that_the_settings_leave_out_is_left_as_it_was_written(tmp_path: Path) -> None:
    settings = {"ruff.toml": "extend-exclude = ['a.py']\n"}
    assert after(scene(tmp_path, {**settings, "a.py": NEAT}, settings), "a.py", NEAT + UNTIDY) == (NEAT + UNTIDY).encode()


@needs("gofmt")
def test_go_is_formatted_by_gofmt_without_a_sandbox(tmp_path: Path) -> None:
    head = "package a\n\nfunc F() int {\n\treturn 1\n}\n"
    made = scene(tmp_path, {"a.go": head}, level="none")
    assert after(made, "a.go", head + "func  G() int {\n return 2 }\n") == (head + "func G() int {\n\treturn 2\n}\n").encode()
    assert not any(job.executes for jobs in made.jobs for job in jobs)


@needs("shfmt")
def test_shell_is_formatted_by_the_settings_of_its_editor(tmp_path: Path) -> None:
    settings = {".editorconfig": "[*.sh]\nindent_style = space\nindent_size = 3\n"}
    head = "if true; then\n   echo 1\nfi\n"
    made = scene(tmp_path, {**settings, "a.sh": head}, settings)
    assert after(made, "a.sh", head + "if true; then\n echo 2\nfi\n") == (head + head.replace("1", "2")).encode()


@needs("rustfmt")
def test_rust_is_formatted_in_the_edition_of_the_project(tmp_path: Path) -> None:
    package = {"Cargo.toml": '[package]\nname = "x"\nedition = "2021"\n'}
    head = "fn f() {}\n"
    made = scene(tmp_path, {**package, "src/a.rs": head}, package)
    assert (
        after(made, "src/a.rs", head + "fn  g( ) { let x=async {1}; }\n")
        == (head + "fn g() {\n    let x = async { 1 };\n}\n").encode()
    )


def test_without_a_sandbox_nothing_reads_the_projects_settings_and_that_is_told(tmp_path: Path) -> None:
    settings = {"ruff.toml": ""}
    made = laid_out(scene(tmp_path, {**settings, "a.py": NEAT}, settings, level="none"), Edit("a.py", (NEAT + UNTIDY).encode()))
    assert made.edits[0].content == (NEAT + UNTIDY).encode()
    assert made.notes == ("whether the project formats with ruff format is not known: there is no sandbox",)


def test_without_a_sandbox_and_without_settings_ruff_only_parses(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": NEAT}, level="none")
    assert after(made, "a.py", NEAT + UNTIDY) == (NEAT + TIDY).encode()


def test_nothing_is_run_where_nothing_may_be(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": NEAT.replace("\n", "\r\n")})
    edits = laid_out(made, Edit("a.py", (NEAT + UNTIDY).encode()), options=CheckOptions(execute=False)).edits
    assert edits[0].content == (NEAT + UNTIDY).replace("\n", "\r\n").encode()
    assert made.jobs == []


@pytest.mark.ci
def test_a_hundred_files_are_one_run_and_another_of_those_that_change(tmp_path: Path) -> None:
    head = {f"part{number}.py": NEAT for number in range(100)}
    made = scene(tmp_path, head)
    edits = tuple(Edit(path, (NEAT + (UNTIDY if number % 2 else TIDY)).encode()) for number, path in enumerate(head))
    found = laid_out(made, *edits).edits
    assert found == tuple(Edit(path, (NEAT + TIDY).encode()) for path in head)
    assert [len({job.name for job in jobs}) == len(jobs) <= 2 for jobs in made.jobs] == [True, True]
    assert len(made.jobs[1][0].files) == 100


def test_more_files_than_can_be_named_at_once_are_several_runs() -> None:
    view = View(*opened_nowhere())
    texts = [(f"{number}.py", b"x = 1\n") for number in range(501)]
    jobs = tidy.jobs(FORMATTERS[1], texts, view, seconds=1.0)
    assert [len(job.files) for job in jobs] == [500, 1]
    outcomes = [Outcome(Ended.EXITED, 0, stdout=b"499 1\na"), Outcome(Ended.EXITED, 0, stdout=b"0 2\nbc")]
    assert tidy.read(texts, outcomes)[498:] == (None, b"a", b"bc")


def test_files_that_go_and_files_that_nobody_formats_are_left_alone(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": NEAT, "b.txt": "x\n"})
    edits = (Edit("a.py", None), Edit("b.txt", b"y  =  1\n"), Edit("new.txt", b"z"))
    assert laid_out(made, *edits) == Formatted(edits)
    assert made.jobs == []


@pytest.mark.parametrize(
    ("neighbours", "formatted"),
    [
        ({"pkg/a.py": NEAT, "pkg/b.py": NEAT}, True),
        ({"pkg/a.py": NEAT, "pkg/b.py": "x=1\n"}, False),
        ({"pkg/__init__.py": ""}, False),
        ({f"pkg/{name}.py": NEAT for name in "abcde"} | {"other/z.py": "x=1\n"}, True),
    ],
    ids=["all are", "one is not", "nothing there", "those far away do not count"],
)
def test_a_new_file_is_formatted_as_those_near_it_are(neighbours: Mapping[str, str], formatted: bool, tmp_path: Path) -> None:
    made = scene(tmp_path, neighbours)
    assert after(made, "pkg/new.py", UNTIDY) == (b"x = [1, 2]\n" if formatted else UNTIDY.encode())
    if not neighbours.get("pkg/__init__.py", "."):
        assert after(made, "pkg/__init__.py", UNTIDY) == UNTIDY.encode()


def test_the_edits_stay_as_many_and_in_their_order(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": NEAT, "b.py": "x=1\n", "c.go": "package c\n"})
    edits = tuple(Edit(path, UNTIDY.encode()) for path in ("c.go", "b.py", "a.py", "n.py"))
    assert [edit.path for edit in laid_out(made, *edits).edits] == ["c.go", "b.py", "a.py", "n.py"]


def test_a_name_that_looks_like_an_option_or_a_command_is_only_a_name(tmp_path: Path) -> None:
    name = "-q $(touch out) '; echo.py"
    assert after(scene(tmp_path, {name: NEAT}), name, NEAT + UNTIDY) == (NEAT + TIDY).encode()


@pytest.mark.parametrize(
    ("head", "content", "after"),
    [
        (b"a\r\nb\r\n", b"a\nc\n", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", b"a\r\nc\n", b"a\r\nc\r\n"),
        (b"a\nb\n", b"a\r\nc\n", b"a\nc\n"),
        (b"a\r\nb\n", b"a\nc\r\n", b"a\nc\r\n"),
        (b"a\rb\r", b"a\nb\r\n", b"a\nb\r\n"),
        (b"a\n", b"b", b"b\n"),
        (b"a\r\n", b"b", b"b\r\n"),
        (b"a", b"b\n", b"b\n"),
        (b"a", b"b", b"b"),
        (b"a\n", b"", b""),
        (MARK + b"a\n", b"b\n", MARK + b"b\n"),
        (b"a\n", MARK + b"b\n", b"b\n"),
        (b"", b"b\r\n", b"b\r\n"),
        (b"a\n", b"b\rc\n", b"b\rc\n"),
    ],
)
def test_a_file_keeps_how_it_is_written(head: bytes, content: bytes, after: bytes) -> None:
    assert kept(head, content) == after


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_what_is_kept_is_kept_again_and_a_file_of_the_head_is_left_as_it_is(head: bytes, content: bytes) -> None:
    once = kept(head, content)
    assert kept(head, once) == once
    assert kept(head, head) == head
    assert (
        once.removeprefix(MARK).replace(b"\r\n", b"\n").strip(b"\n")
        == content.removeprefix(MARK).replace(b"\r\n", b"\n").strip(b"\n")
        or b"\r" in content + head
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (b"x = ['a',\n 'b']", b'x = ["a", "b",]\n', True),
        (b"return (a)", b"return a", True),
        (b"0XFF", b"0xff", True),
        (b"import b\nimport a", b"import a\nimport b", True),
        (b"a = b", b"a = c", False),
        (b"a = b", b"a = b\nevil()", False),
        (b"if a: b()", b"if not a: b()", False),
        (b"a < b", b"a > b", False),
        (b"a", b"a\n#", False),
    ],
)
def test_a_formatter_changes_layout_and_nothing_else(one: bytes, other: bytes, same: bool) -> None:
    assert same_words(one, other) is same


def conducted(
    asked: Generator[tuple[Job, ...], tuple[Outcome, ...], Formatted], said: list[list[bytes]]
) -> tuple[int, Formatted]:
    """How often a lone formatter was run that says this, and what came of it."""
    try:
        next(asked)
        for texts in said:
            stdout = b"".join(b"%d %d\n%s" % (number, len(text), text) for number, text in enumerate(texts))
            asked.send((Outcome(Ended.EXITED, 0, stdout=stdout),))
    except StopIteration as end:
        return said.index(texts) + 1, end.value
    raise AssertionError("it asks for more")


@pytest.mark.parametrize(("written", "rounds"), [(b"x = 1\n", 2), (b"x = 1\nevil()\n", 1)], ids=["layout", "code"])
def test_a_formatter_that_writes_code_of_its_own_is_not_followed(written: bytes, rounds: int, tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": NEAT}, level="none")
    asked = formatters.laid_out(made.view, (Edit("a.py", b"x=1\n"),), CheckOptions())
    after = written if rounds == 2 else b"x=1\n"
    assert conducted(asked, [[written], [written, NEAT.encode()]]) == (rounds, Formatted((Edit("a.py", after),)))


def test_a_formatter_that_would_change_its_own_work_is_not_followed(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": NEAT}, level="none")
    asked = formatters.laid_out(made.view, (Edit("a.py", b"x=1\n"),), CheckOptions())
    assert conducted(asked, [[b"x =1\n"], [b"x = 1\n", NEAT.encode()]]) == (2, Formatted((Edit("a.py", b"x=1\n"),)))


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(Ended.TIMEOUT, stdout=b"0 1\na1 1\nb"),
        Outcome(Ended.EXITED, 1, stdout=b"0 1\na1 1\nb"),
        Outcome(Ended.EXITED, 0, stdout=b"0 1\na1 9\nb"),
        Outcome(Ended.EXITED, 0, stdout=b"x 1\na"),
        Outcome(Ended.EXITED, 0, stdout=b"0 99999999999999\na"),
        Outcome(Ended.EXITED, 0, stdout="٣ 1\na".encode()),
        Outcome(Ended.MISSING, reason="not installed"),
    ],
)
def test_a_run_that_did_not_come_to_its_end_made_nothing(outcome: Outcome) -> None:
    assert tidy.read([("a", b"x"), ("b", b"y")], [outcome]) == (None, None)


@given(st.binary(max_size=60))
def test_any_output_is_read_as_texts_or_as_none(data: bytes) -> None:
    found = tidy.read([("a", b"x"), ("b", b"y")], [Outcome(Ended.EXITED, 0, stdout=data)])
    assert len(found) == 2
    assert all(text is None or text in data for text in found)


@pytest.mark.parametrize(
    ("text", "said"), [(b'[package]\nedition = "2018"\n', "2018"), (b'edition="x; rm -rf"', "2021"), (b"", "2021")]
)
def test_the_edition_is_a_year_and_nothing_else(text: bytes, said: str) -> None:
    change, files = opened_nowhere()
    assert edition(View(change, files, settings={"Cargo.toml": text})) == said


def opened_nowhere() -> tuple[ChangeSet, tuple[FileChange, ...]]:
    """A change of no files, in trees that nobody exports."""
    return ChangeSet(Revisions("range", "a", "b", "1", "2"), ()), ()
