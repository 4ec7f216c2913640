"""What was written is kept as a commit that no branch has, and whose message says how to undo it.

It holds the files before. Its parents are HEAD and a commit of the index, as in a stash:
`git show refs/reviewbot/backup/ID:PATH` shows a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec import Struct

from reviewbot.errors import GitError, WriteError
from reviewbot.git.user_git import IndexChange, RefChange, UserGit
from reviewbot.git.work_tree import FileChange

BACKUPS = "refs/reviewbot/backup/"
MAX_BACKUPS = 20
AUTHOR = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "reviewbot"), ("EMAIL", "reviewbot@localhost"))
}


class Backup(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was written.

    Attributes:
        git_directory: of the work tree.
        head, branch: where the branch was before the commits.
        folders: those that were made, the outermost first.
    """

    git_directory: str
    head: str
    branch: str
    commits: tuple[str, ...]
    files: tuple[FileChange, ...]
    index: tuple[IndexChange, ...]
    folders: tuple[str, ...]


async def make_backup(git: UserGit, backup: Backup, modes: Mapping[str, str]) -> str:
    """The id of the commit. No ref names it yet. `modes` are "100755" for executable files."""
    git.copy_index(git.scratch)
    parents = [backup.head] if backup.head else []
    tree = await git.write_tree()
    staged = await git.commit_tree(tree, parents, "reviewbot: the index before fixes\n", AUTHOR)
    files = {
        file.path: f"{modes.get(file.path, '100644')} {file.before}" if file.before else ""
        for file in backup.files
    }
    await git.set_entries(files, git.scratch)
    text = msgspec.json.encode(backup).decode()
    message = f"reviewbot: {len(files)} files before fixes\n\n{text}\n"
    return await git.commit_tree(await git.write_tree(), [*parents, staged], message, AUTHOR)


async def new_id(git: UserGit) -> str:
    time = datetime.now(UTC)
    while await git.find_commit(f"{BACKUPS}{time:%Y%m%d-%H%M%S}"):
        time += timedelta(seconds=1)
    return f"{time:%Y%m%d-%H%M%S}"


async def find_backup(git: UserGit, id: str) -> tuple[str, str, Backup]:
    """The ref, the commit and what it says; the newest of this work tree if the id is empty.

    Raises WriteError.
    """
    for ref, commit in await _list(git):
        if id and ref != f"{BACKUPS}{id}":
            continue
        message = (await git("cat-file", "commit", commit)).partition(b"\n\n")[2]
        try:
            backup = msgspec.json.decode(message.partition(b"\n\n")[2], type=Backup)
        except msgspec.MsgspecError as error:
            hint = f"git update-ref -d {ref} removes it"
            raise WriteError(f"{ref} is not a backup of reviewbot", hint=hint) from error
        if backup.git_directory == git.name:
            return ref, commit, backup
        if id:
            hint = f"run this there: its git folder is {backup.git_directory}"
            raise WriteError(f"{id} was written into another work tree", hint=hint)
    what = f"there is no write {id}" if id else "there is nothing to take back"
    raise WriteError(what, hint=f"git for-each-ref {BACKUPS} lists what was written")


async def prune_backups(git: UserGit) -> None:
    """Remove all but the newest. What was written is not less written if that fails."""
    with suppress(GitError, WriteError):
        old = (await _list(git))[MAX_BACKUPS:]
        await git.update_refs(RefChange(name=ref, before=commit, after="") for ref, commit in old)


async def _list(git: UserGit) -> list[tuple[str, str]]:
    """Refs and commits, the newest first."""
    format = "--format=%(refname) %(objectname)"
    lines = await git("for-each-ref", "--sort=-refname", format, BACKUPS)
    parts = (line.partition(" ") for line in lines.decode(errors="replace").splitlines())
    return [(ref, commit) for ref, _, commit in parts]
