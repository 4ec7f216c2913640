"""The diff parser: equal to git on random changes, and not to be fooled by what a file contains."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unidiff import PatchSet

from reviewbot.adapters.git import GitRepo
from reviewbot.changeset import diff
from reviewbot.changeset.excerpt import rebuilt
from reviewbot.domain.change import ChangeSet, FileChange, FileKind, FileStatus, Revisions
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import PatchError
from reviewbot.ports import RawDiff
from tests.repo import Repo
from tests.rings import examples

FROM_PATCH = Revisions("patch", "patch", "patch", None, None)


def from_patch(text: bytes) -> ChangeSet:
    return diff.read(RawDiff(b"", b"", text), FROM_PATCH)


def last_commit(repo: Repo, scratch: Path) -> tuple[ChangeSet, RawDiff]:
    scratch.mkdir(exist_ok=True)
    git = GitRepo.open(repo.path, scratch, environment=repo.environment)
    try:
        revisions = git.resolve(Target(TargetKind.COMMIT, head="HEAD"))
        raw = git.diff(revisions)
    finally:
        git.close()
    return diff.read(raw, revisions), raw


def added(file: FileChange) -> list[tuple[int, bytes]]:
    return list(file.added_lines())


# --- against git itself ---------------------------------------------------------------------------------------------

NASTY_LINES = st.sampled_from(
    [
        b"",
        b"plain",
        b"-- x",
        b"++ b/evil.py",
        b"@@ -1 +1 @@",
        b"diff --git a/x b/x",
        b"--- a/x",
        b"+++ b/x",
        b"\\ No newline at end of file",
        b"rename to .github/workflows/x.yml",
        b"Binary files a/x and b/x differ",
        b"-- ",
        b"From 0000 Mon Sep 17 00:00:00 2001",
        b"form\ffeed",
        "next\u0085line".encode(),
        "line\u2028separator".encode(),
        b"lone\rreturn",
        b"crlf\r",
        b"\xff\xfe raw",
        b"\t",
        b" ",
        b"similarity index 100%",
        b"new file mode 100755",
    ]
)
CONTENTS = st.one_of(
    st.builds(lambda lines, end: b"\n".join(lines) + end, st.lists(NASTY_LINES, max_size=12), st.sampled_from([b"\n", b""])),
    st.binary(max_size=40),
)
NAMES = st.sampled_from(
    [
        "plain.py",
        "with space.py",
        "x b/y.py",
        "x b/z b/y.py",
        'quote".py',
        "back\\slash.py",
        "tab\tname.py",
        "new\nline.py",
        "ümlaut.py",
        "bytes\udcff.py",
        "a/b/c.py",
        "b/a.py",
        "-- dash",
        "trailing ",
        "\x1b[31mred",
        "::warning::x",
    ]
)
TREES = st.dictionaries(NAMES, st.tuples(CONTENTS, st.booleans()), max_size=5)


def lay(repo: Repo, tree: dict[str, tuple[bytes, bool]]) -> None:
    for child in repo.path.iterdir():
        if child.name != ".git":
            shutil.rmtree(child) if child.is_dir() else child.unlink()
    for name, (content, executable) in tree.items():
        repo.write(name, content).chmod(0o755 if executable else 0o644)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Repo, GitRepo]]:
    repo = Repo(tmp_path_factory.mktemp("property"))
    git = GitRepo.open(repo.path, tmp_path_factory.mktemp("scratch"), environment=repo.environment)
    yield repo, git
    git.close()


@pytest.mark.ci
@settings(max_examples=examples(50), suppress_health_check=list(HealthCheck))
@given(old=TREES, new=TREES, move=st.booleans())
def test_agrees_with_git_on_random_trees(
    shared: tuple[Repo, GitRepo], old: dict[str, tuple[bytes, bool]], new: dict[str, tuple[bytes, bool]], move: bool
) -> None:
    repo, git = shared
    lay(repo, old)
    repo.commit()
    if move and old:
        new = {**new, "moved/here.py": next(iter(old.values()))}
    lay(repo, new)
    repo.commit()
    revisions = git.resolve(Target(TargetKind.COMMIT, head="HEAD"))
    raw = git.diff(revisions)
    change = diff.read(raw, revisions)
    for file in change.files:
        assert (len(added(file)), sum(len(list(h.removed())) for h in file.hunks)) == (file.added, file.deleted)
        if file.head_path and file.kind is FileKind.TEXT and file.new_id:
            lines = git.blob(file.new_id).split(b"\n")
            assert all(lines[number - 1] == text for number, text in added(file))
        if file.status is FileStatus.ADDED and file.kind is FileKind.TEXT:
            assert file.new_id is not None
            assert rebuilt(file) == git.blob(file.new_id)
    listed = {name for name in repo.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0") if name}
    assert {file.path for file in change.files if file.head_path} <= listed
    assert [hunk.id for file in change.files for hunk in file.hunks] == [
        f"H{n + 1}" for n in range(sum(len(file.hunks) for file in change.files))
    ]
    if raw.patch:
        assert_same_without_list(repo, raw, change)


def assert_same_without_list(repo: Repo, raw: RawDiff, change: ChangeSet) -> None:
    """The text alone gives the same files and lines as git's list, and as ``git apply --numstat``."""
    shown = from_patch(raw.patch)
    assert [(f.path, f.old_path, f.status, f.hunks) for f in shown.files] == [
        (f.path, f.old_path, f.status, f.hunks) for f in change.files
    ]
    for ours, gits in zip(shown.files, change.files, strict=True):
        # The text of a pure rename says no mode.
        assert not gits.hunks or (ours.old_mode, ours.new_mode) == (gits.old_mode, gits.new_mode)
    if any(file.kind is FileKind.BINARY for file in change.files):
        return
    applied = repo.run("apply", "--numstat", "-z", "--unidiff-zero", stdin=raw.patch).split(b"\0")
    counts = [entry.decode("utf-8", "surrogateescape").split("\t", 2) for entry in applied if entry]
    assert [(int(a), int(d), path) for a, d, path in counts] == [(f.added, f.deleted, f.path) for f in change.files]


# --- what fools others (performance.md) -----------------------------------------------------------------------------


def test_a_folder_that_ends_in_blank_b_keeps_its_name(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("x b/y.py", "one\n")
    git_repo.commit()
    git_repo.git("mv", "x b", "z b")
    git_repo.commit()
    change, raw = last_commit(git_repo, tmp_path / "s")
    assert [(f.path, f.old_path, f.status) for f in change.files] == [("z b/y.py", "x b/y.py", FileStatus.RENAMED)]
    assert from_patch(raw.patch).files[0].path == "z b/y.py"


def test_quoted_names_are_read(git_repo: Repo, tmp_path: Path) -> None:
    for name in ('a"q.py', "tab\there.py", "ü.py", "raw\udcfe.py"):
        git_repo.write(name, "x\n")
    git_repo.commit()
    change, raw = last_commit(git_repo, tmp_path / "s")
    assert sorted(f.path for f in change.files) == sorted(f.path for f in from_patch(raw.patch).files)
    assert change.file("tab\there.py") is not None
    assert change.file("raw\udcfe.py") is not None


def test_a_line_that_speaks_of_a_missing_newline_is_a_line(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("a", "1\n\\ No newline at end of file\n3 No newline at end of file\n4")
    git_repo.commit()
    change, _ = last_commit(git_repo, tmp_path / "s")
    assert [text for _, text in added(change.files[0])][1:] == [
        b"\\ No newline at end of file",
        b"3 No newline at end of file",
        b"4",
    ]
    assert change.files[0].hunks[0].new_ends_without_newline


def test_only_a_line_feed_ends_a_line(git_repo: Repo, tmp_path: Path) -> None:
    text = "a\fb\vc\x1cd\u0085e\u2028f\rg\r\nsecond\n"
    git_repo.write("a", text)
    git_repo.commit()
    change, _ = last_commit(git_repo, tmp_path / "s")
    assert added(change.files[0]) == [(1, text.split("\n")[0].encode()), (2, b"second")]


def test_content_that_looks_like_a_header_stays_content(git_repo: Repo, tmp_path: Path) -> None:
    old = "-- x\nsame\n"
    new = "++ b/evil.py\n@@ -1 +1 @@\ndiff --git a/evil.py b/evil.py\nsame\n"
    git_repo.write("a.py", old)
    git_repo.commit()
    git_repo.write("a.py", new)
    git_repo.commit()
    change, raw = last_commit(git_repo, tmp_path / "s")
    for seen in (change, from_patch(raw.patch)):
        assert [f.path for f in seen.files] == ["a.py"]
        assert [text for _, text in added(seen.files[0])] == [line.encode() for line in new.split("\n")[:3]]


@pytest.mark.parametrize("attribute", ["binary", "-diff", "-text -diff", "diff=foo", "working-tree-encoding=UTF-16"])
def test_attributes_of_the_change_hide_no_code(git_repo: Repo, tmp_path: Path, attribute: str) -> None:
    git_repo.git("config", "diff.foo.textconv", "true")
    git_repo.git("config", "diff.foo.binary", "true")
    git_repo.write("a.py", "x = 1\n")
    git_repo.commit()
    git_repo.write("a.py", "import os\nos.system('evil')\n")
    blob = git_repo.git("hash-object", "-w", "--no-filters", "a.py")
    git_repo.git("update-index", "--cacheinfo", f"100644,{blob},a.py")
    git_repo.write(".gitattributes", f"*.py {attribute}\n")
    git_repo.git("add", ".gitattributes")
    git_repo.git("commit", "-q", "-m", "hide")
    change, _ = last_commit(git_repo, tmp_path / "s")
    file = change.file("a.py")
    assert file is not None
    assert [text for _, text in added(file)] == [b"import os", b"os.system('evil')"]


def test_a_huge_binary_line_costs_no_time(git_repo: Repo) -> None:
    name = "ä" * 10_000
    text = f"diff --git a/{name} b/{name}\nindex 1..2 100644\nBinary files a/{name} and b/{name} differ\n".encode()
    change = from_patch(text * 20)
    assert [f.kind for f in change.files] == [FileKind.BINARY]


def test_a_change_of_type_is_one_file(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("a", "text\n")
    git_repo.write("z", "last\n")
    git_repo.commit()
    git_repo.link("a", "z")
    git_repo.write("z", "other\n")
    git_repo.commit()
    change, raw = last_commit(git_repo, tmp_path / "s")
    for seen in (change, from_patch(raw.patch)):
        assert [(f.path, f.status) for f in seen.files] == [("a", FileStatus.TYPE_CHANGED), ("z", FileStatus.MODIFIED)]
        assert seen.files[0].kind is FileKind.SYMLINK
        assert added(seen.files[1]) == [(1, b"other")]


def test_modes_empty_files_and_binaries_have_no_hunks(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("run.sh", "x\n")
    git_repo.write("gone", "")
    git_repo.commit()
    (git_repo.path / "run.sh").chmod(0o755)
    git_repo.write("empty", "")
    git_repo.write("image.png", b"\x89PNG\0\0")
    git_repo.remove("gone")
    git_repo.commit()
    change, raw = last_commit(git_repo, tmp_path / "s")
    for seen in (change, from_patch(raw.patch)):
        assert all(not f.hunks for f in seen.files)
        run = seen.file("run.sh")
        assert run is not None
        assert (run.old_mode, run.new_mode) == (0o100644, 0o100755)
    assert {f.path: f.kind for f in change.files}["image.png"] is FileKind.BINARY


def test_an_lfs_pointer_is_known_and_a_program_behind_one_is_not(git_repo: Repo, tmp_path: Path) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12\n"
    git_repo.write("model.bin", pointer)
    git_repo.write("evil.py", pointer + "import os\n")
    git_repo.write("more.py", pointer + "size 1\n" * 5)
    git_repo.commit()
    change, _ = last_commit(git_repo, tmp_path / "s")
    assert {f.path: f.kind for f in change.files} == {
        "model.bin": FileKind.LFS,
        "evil.py": FileKind.TEXT,
        "more.py": FileKind.TEXT,
    }


# --- a patch without repository -------------------------------------------------------------------------------------


def test_a_mail_of_format_patch_is_read(git_repo: Repo) -> None:
    git_repo.write("a.py", "one\n")
    git_repo.commit()
    for text in ("one\ntwo\n", "one\ntwo\nthree\n"):
        git_repo.write("a.py", text)
        git_repo.commit("Say more\n\n- a list\n+ in the message\n --- and dashes")
    mails = git_repo.run("format-patch", "--stdout", "-2")
    change = from_patch(mails)
    assert [f.path for f in change.files] == ["a.py"]
    assert [text for _, text in added(change.files[0])] == [b"two", b"three"]
    assert "several times" in change.revisions.notes[0]


def test_a_diff_of_two_folders_is_read() -> None:
    text = b"diff -ru old/x.c new/x.c\n--- old/x.c\t2026-01-01 00:00:00 +0000\n+++ new/x.c\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n"
    assert from_patch(text).files[0].path == "x.c"


@pytest.mark.parametrize(
    ("names", "path"),
    [((b"x.c", b"x.c"), "x.c"), ((b"a/x.c", b"b/x.c"), "x.c"), ((b"/dev/null", b"b/x.c"), "x.c"), ((b"x.c.orig", b"x.c"), "x.c")],
)
def test_plain_headers_name_their_file(names: tuple[bytes, bytes], path: str) -> None:
    text = b"--- %s\n+++ %s\n@@ -0,0 +1 @@\n+b\n" % names
    assert from_patch(text).files[0].path == path


def test_windows_line_ends_of_the_patch_itself_are_understood() -> None:
    text = b"diff --git a/x b/x\r\nindex 1111..2222 100644\r\n--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n"
    assert added(from_patch(text).files[0]) == [(1, b"b\r")]


def test_a_stripped_blank_context_line_is_context() -> None:
    text = b"--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"
    assert added(from_patch(text).files[0]) == [(3, b"c")]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "no change"),
        (b"just words\n", "no change"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n", "line 5"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+stray\n", "line 6"),
        (b"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n+c\n-d\n", "line 7"),
        (b"@@ -1 +1 @@\n-a\n+b\n", "line 1"),
        (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n*a\n", "line 4"),
        (b"--- a/x\n+++ b/x\n@@ -x +1 @@\n*a\n", "line 3"),
        (b"diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n", "combined"),
        (b"diff --git a/x b/x\n--- a/x\n+++ b/evil\n@@ -1 +1 @@\n-a\n+b\n", "line 1"),
        (b"diff --git a/x b/y\nrename from x\nrename to evil\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "line 1"),
        (b"diff --git a/evil b/evil\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "line 1"),
        (b"diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "line 1"),
        (b"diff --git a/x b/x\nrename to y\n", "line 1"),
        (b"\xff\xfed\0i\0f\0f\0", "UTF-16"),
    ],
)
def test_a_malformed_patch_names_the_line(text: bytes, complaint: str) -> None:
    with pytest.raises(PatchError) as raised:
        from_patch(text)
    assert complaint in str(raised.value)


@settings(max_examples=examples(300))
@given(st.lists(NASTY_LINES | st.binary(max_size=12), max_size=12))
def test_any_text_is_a_change_or_one_named_error(lines: list[bytes]) -> None:
    with contextlib.suppress(PatchError):
        assert from_patch(b"\n".join(lines)).files


def test_agrees_with_unidiff_on_ordinary_changes(git_repo: Repo, tmp_path: Path) -> None:
    chance = random.Random(1)
    lines = [f"line {n}" for n in range(400)]
    git_repo.write("a.py", "\n".join(lines) + "\n")
    git_repo.commit()
    for _ in range(40):
        lines[chance.randrange(len(lines))] = f"changed {chance.random()}"
    git_repo.write("a.py", "\n".join(lines) + "\n")
    git_repo.commit()
    change, raw = last_commit(git_repo, tmp_path / "s")
    theirs = PatchSet(raw.patch.decode())[0]
    assert added(change.files[0]) == [
        (line.target_line_no, line.value.rstrip("\n").encode()) for hunk in theirs for line in hunk if line.is_added
    ]


@pytest.mark.ci
def test_600_000_lines_are_read_in_a_few_seconds(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("big.py", b"".join(b"value_%d = compute(%d)\n" % (n, n) for n in range(600_000)))
    git_repo.commit()
    change, _ = last_commit(git_repo, tmp_path / "s")
    assert change.files[0].added == 600_000
    assert sum(1 for _ in change.files[0].added_lines()) == 600_000


@pytest.mark.ci
def test_10_000_files_are_listed(git_repo: Repo, tmp_path: Path) -> None:
    for n in range(10_000):
        git_repo.write(f"d{n % 100}/f{n}.py", f"x = {n}\n")
    git_repo.commit()
    change, _ = last_commit(git_repo, tmp_path / "s")
    assert len(change.files) == 10_000
    assert all(file.added == 1 for file in change.files)
