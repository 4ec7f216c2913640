"""Fetching commits over HTTP, from a server that checks tokens."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from reviewbot.errors import GitError, ReviewbotError, UsageError
from reviewbot.git.fetch import fetch_commits
from reviewbot.git.repository import Repository
from tests.fake_github import GitHub, Pull


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def url_of(github: GitHub) -> str:
    return f"{github.server_url}/octo/app.git"


def fetch(github: GitHub, folder: Path, *commits: str, token: str = "", depth: int = 1) -> None:
    token = token or github.token(permissions={"contents": "read"})
    asyncio.run(fetch_commits(url_of(github), commits, folder, token=token, depth=depth))


def test_two_commits_are_enough_for_a_review(github: GitHub, pull: Pull, tmp_path: Path) -> None:
    fetch(github, tmp_path / "new", pull.base_sha, pull.head_sha)
    with Repository(tmp_path / "new") as repository:
        change = asyncio.run(repository.load_change(f"{pull.base_sha}..{pull.head_sha}"))
    assert [file.path for file in change.files] == ["a.py", "b.py"]
    assert change.title == "Change a.py"


def test_a_clone_with_its_whole_history_keeps_it(
    github: GitHub, pull: Pull, tmp_path: Path
) -> None:
    for number in range(3):
        pull.repository.commit("main", {"n.txt": f"{number}\n"}, f"Commit {number}")
    git(tmp_path, "clone", "--quiet", str(pull.repository.path), "clone")
    clone = tmp_path / "clone"
    pull.push({"c.py": "z = 1\n"})
    before = git(clone, "for-each-ref")
    fetch(github, clone, pull.head_sha)
    assert git(clone, "rev-list", "--count", "main") == "4"
    assert git(clone, "rev-list", "--count", pull.head_sha) == "3"
    assert git(clone, "for-each-ref") == before
    assert git(clone, "status", "--porcelain") == ""


def test_what_is_there_is_not_fetched(github: GitHub, pull: Pull, tmp_path: Path) -> None:
    fetch(github, tmp_path, pull.head_sha)
    count = len(github.log)
    fetch(github, tmp_path, pull.head_sha)
    assert len(github.log) == count


def test_a_header_that_the_checkout_left_is_not_sent(
    github: GitHub, pull: Pull, tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet")
    left = (f"http.{github.server_url}/.extraheader", "AUTHORIZATION: basic eDp5")
    git(tmp_path, "config", *left)
    fetch(github, tmp_path, pull.head_sha)
    assert git(tmp_path, "cat-file", "-t", pull.head_sha) == "commit"


def test_a_repository_names_no_program_to_run(github: GitHub, pull: Pull, tmp_path: Path) -> None:
    folder, other, program = tmp_path / "app", tmp_path / "other.git", tmp_path / "run"
    git(tmp_path, "init", "--quiet", str(folder))
    git(tmp_path, "clone", "--quiet", "--bare", str(pull.repository.path), str(other))
    git(other, "update-ref", "-d", "refs/heads/main")
    (folder / ".git/objects/info/alternates").write_text(f"{other}/objects\n")
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    git(folder, "config", "core.alternateRefsCommand", str(program))
    git(folder, "config", "core.askPass", str(program))
    head = pull.push({"c.py": "z = 1\n"})
    fetch(github, folder, head)
    assert not (tmp_path / "ran").exists()
    pull.repository.private = True
    with pytest.raises(GitError, match="could not read Username"):
        fetch(github, folder, pull.push({"c.py": "z = 2\n"}), token="expired")
    assert not (tmp_path / "ran").exists()


def test_a_commit_of_old_times_is_fetched(github: GitHub, pull: Pull, tmp_path: Path) -> None:
    home, tree = pull.repository, f"{pull.head_sha}^{{tree}}"
    tree = git(home.path, "rev-parse", tree)
    text = f"tree {tree}\nauthor a <a@b> 1 +51800\ncommitter a <a@b> 1 +51800\n\nOld\n"
    command = ["git", "-C", str(home.path), "hash-object", "-t", "commit", "-w", "--stdin"]
    made = subprocess.run([*command, "--literally"], input=text.encode(), capture_output=True)
    commit = made.stdout.decode().strip()
    git(home.path, "update-ref", "refs/heads/old", commit)
    fetch(github, tmp_path, commit)
    assert git(tmp_path, "cat-file", "-t", commit) == "commit"


def test_the_token_is_in_no_file_and_in_no_message(
    github: GitHub, pull: Pull, tmp_path: Path
) -> None:
    pull.repository.private = True
    token = github.token(permissions={"metadata": "read"})
    with pytest.raises(GitError, match="the commits cannot be fetched") as raised:
        fetch(github, tmp_path, pull.head_sha, token=token)
    assert token not in str(raised.value)
    assert raised.value.hint == "see whether the token may read the repository (contents: read)"
    contents = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(token.encode() in content for content in contents)


@pytest.mark.parametrize(
    ("url", "commit"),
    [
        ("http://example.org/a.git", "a" * 40),
        ("https://me:secret@example.org/a.git", "a" * 40),
        ("file:///etc", "a" * 40),
        ("ext::sh -c id", "a" * 40),
        ("https://example.org/a.git", "--upload-pack=id"),
        ("https://example.org/a.git", "main"),
    ],
)
def test_what_is_not_fetched(tmp_path: Path, url: str, commit: str) -> None:
    with pytest.raises(UsageError) as raised:
        asyncio.run(fetch_commits(url, [commit], tmp_path / "new"))
    assert isinstance(raised.value, ReviewbotError)
    assert "secret" not in str(raised.value)
    assert not (tmp_path / "new").exists()
