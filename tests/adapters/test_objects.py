"""Objects read through one long-lived git, whatever becomes of it."""

from __future__ import annotations

import os
import signal
import zlib
from pathlib import Path

import pytest

from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.git.command import Git, clean_environment
from reviewbot.adapters.git.objects import ObjectStore
from reviewbot.errors import GitError
from tests.adapters.opener import Opener
from tests.repo import Repo


def test_a_missing_object_is_a_git_error(git_repo: Repo, opened: Opener) -> None:
    git = opened(git_repo)
    for object_id in ("1" * 40, "x; rm", "HEAD\nHEAD", ""):
        with pytest.raises(GitError):
            git.blob(object_id)
    tree = git_repo.git("hash-object", "-w", "-t", "tree", "/dev/null")
    with pytest.raises(GitError, match="not a blob"):
        git.blob(tree)


def test_a_reader_that_dies_is_one_error_and_the_next_reads_on(git_repo: Repo, opened: Opener) -> None:
    git = opened(git_repo)
    large = git_repo.path / "large.bin"
    large.write_bytes(bytes(range(256)) * 40_000)
    git_repo.write("small.txt", "hello\n")
    git_repo.git("add", ".")
    ids = [git_repo.git("rev-parse", f":{name}") for name in ("small.txt", "large.bin")]
    assert git.blob(ids[0]) == b"hello\n"
    (reader,) = readers_of(os.getpid())
    os.kill(reader, signal.SIGKILL)
    with pytest.raises(GitError, match="ended while it was asked"):
        git.blob(ids[0])
    assert git.blob(ids[1]) == large.read_bytes()
    assert git.blob(ids[0]) == b"hello\n"
    git.close()
    assert readers_of(os.getpid()) == []


def test_an_answer_that_is_cut_off_is_not_taken_for_the_next(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("one.txt", "one\n")
    git_repo.git("add", ".")
    object_id = git_repo.git("rev-parse", ":one.txt")
    folder, scratch = tmp_path / "bin", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    environment = {**git_repo.environment, "PATH": f"{folder}:{git_repo.environment.get('PATH', os.defpath)}"}
    git = GitRepo.open(git_repo.path, scratch, environment=environment)
    stub = folder / "git"
    stub.write_text(f"#!/bin/sh\nread -r id\nmv {stub} {stub}.used\nprintf '%s blob 4\\non' \"$id\"\n")
    stub.chmod(0o755)
    with pytest.raises(GitError, match="ended while it answered"):
        git.blob(object_id)
    assert git.blob(object_id) == b"one\n"
    git.close()


def test_a_size_that_no_machine_has_room_for_is_one_error(git_repo: Repo) -> None:
    folder = git_repo.path / "bin"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\nread -r id\nprintf '%s blob 70000000000000\\nx' \"$id\"\nsleep 20\n")
    (folder / "git").chmod(0o755)
    environment = clean_environment(git_repo.environment | {"PATH": f"{folder}:{os.defpath}"})
    objects = ObjectStore(Git(git_repo.path, environment))
    with pytest.raises(GitError, match="more than there is room for"):
        objects.blob("1" * 40)
    objects.close()


@pytest.mark.parametrize("trap", ["a header that lies", "a pipe"])
def test_an_object_that_never_comes_is_one_error(trap: str, git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("one.txt", "one\n")
    git_repo.git("add", ".")
    object_id = git_repo.git("rev-parse", ":one.txt")
    file = git_repo.path / ".git" / "objects" / object_id[:2] / object_id[2:]
    file.unlink()
    if trap == "a pipe":
        os.mkfifo(file)
    else:
        file.write_bytes(zlib.compress(b"blob 100\0one\n"))
    objects = ObjectStore(Git(git_repo.path, clean_environment(git_repo.environment), timeout_seconds=1.0))
    with pytest.raises(GitError, match=r"longer than 1 s|ended while"):
        objects.blob(object_id)
    objects.close()
    assert readers_of(os.getpid()) == []


def readers_of(pid: int) -> list[int]:
    """The long-lived readers that a process started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rsplit(") ", 1)[1].split()[1])
            command = stat.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and b"cat-file\0--batch\0" in command:
            found.append(int(stat.parent.name))
    return found
