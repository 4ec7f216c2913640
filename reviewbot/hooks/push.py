"""What a push brings: for each of its refs the commits that the remote does not have."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reviewbot.errors import GitError, UsageError
from reviewbot.git.place import EMPTY_TREES
from reviewbot.git.process import ENVIRONMENT, Git

ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# These are about commits and hold no code.
WITHOUT_CODE = ("refs/notes/", "refs/replace/")


class PushedRef(Struct, frozen=True):
    """A ref of the remote. `old` and `new` are revisions, "" where there is none."""

    name: str
    new: str
    old: str


def read_refs(stdin: str) -> list[PushedRef]:
    """The lines that git gives to a pre-push hook, see githooks(5). Raises UsageError.

    The first word is what the user typed, and may contain spaces.
    """
    refs = []
    for line in stdin.splitlines():
        words = line.rsplit(" ", 3)
        if len(words) != 4 or not (ID.fullmatch(words[1]) and ID.fullmatch(words[3])):
            raise UsageError("standard input is not what git tells a pre-push hook")
        new, old = (word if word.strip("0") else "" for word in (words[1], words[3]))
        refs.append(PushedRef(words[2], new, old))
    return refs


def refs_of_framework(variables: Mapping[str, str]) -> list[PushedRef]:
    """The ref that pre-commit tells its hooks in variables, or else the current commit."""
    new = variables.get("PRE_COMMIT_TO_REF") or variables.get("PRE_COMMIT_LOCAL_BRANCH") or "HEAD"
    name = variables.get("PRE_COMMIT_REMOTE_BRANCH") or "HEAD"
    return [PushedRef(name, new, variables.get("PRE_COMMIT_FROM_REF", ""))]


async def find_ranges(
    refs: list[PushedRef], remote: str, git_directory: Path
) -> AsyncIterator[tuple[str, str]]:
    """The name of each ref and what to review for it: A..B, or "" if it brings nothing new.

    Raises GitError.

    A range begins at the best commit that the new one has in common with all that is known of the
    remote, and with refs before it. So neither a rebase nor a merge brings the work of others.
    """
    git = Git(git_directory, environment=ENVIRONMENT | {"GIT_DIR": str(git_directory)})
    remotes = ("for-each-ref", "--format=%(objectname)")
    tips = await git(*remotes, f"refs/remotes/{remote}/") or await git(*remotes, "refs/remotes/")
    known = tips.decode("ascii").split()
    for ref in refs:
        name = ref.name.removeprefix("refs/heads/").removeprefix("refs/")
        revision = "" if ref.name.startswith(WITHOUT_CODE) else ref.new
        new = await _commit(git, revision)
        if not new:  # also for a tag of something else
            yield name, ""
            continue
        if old := await _commit(git, ref.old):  # it may never have been fetched
            known.append(old)
        base = await _merge_base(git, new, known)
        known.append(new)
        yield name, "" if base == new else f"{base}..{new}"


async def _commit(git: Git, revision: str) -> str:
    """The id of the commit that a revision names; "" if it names none."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    with suppress(GitError):
        return (await git(*words)).decode("ascii").strip() if revision else ""
    return ""


async def _merge_base(git: Git, new: str, known: list[str]) -> str:
    """The empty tree if nothing is in common."""
    try:
        if known:
            return (await git("merge-base", new, *known)).decode("ascii").split()[0]
    except GitError as error:
        if (await git("rev-parse", "--is-shallow-repository")).strip() == b"true":
            message = "this clone is shallow, so it is unknown where the pushed commits begin"
            raise GitError(message, hint="git fetch --unshallow") from error
    return EMPTY_TREES["sha1" if len(new) == 40 else "sha256"]
