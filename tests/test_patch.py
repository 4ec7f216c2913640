"""Patches that come without a repository."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess

import pytest
from conftest import Project
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewbot.errors import UsageError
from reviewbot.git.change import Change
from reviewbot.git.diff import load_patch
from reviewbot.git.repository import Repository

GIT = "diff --git a/x b/x\n"
PLAIN = "--- a/x\n+++ b/x\n"
HUNK = "@@ -1 +1 @@\n-a\n+b\n"
ONCE = PLAIN + HUNK


def load(patch: bytes) -> Change:
    return asyncio.run(load_patch(patch))


def git(project: Project, *arguments: str) -> bytes:
    command = ("git", "-C", str(project.folder), *arguments)
    return subprocess.run(command, check=True, capture_output=True).stdout


@pytest.fixture
def many_kinds(project: Project) -> Project:
    """A change with every kind of file."""
    names = ("x b/y.py", 'quote".py', "tab\t.py", "line\nfeed.py", "ümläut.py", "-- dash", "b/a.py")
    before = {name: "one\ntwo\n" for name in names} | {
        "moved.py": "a = 1\n" * 20,
        "gone.py": "g = 1\n",
        "empty": "",
        "binary": b"\0\1",
        "run.sh": "true\n",
        "becomes_link": "x\n",
    }
    project.commit("First", before)
    after = {name: "one\nthree\n++ b/evil.py\n-- x\n" for name in names} | {
        "moved.py": None,
        "moved/here.py": "a = 1\n" * 19 + "a = 2\n",
        "gone.py": None,
        "new.py": "no line feed at the end",
        "binary": b"\0\2",
        "becomes_link": None,
        "new_empty": "",
    }
    (project.folder / "run.sh").chmod(0o755)
    project.commit("Second", after)
    (project.folder / "becomes_link").symlink_to("run.sh")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--amend", "--no-edit")
    return project


@pytest.mark.parametrize(
    "options", [("--full-index",), ("--full-index", "--binary"), ("--full-index", "--no-prefix")]
)
def test_a_patch_says_what_the_repository_says(
    many_kinds: Project, options: tuple[str, ...]
) -> None:
    patch = git(many_kinds, "diff", "-M", *options, "HEAD~1", "HEAD")
    expected = asyncio.run(Repository(many_kinds.folder).load_change("HEAD")).files
    change = load(patch)
    assert (change.base_tree, change.head_tree, change.notes) == ("", "", ())
    for file, same in zip(change.files, expected, strict=True):
        assert [hunk.lines for hunk in file.hunks] == [hunk.lines for hunk in same.hunks]
        assert (file.path, file.old_path, file.status) == (same.path, same.old_path, same.status)
        assert (file.old_mode, file.mode, file.is_binary) == (
            same.old_mode,
            same.mode,
            same.is_binary,
        )


def test_a_patch_with_windows_line_ends(many_kinds: Project) -> None:
    patch = git(many_kinds, "diff", "-M", "HEAD~1", "HEAD", "--", ":!binary")
    assert load(patch.replace(b"\n", b"\r\n")).files == load(patch).files
    mixed = f"{GIT}{ONCE}".replace("-a\n+b\n", "-a\r\n+b\r\n").encode()
    assert [line.text for line in load(mixed).files[0].hunks[0].lines] == ["a\r", "b\r"]


def test_a_copy_is_a_new_file(project: Project) -> None:
    lines = "a = 1\n" * 20
    project.commit("First", {"a.py": lines})
    project.commit("Second", {"a.py": lines + "b = 2\n", "copy.py": lines + "c = 3\n"})
    _, copy = load(git(project, "diff", "--find-copies", "HEAD~1", "HEAD")).files
    assert (copy.path, copy.old_path, copy.status) == ("copy.py", "copy.py", "added")
    assert copy.added_lines == {21}


def test_a_patch_is_read_the_same_inside_of_a_repository(
    many_kinds: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (many_kinds.folder / "x b/.git").mkdir()
    monkeypatch.chdir(many_kinds.folder / "x b")
    patch = git(many_kinds, "diff", "HEAD~1", "HEAD", "--", "b/a.py", ":/b/a.py")
    assert [file.path for file in load(patch).files] == ["b/a.py"]


def test_mails_of_format_patch(project: Project) -> None:
    project.commit("First", {"a.py": "one\n"})
    message = "Sag mehr, über alles\n\n- a list\n+ in the message\n --- and dashes\n"
    project.commit("Say more\n\nBecause.", {"a.py": "one\ntwo\n"})
    project.commit(message, {"b.py": "b\n"})
    change = load(git(project, "format-patch", "--stdout", "-1"))
    assert change.title == "Sag mehr, über alles"
    assert change.description == "- a list\n+ in the message\n --- and dashes"
    series = load(git(project, "format-patch", "--stdout", "-2"))
    assert series.title == "Sag mehr, über alles"
    assert series.description.startswith("Say more\n\nBecause.\n\nSag mehr")
    assert [file.path for file in series.files] == ["a.py", "b.py"]
    log = load(git(project, "log", "-p", "-2"))
    assert [file.path for file in log.files] == ["b.py", "a.py"]


@each(
    ("old", "new", "hunk", "path", "status"),
    [
        ("x.c", "x.c", "@@ -1 +1 @@\n-a\n+b\n", "x.c", "modified"),
        ("old/x.c\t2026-01-01", "new/x.c\t2026-01-02", "@@ -1 +1 @@\n-a\n+b\n", "x.c", "modified"),
        ("/dev/null", "b/x.c", "@@ -0,0 +1 @@\n+b\n", "x.c", "added"),
        ("a/x.c", "/dev/null", "@@ -1 +0,0 @@\n-b\n", "x.c", "deleted"),
        ("a/x.c", "b/x.c", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n", "x.c", "modified"),
    ],
)
def test_patches_of_diff_u(old: str, new: str, hunk: str, path: str, status: str) -> None:
    (file,) = load(f"diff -ru old new\n--- {old}\n+++ {new}\n{hunk}Only in old: z\n".encode()).files
    assert (file.path, file.status) == (path, status)


@each(
    "after",
    [
        "\nbase-commit: 0f\n-- \n2.39.5\n\n",
        "--\n2.39.5\n",  # without spaces at the ends of lines
        "-- \nAda\n+49 30 1234\n_____\nA mailing list\n",
        "\nIndex: z\n=====\n",
        "\nThanks,\nAda\n",
    ],
)
def test_text_after_the_hunks(after: str) -> None:
    change = load(f"{GIT}{ONCE}{after}".encode())
    assert [(len(file.added), len(file.removed)) for file in change.files] == [(1, 1)]


def test_a_patch_that_is_too_large() -> None:
    with pytest.raises(UsageError, match="larger than 20 MB"):
        load(bytes(20_000_001))


@each(
    ("patch", "complaint"),
    [
        ("", "cannot be read: git apply failed: No valid patches in input$"),
        (ONCE + ONCE, "changes 'x' more than once"),
        (PLAIN + "@@ -1 +1 @@\n-a\n", "corrupt patch at line"),
        (ONCE + "+surplus\n", "lines of 'x' follow a hunk"),
        (PLAIN + "@@ -1,2 +1 @@\n-a\n+b\n+c\n-d\n", "corrupt patch at line"),
        (PLAIN + "@@ -1 +1 @@\n*a\n", "cannot be read: "),
        (HUNK, "cannot be read: "),
        (
            "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n",
            "cannot be read: ",
        ),
        (GIT + PLAIN.replace("b/x", "b/evil") + HUNK, "calls one file"),
        (GIT + "new file mode 100644\n" + ONCE, "cannot be read"),
        (GIT + "rename to y\n", "cannot be read"),
        (PLAIN.replace("x", "../../etc/x") + HUNK, "outside of the tree"),
        (PLAIN.replace("x", "/etc/x") + HUNK, "outside of the tree"),
        (PLAIN.replace("x", ".git/config") + HUNK, "outside of the tree"),
        ('--- "a/\\056\\056/x"\n+++ "b/\\056\\056/x"\n' + HUNK, "outside of the tree"),
        (GIT + "similarity index 100%\nrename from ../x\nrename to x\n", "outside of the tree"),
    ],
)
def test_a_patch_that_cannot_be_trusted_is_refused(patch: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        load(patch.encode())


LINES = st.sampled_from(
    """\
diff --git a/x b/x|--- a/x|+++ b/x|@@ -1 +1 @@|@@ -0,0 +1,2 @@|-a|+b| c||-- |--
rename from x|rename to y|new file mode 100644|Binary files a/x and b/x differ|index 1..2
\\ No newline at end of file|From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001
Subject: =?utf-8?q?x?=|Content-Type: multipart/mixed; boundary=x|---""".replace("\n", "|").split(
        "|"
    )
)


@settings(max_examples=50, deadline=None)
@given(st.lists(LINES | st.text(max_size=8), max_size=12))
@example(["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"])
def test_any_text_is_a_change_or_a_usage_error(lines: list[str]) -> None:
    with contextlib.suppress(UsageError):
        assert load("\n".join([*lines, ""]).encode(errors="replace")).files


def test_a_binary_line_of_any_length_costs_no_time() -> None:
    names = [f"{number}" + "ä" * 10_000 for number in range(20)]
    patch = "".join(
        f"diff --git a/{name} b/{name}\nindex 1..2 100644\n"
        f"Binary files a/{name} and b/{name} differ\n"
        for name in names
    )
    assert [(file.path, file.is_binary) for file in load(patch.encode()).files] == [
        (name, True) for name in names
    ]
