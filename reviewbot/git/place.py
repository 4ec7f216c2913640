"""Where a repository is, and a private repository beside it that borrows its objects.

The private one has no configuration, hooks, attributes, filters, replaced objects or remotes of the
reviewed repository: what is asked of it can neither run nor hide anything that the reviewed
repository names. What a review writes, such as the tree of uncommitted work, stays in it.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reviewbot.errors import GitError
from reviewbot.git.process import ENVIRONMENT, Git

EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
# git's own patterns for the headings of hunks, gitattributes(5): the method, not only its class.
HEADINGS = """\
*.[ch] diff=cpp
*.cc diff=cpp
*.cpp diff=cpp
*.hpp diff=cpp
*.cs diff=csharp
*.go diff=golang
*.java diff=java
*.kt diff=kotlin
*.md diff=markdown
*.php diff=php
*.py diff=python
*.rb diff=ruby
*.rs diff=rust
*.sh diff=bash
"""


class Place(Struct, frozen=True, kw_only=True):
    """The folders of a repository, all absolute.

    Attributes:
        directory: where the user stands.
        root: the top of the work tree; None if the repository is bare.
        git_directory, common_directory: they differ in a linked work tree.
        private, git: the private repository, and git in it.
    """

    directory: Path
    root: Path | None
    git_directory: Path
    common_directory: Path
    object_format: str
    private: Path
    git: Git

    @property
    def is_shallow(self) -> bool:
        return (self.common_directory / "shallow").exists()

    @property
    def empty_tree(self) -> str:
        return EMPTY_TREES[self.object_format]


async def find_place(directory: Path, private: Path) -> Place:
    """Find the repository around a folder. Raises GitError if there is none."""
    directory = directory.resolve()
    if not directory.is_dir():
        raise GitError(f"{directory} is not a folder", hint="name a folder of a git repository")
    questions = ("--show-object-format", "--is-inside-work-tree", "--absolute-git-dir")
    answer = await Git(directory)("rev-parse", *questions, "--show-cdup")
    object_format, inside, rest = os.fsdecode(answer).split("\n", 2)
    if inside == "true":  # only then is there a last line, "" or "../../"
        git_path, up = rest.removesuffix("\n").rsplit("\n", 1)
        root = directory.joinpath(up).resolve()
    else:
        git_path, root = rest.removesuffix("\n"), None
    git_directory = Path(git_path)
    if root and not os.path.lexists(root / ".git"):
        # core.worktree may name any folder, whose files are no part of this repository.
        raise GitError(
            f"the configuration of this repository says that its work tree is {root}",
            hint="remove core.worktree from its configuration",
        )
    if root is None:
        _refuse_embedded(git_directory)
    common_directory = git_directory
    with suppress(FileNotFoundError):
        common = os.fsdecode((git_directory / "commondir").read_bytes()).removesuffix("\n")
        common_directory = git_directory.joinpath(common).resolve()
    _make_private(private, object_format, common_directory)
    return Place(
        directory=directory,
        root=root,
        git_directory=git_directory,
        common_directory=common_directory,
        object_format=object_format,
        private=private,
        git=Git(private, environment={**ENVIRONMENT, "GIT_DIR": str(private)}),
    )


def _refuse_embedded(git_directory: Path) -> None:
    """Refuse a bare repository that is made of ordinary files of a work tree.

    A change may add one, with what its author likes to be found there.
    """
    for parent in git_directory.parents:
        around = parent / ".git"
        if around == git_directory or around in git_directory.parents:
            return
        if os.path.lexists(around):
            message = f"{git_directory} is a bare repository inside of the work tree {parent}"
            raise GitError(message, hint=f"to review the work tree, go to {parent}")


def _make_private(private: Path, object_format: str, borrowed: Path) -> None:
    for folder in ("refs", "info", "objects/info", "objects/pack"):
        (private / folder).mkdir(parents=True)
    config = "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n"
    if object_format != "sha1":
        config = config.replace("= 0", "= 1") + f"[extensions]\n\tobjectFormat = {object_format}\n"
    (private / "config").write_text(config, encoding="ascii")
    (private / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    (private / "info/attributes").write_text(HEADINGS, encoding="ascii")
    for name in ("shallow", "info/exclude"):
        with suppress(FileNotFoundError):
            shutil.copyfile(borrowed / name, private / name)
    objects = _quote(os.fsencode(borrowed / "objects"))
    (private / "objects/info/alternates").write_bytes(objects + b"\n")


def _quote(path: bytes) -> bytes:
    """As a line of `info/alternates`, where a path that begins with a quote is a C string."""
    if not path.startswith(b'"') and b"\n" not in path:
        return path
    path = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'"' + path + b'"'
