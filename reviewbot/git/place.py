"""Where a repository is, and a private repository beside it that borrows its objects.

The private one has no configuration, hooks, filters, replaced objects or remotes of the reviewed
repository, and of its attributes only those for a work tree: what is asked of it can neither run
nor hide anything that the reviewed repository names. What a review writes, such as the tree of
uncommitted work, stays in it.
"""

from __future__ import annotations

import os
import shutil
import weakref
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from msgspec import Struct

from reviewbot.errors import GitError
from reviewbot.git.process import ENVIRONMENT, NO_WORK_TREE_HINT, Git

EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
# git's own patterns for the headings of hunks, gitattributes(5): the method, not only its class.
HEADINGS = """\
*.[ch] diff=cpp
*.cc diff=cpp
*.cpp diff=cpp
*.go diff=golang
*.java diff=java
*.md diff=markdown
*.py diff=python
*.rb diff=ruby
*.rs diff=rust
"""


class ScratchFolder:
    """A private folder, removed by `close`, or else when this object or the process ends."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="reviewbot-"))
        self.close = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Place(Struct, frozen=True, kw_only=True):
    """The folders of a repository, all absolute.

    Attributes:
        directory: where the user stands; `root` is the top of the work tree.
        git_directory, common_directory: they differ in a linked work tree.
        private, git: the private repository, and git in it.
    """

    directory: Path
    root: Path
    git_directory: Path
    common_directory: Path
    object_format: str
    private: Path
    git: Git

    @property
    def is_shallow(self) -> bool:
        return (self.common_directory / "shallow").exists()

    @property
    def reviewed(self) -> Git:
        """git in the reviewed repository, which has the refs and the configuration."""
        environment = ENVIRONMENT | {"GIT_DIR": str(self.git_directory)}
        return Git(self.git_directory, environment=environment)

    @property
    def empty_tree(self) -> str:
        return EMPTY_TREES[self.object_format]


async def find_place(directory: Path, private: Path) -> Place:
    """Find the repository around a folder, and make its private one. Raises GitError."""
    directory = directory.resolve()
    if not directory.is_dir():
        raise GitError(f"{directory} is not a folder", hint="name a folder of a git repository")
    questions = ("--show-object-format", "--absolute-git-dir", "--git-common-dir", "--show-cdup")
    answer = os.fsdecode(await Git(directory)("rev-parse", "--path-format=absolute", *questions))
    object_format, *paths = answer.removesuffix("\n").split("\n")
    if len(paths) != 3:  # or with a line feed in its name
        raise GitError(f"{directory} is in no work tree", hint=NO_WORK_TREE_HINT)
    git_directory, common_directory, root = (Path(directory, path).resolve() for path in paths)
    if not (root / ".git").is_file() and (root / ".git").resolve() != git_directory:
        # core.worktree may name any folder, whose files are no part of this repository.
        raise GitError(
            f"the configuration of this repository says that its work tree is {root}",
            hint="remove core.worktree from its configuration",
        )
    for folder in ("refs", "info", "objects/info", "objects/pack"):
        (private / folder).mkdir(parents=True)
    config = "[core]\n\trepositoryFormatVersion = 0\n\tbare = true\n"
    if object_format != "sha1":
        config = config.replace("= 0", "= 1") + f"[extensions]\n\tobjectFormat = {object_format}\n"
    (private / "config").write_text(config, encoding="ascii")
    (private / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    for name in ("shallow", "info/attributes", "info/exclude"):
        with suppress(FileNotFoundError):
            shutil.copyfile(common_directory / name, private / name)
    with (private / "info/attributes").open("a", encoding="ascii") as attributes:
        attributes.write(f"\n* !diff\n{HEADINGS}")  # theirs hide nothing
    # By a link, because a path may need to be quoted there.
    (private / "borrowed").symlink_to(common_directory / "objects")
    (private / "objects/info/alternates").write_text("../borrowed\n", encoding="ascii")
    return Place(
        directory=directory,
        root=root,
        git_directory=git_directory,
        common_directory=common_directory,
        object_format=object_format,
        private=private,
        git=Git(private, environment={**ENVIRONMENT, "GIT_DIR": str(private)}),
    )
