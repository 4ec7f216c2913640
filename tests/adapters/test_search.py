"""Words in a tree, found by git as a reader would find them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.git import search as searching
from reviewbot.adapters.git.command import Git
from reviewbot.errors import GitError
from reviewbot.ports import Hit
from tests.repo import Repo
from tests.rings import examples


@pytest.fixture
def opened(git_repo: Repo, tmp_path: Path) -> Iterator[GitRepo]:
    (tmp_path / "scratch").mkdir()
    repo = GitRepo.open(git_repo.path, tmp_path / "scratch", environment=git_repo.environment)
    yield repo
    repo.close()


def head_tree(repo: Repo) -> str:
    return repo.git("rev-parse", "HEAD^{tree}")


def by_hand(files: dict[str, bytes], words: tuple[str, ...], *, whole: bool) -> list[Hit]:
    """The same, the slow way."""
    edge = rb"(?<![A-Za-z0-9_])%b(?![A-Za-z0-9_])" if whole else b"%b"
    wanted = [re.compile(edge % re.escape(word.encode("utf-8", "surrogateescape"))) for word in words if word]
    return [
        Hit(path, number, line)
        for path, content in sorted(files.items(), key=lambda item: item[0].encode("utf-8", "surrogateescape"))
        if b"\0" not in content
        for number, line in enumerate(content.removesuffix(b"\n").split(b"\n") if content else [], 1)
        if any(pattern.search(line) for pattern in wanted)
    ]


HOSTILE = {
    "a\nb:1": b"needle here\n",
    ":(exclude)x": b"a needle\n",
    '"quoted"': b"needle\n",
    "b/-e": b"x\nneedle\n",
    "bad\udcff": b"needle",
    "a.bin": b"needle\0needle\n",
}


def test_hostile_names_are_read_as_they_are(git_repo: Repo, opened: GitRepo) -> None:
    for name, content in HOSTILE.items():
        git_repo.write(name, content)
    git_repo.commit()
    hits = opened.find(head_tree(git_repo), ("needle",), whole=True, most=100)
    assert list(hits) == by_hand(HOSTILE, ("needle",), whole=True)
    assert len(hits) == 5


@pytest.mark.parametrize(
    "word",
    [
        "-v",
        "--open-files-in-pager=touch pwned",
        "-e",
        "--",
        "(",
        "a.*",
        "\\",
        "needle\\|x",
        ":",
        "é",
        "[a]",
        "a{2}",
        "^x",
        "y$",
        "a?",
        "a]",
        "}",
        "+",
    ],
)
def test_a_word_is_never_an_option_nor_a_pattern(git_repo: Repo, opened: GitRepo, word: str) -> None:
    files = {"a.txt": f"x{word}y\naxxx\nneedle|x\nplain\n".encode()}
    git_repo.write("a.txt", files["a.txt"])
    git_repo.commit()
    before = git_repo.snapshot()
    assert list(opened.find(head_tree(git_repo), (word,), whole=False, most=9)) == by_hand(files, (word,), whole=False)
    assert git_repo.snapshot() == before


def test_words_that_no_line_holds_and_none_at_all_find_nothing(git_repo: Repo, opened: GitRepo) -> None:
    git_repo.write("a.txt", "a\nb\n")
    git_repo.commit()
    assert opened.find(head_tree(git_repo), (), whole=False, most=9) == ()
    assert opened.find(head_tree(git_repo), ("", "a\nb", "a\0b", "x" * 30_000), whole=False, most=9) == ()
    assert [hit.line for hit in opened.find(head_tree(git_repo), ("", "b"), whole=False, most=9)] == [2]


def test_many_words_are_one_question(git_repo: Repo, opened: GitRepo) -> None:
    git_repo.write("a.txt", "".join(f"word_{number}\n" for number in range(2000)))
    git_repo.commit()
    words = tuple(f"word_{number}" for number in range(2000))
    hits = opened.find(head_tree(git_repo), words, whole=True, most=5000)
    assert [hit.line for hit in hits] == list(range(1, searching.MOST_WORDS + 1))
    long = tuple(f"{'€' * 1000}{number}" for number in range(100))
    assert opened.find(head_tree(git_repo), (*long, "word_7"), whole=True, most=9) != ()


def test_there_are_at_most_so_many_hits_and_long_lines_are_cut(git_repo: Repo, opened: GitRepo) -> None:
    git_repo.write("a.txt", "hit\n" * 50)
    git_repo.write("b.txt", "hit" + "x" * 5000 + "\nhit\n")
    git_repo.commit()
    assert [hit.line for hit in opened.find(head_tree(git_repo), ("hit",), whole=True, most=7)] == [1, 2, 3, 4, 5, 6, 7]
    (hit,) = opened.find(head_tree(git_repo), ("hitx",), whole=False, most=7)
    assert len(hit.text) == searching.LONGEST_LINE


def test_an_answer_that_is_too_large_is_cut_at_a_line(git_repo: Repo, opened: GitRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    git_repo.write("a.txt", "hit number\n" * 5000)
    git_repo.commit()
    monkeypatch.setattr(searching, "MOST_OUTPUT", 1000)
    hits = opened.find(head_tree(git_repo), ("hit",), whole=True, most=10_000)
    assert 5 < len(hits) < 20
    assert {hit.text for hit in hits} == {b"hit number"}


def test_neither_links_nor_attributes_nor_configuration_of_the_repository_matter(git_repo: Repo, opened: GitRepo) -> None:
    git_repo.write("a.py", "needle = 1\n")
    git_repo.write(".gitattributes", "*.py binary diff=evil\n")
    git_repo.link("link.py", "needle")
    git_repo.commit()
    git_repo.write("a.py", "needle in the work tree\nneedle\n")
    pwned = git_repo.path / "pwned"
    for key in ("diff.evil.textconv", "core.pager", "core.fsmonitor"):
        git_repo.git("config", key, f"touch {pwned}; cat")
    git_repo.git("config", "grep.patternType", "perl")
    git_repo.git("config", "submodule.recurse", "true")
    assert opened.find(head_tree(git_repo), ("needle",), whole=True, most=9) == (Hit("a.py", 1, b"needle = 1"),)
    assert not pwned.exists()


@pytest.mark.parametrize("tree", ["HEAD", "--help", "0" * 39, "f" * 40])
def test_what_is_no_tree_is_an_error_and_not_an_empty_answer(git_repo: Repo, opened: GitRepo, tree: str) -> None:
    git_repo.commit()
    with pytest.raises(GitError, match=r"no object id|unable to parse object"):
        opened.find(tree, ("x",), whole=True, most=9)


def test_a_git_that_hangs_is_stopped(tmp_path: Path) -> None:
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\necho begun\nsleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    git = Git(tmp_path, {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, timeout_seconds=0.05)
    with pytest.raises(GitError, match="longer than"):
        git.beginning("grep", most=1000)
    patient = Git(tmp_path, git.environment, timeout_seconds=60.0)
    assert patient.beginning("grep", most=5).stdout == b"begun"


LINES = st.lists(st.text(alphabet="ab_ -.é\t$[^\\|", max_size=8), max_size=8).map("\n".join)
WORDS = st.lists(st.text(alphabet="ab_-.é$[^\\|", max_size=3), min_size=1, max_size=4).map(tuple)


@given(first=LINES, second=LINES, words=WORDS, whole=st.booleans())
@settings(max_examples=examples(25), derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_git_finds_what_a_scan_finds(
    git_repo: Repo, opened: GitRepo, first: str, second: str, words: tuple[str, ...], whole: bool
) -> None:
    files = {"one.txt": first.encode(), "sub/two.txt": second.encode()}
    for name, content in files.items():
        git_repo.write(name, content)
    git_repo.git("add", "--all")
    tree = git_repo.git("write-tree")
    assert list(opened.find(tree, words, whole=whole, most=100)) == by_hand(files, words, whole=whole)
