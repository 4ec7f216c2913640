"""Globs mean what ``.gitignore`` means: git itself is asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.changeset.globs import Globs
from tests.repo import Repo
from tests.rings import examples

NAMES = st.lists(st.text("ab.", min_size=1, max_size=3), min_size=1, max_size=4).filter(
    lambda names: not {".", ".."} & set(names)
)
PIECES = st.sampled_from(["a", "b", ".", "*", "?", "/", "**", "/**", "**/", "[ab]", "[!a]", "[a-b]", "\\a", "[", "!", " ", "#"])
UNDOCUMENTED = re.compile(r"\[[^\]]*/|[^/]\*\*|\*\*[^/]")
"""A slash in a class, and ``a**/b``, which git takes for ``**`` behind a literal beginning and its manual for ``*``."""
PATTERNS = st.lists(
    st.lists(PIECES, max_size=6).map("".join).filter(lambda pattern: not UNDOCUMENTED.search(pattern)),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    return Repo(tmp_path_factory.mktemp("globs"))


def ignored_by_git(repo: Repo, patterns: list[str], paths: list[str]) -> set[str]:
    excludes = Path(repo.path / ".git/info/exclude")
    excludes.write_text("".join(f"{pattern}\n" for pattern in patterns))
    lines = b"".join(path.encode() + b"\0" for path in paths)
    answer = repo.run("check-ignore", "--no-index", "-z", "--stdin", stdin=lines, check=False)
    return {path.decode() for path in answer.split(b"\0") if path}


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(patterns=PATTERNS, names=st.lists(NAMES, min_size=1, max_size=8))
def test_agrees_with_git(repo: Repo, patterns: list[str], names: list[list[str]]) -> None:
    paths = sorted({"/".join(parts) for parts in names})
    globs = Globs(tuple(patterns))
    assert {path for path in paths if globs.match(path)} == ignored_by_git(repo, patterns, paths)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**/*.lock", "a/b/x.lock", True),
        ("**/*.lock", "x.lock", True),
        ("vendor/**", "vendor/a/b.c", True),
        ("vendor/**", "src/vendor/a", False),
        ("vendor/", "src/vendor/a", True),
        ("/build", "sub/build", False),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/b", True),
        ("*.[ch]", "x/y.h", True),
        ("[[:digit:]]*", "x/7z", True),
    ],
)
def test_means_what_people_expect(pattern: str, path: str, expected: bool) -> None:
    assert Globs((pattern,)).match(path) is expected


def test_a_later_pattern_takes_a_file_back() -> None:
    assert Globs(("*.py", "!keep.py")).match("keep.py") is False


def test_many_stars_take_no_time() -> None:
    assert Globs(("*a" * 40 + "b", "**/" * 40 + "x")).match("/".join(["a" * 200] * 60)) is False
