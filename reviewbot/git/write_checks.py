"""Whether fixes can be written, and taken back, without a loss or a surprise.

Everything here raises WriteError, with what to do, and changes nothing.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping

from reviewbot.errors import GitError, WriteError
from reviewbot.git.backup import Backup
from reviewbot.git.process import decode_name
from reviewbot.git.user_git import UserGit
from reviewbot.git.work_tree import WorkTree

MAX_REASONS = 5
REVIEW_HINT = "review it again"
# Files and folders of the git folder, and what git does while they are there.
UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or revert",
    "BISECT_LOG": "a bisection",
}
# With these, a file is not what git keeps of it in a way that nothing here could repeat.
CONVERTING = ("filter", "working-tree-encoding", "ident")


def read_reviewed(
    tree: WorkTree, before: Mapping[str, bytes | None]
) -> tuple[dict[str, bytes | None], dict[str, int]]:
    """The files with their modes. Raises WriteError if one is not what was reviewed."""
    now: dict[str, bytes | None] = {}
    modes, reasons = {}, []
    for path, reviewed in before.items():
        here = tree.read(path)
        now[path], modes[path] = (here[0], stat.S_IMODE(here[1].st_mode)) if here else (None, 0)
        if reason := tree.obstacle(path):
            reasons.append((reason, "make it writable, or leave this fix out"))
        elif now[path] == reviewed:
            continue
        elif here is None or reviewed is None or here[0].replace(b"\r\n", b"\n") != reviewed:
            said = "was changed since the review" if reviewed is not None else "exists already"
            reasons.append((f"{path} {said}", REVIEW_HINT))
        elif here[0].count(b"\n") != here[0].count(b"\r\n"):
            reasons.append((f"{path} has mixed line endings", "make them all the same"))
    _refuse(reasons)
    return now, modes


async def check_git(
    git: UserGit, before: Mapping[str, bytes | None], committed: frozenset[str], head: str
) -> tuple[dict[str, str], dict[str, str]]:
    """The entries of the index and of HEAD. Raises WriteError."""
    paths = list(before)
    git.copy_index()
    if await git("ls-files", "--unmerged"):
        hint = "resolve them and run git add first"
        raise WriteError("the index has unresolved conflicts", hint=hint)
    names = "".join(f"{path}\0" for path in paths).encode()
    answer = await git("check-attr", "-z", "--stdin", *CONVERTING, stdin=names)
    fields = iter(answer.split(b"\0"))
    _refuse(
        (f"{decode_name(path)} has the attribute {name.decode()}", "apply this fix by hand")
        for path, name, value in zip(fields, fields, fields, strict=False)
        if value not in (b"unspecified", b"unset")
    )
    staged, tags = await git.entries(paths), await git.tags(paths)
    tracked = await git.head_entries(paths, head)
    sparse = await git.line("config", "--type=bool", "--get", "core.sparseCheckout")
    seen = await git.stage(paths)
    reasons = []
    for path, reviewed in before.items():
        tag, entry, id = tags.get(path, ""), staged.get(path, ""), git.id(reviewed)
        if tag.upper() == "S" or (sparse == "true" and not entry):
            reason, hint = "is outside of the sparse checkout", "git sparse-checkout disable"
        elif tag.islower():
            reason = "is marked as unchanged"
            hint = f"git update-index --no-assume-unchanged {path}"
        elif entry and not entry.startswith("100"):
            reason, hint = "is not a regular file in the index", "leave this fix out"
        elif seen.get(path, "")[7:] != id:
            reason, hint = "was changed since the review", REVIEW_HINT
        elif path in committed and not entry[7:] == tracked.get(path, "")[7:] == id:
            reason = "has uncommitted changes"
            hint = "commit them first, or do not use --commit"
        else:
            continue
        reasons.append((f"{path} {reason}", hint))
    _refuse(reasons)
    return staged, tracked


async def check_branch(git: UserGit, head: str, branch: str) -> None:
    """Raises WriteError if no commit can be made."""
    for name, what in UNDER_WAY.items():
        if (git.directory / name).exists():
            raise WriteError(f"{what} is in progress", hint="finish or abort it first")
    if not branch:
        raise WriteError("HEAD is detached", hint="git switch --create NAME")
    if not head:
        raise WriteError("there is no commit yet", hint="make the first commit")
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        try:
            await git("var", who)
        except GitError as error:
            hint = "git config user.name NAME; git config user.email ADDRESS"
            raise WriteError("git does not know who commits", hint=hint) from error


async def check_last(git: UserGit, backup: Backup) -> None:
    """Raises WriteError if commits are not the last ones of their branch, or published."""
    first, last = backup.commits[0], backup.commits[-1]
    hint = f"git revert --no-edit {first[:12]}^..{last[:12]}"
    branch, head = await git.branch(), await git.find_commit("HEAD")
    if branch != backup.branch:
        name = backup.branch.removeprefix("refs/heads/")
        raise WriteError(f"the commits are on the branch {name}", hint=f"git switch {name}")
    await check_branch(git, head, branch)
    if head != last:
        raise WriteError("there are newer commits than those of the fixes", hint=hint)
    options = ("--count=1", "--format=%(refname:short)", f"--contains={first}")
    if remote := await git.line("for-each-ref", *options, "refs/remotes"):
        raise WriteError(f"the commits are pushed: {remote} has them", hint=hint)


def _refuse(reasons: Iterable[tuple[str, str]]) -> None:
    """Raises WriteError if there is a reason, with what to do about the first one."""
    if found := list(reasons):
        more = f", and {len(found) - MAX_REASONS} more" if len(found) > MAX_REASONS else ""
        said = ", ".join(reason for reason, _ in found[:MAX_REASONS])
        raise WriteError(f"nothing is changed: {said}{more}", hint=found[0][1])
