"""Where a repository is, and a private repository beside it that borrows its objects.

The private one has no configuration, hooks, filters, replaced objects or remotes of the reviewed
repository, and of its attributes only those for a work tree: what is asked of it can neither run
nor hide anything that the reviewed repository names. What a review writes, such as the tree of
uncommitted work, stays in it. Filters (`filter.*.clean`, git-lfs) do not run, because it does not
know them: files that need one are as the index has them.
"""

import fcntl
import hashlib
import os
import re
import shutil
import stat
import weakref
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import mkdtemp

from msgspec import Struct

from reviewbot.config.dismissals import DISMISSALS
from reviewbot.errors import GitError, UsageError
from reviewbot.git.process import ENVIRONMENT, NO_WORK_TREE_HINT, Git, decode_name, user_environment
from reviewbot.text.plain import listed

MAX_UNTRACKED_FILES = 2_000
Said = tuple[tuple[str, ...], tuple[str, ...]]  # notes and gaps of a change
NODE_MODULES = re.compile(rb"(?:.*?/)?node_modules/")
PATHS_HINT = "paths are written as for git log, relative to the current folder: see gitglossary(7)"
# What of the user's configuration decides which files a work tree has, and what git would commit
# of them. None of it starts a program.
CONVERSIONS = {
    *("core.attributesfile", "core.autocrlf", "core.eol", "core.excludesfile"),
    *("core.filemode", "core.ignorecase", "core.precomposeunicode", "core.symlinks"),
}


class ScratchFolder:
    """A private folder, removed by `close`, or else when this object or the process ends.

    That of a process that was killed is removed by the next one: nobody holds its lock.
    """

    def __init__(self) -> None:
        new, held = Path(mkdtemp(prefix="new-reviewbot-")).absolute(), ExitStack()
        fcntl.flock(held.enter_context((new / "lock").open("wb")), fcntl.LOCK_EX)
        # Under this name, no other process sees a folder without a lock that is held.
        self.path = new.rename(new.with_name(new.name.replace("new-reviewbot-", "reviewbot-run-")))
        for file in new.parent.glob("reviewbot-run-*/lock"):
            with suppress(OSError):
                if file.parent.lstat().st_uid == os.geteuid():
                    with file.open("rb") as lock:
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails if it is held
                        shutil.rmtree(file.parent)
        held.callback(shutil.rmtree, self.path, ignore_errors=True)
        self.close = weakref.finalize(self, held.close)


class Place(Struct, frozen=True, kw_only=True):
    """The folders of a repository, all absolute.

    Attributes:
        directory: where the user stands; `root` is the top of the work tree.
        git_directory, common_directory: they differ in a linked work tree.
        private, git: the private repository, and git in it.
        user: variables of a git that reads the user's configuration.
    """

    directory: Path
    root: Path
    git_directory: Path
    common_directory: Path
    object_format: str
    private: Path
    git: Git
    user: Mapping[str, str]

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
        return hashlib.new(self.object_format, b"tree 0\0", usedforsecurity=False).hexdigest()


async def find_place(directory: Path, private: Path, variables: Mapping[str, str]) -> Place:
    """Find the repository around a folder, and make its private one. Raises GitError."""
    directory = directory.resolve()
    if not directory.is_dir():
        raise GitError(f"{directory} is not a folder", hint="name a folder of a git repository")
    questions = ("--show-object-format", "--absolute-git-dir", "--git-common-dir", "--show-cdup")
    answer = os.fsdecode(await Git(directory)("rev-parse", *questions))
    object_format, *paths = answer.removesuffix("\n").split("\n")
    if len(paths) > 3:
        raise GitError("the path of this repository has a line feed", hint="rename the folder")
    if len(paths) < 3:
        raise GitError(f"{directory} is in no work tree", hint=NO_WORK_TREE_HINT)
    git_directory, common_directory, root = (Path(directory, path).resolve() for path in paths)
    if not (root / ".git").is_file() and (root / ".git").resolve() != git_directory:
        # core.worktree may name any folder, whose files are no part of this repository.
        message = f"the configuration of this repository says that its work tree is {root}"
        raise GitError(message, hint="remove core.worktree from its configuration")
    for folder in ("refs", "info", "objects/info", "objects/pack"):
        (private / folder).mkdir(parents=True)
    config = "[core]\n\trepositoryFormatVersion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = "
    (private / "config").write_text(f"{config}{object_format}\n", encoding="ascii")
    (private / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    for name in ("shallow", "info/attributes", "info/exclude"):
        with suppress(FileNotFoundError):
            shutil.copyfile(common_directory / name, private / name)
    with (private / "info/attributes").open("a", encoding="ascii") as attributes:
        attributes.write("\n" + Path(__file__).with_name("gitattributes").read_text("ascii"))
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
        user=user_environment(variables),
    )


async def snapshot(
    place: Place, index_file: Path | None, own_files: Sequence[Path], is_staged: bool
) -> tuple[str, Said]:
    """The tree of the index, or of the work tree with untracked files that git does not ignore.

    Raises GitError if the index has conflicts.
    """
    git = await _work_tree_git(place, index_file)
    said: Said = ((), ()) if is_staged else await _add_work(git, place, own_files)
    return await git.line("write-tree", "--missing-ok"), said


async def _add_work(git: Git, place: Place, own_files: Sequence[Path]) -> Said:
    """Add what is not staged to the copy of the index, and say what is left out."""
    own = (place.private.parent, place.root / DISMISSALS, *own_files)  # the first may be TMPDIR
    own_names = tuple(os.fsencode(f"{os.path.relpath(p.resolve(), place.root)}/") for p in own)
    names = await git("diff-files", "-z", "--name-only", "--ignore-submodules=dirty")
    changed = [n for n in names.split(b"\0")[:-1] if not (n + b"/").startswith(own_names)]
    names = await git("ls-files", "-z", "--others", "--exclude-standard")
    untracked = [n for n in names.split(b"\0")[:-1] if not (n + b"/").startswith(own_names)]
    packages = {n[: n.rfind(b"/") + 1] for n in untracked if n.endswith(b"/pyvenv.cfg")}
    packages |= {found[0] for found in map(NODE_MODULES.match, untracked) if found}
    left_out: defaultdict[str, list[bytes]] = defaultdict(list)  # "" if nothing keeps them out
    for name in untracked:
        path = Path(place.root, os.fsdecode(name))
        reason = "installed packages" if name.startswith(tuple(packages)) else _unfit(path)
        left_out[reason].append(name)
    kept = left_out.pop("", [])
    kept, more = kept[:MAX_UNTRACKED_FILES], kept[MAX_UNTRACKED_FILES:]
    notes = [
        f"Untracked files that are {reason} were left out: {_some(found)}."
        for reason, found in left_out.items()
    ]
    work = [*changed, *kept]
    # Files that git may run a filter on. A link, or one that is gone, needs none.
    answer = await git("check-attr", "-z", "--stdin", "filter", stdin=b"\0".join([*work, b""]))
    filtered, used = list[bytes](), list[bytes]()
    for name, value in zip(work, answer.split(b"\0")[2::3], strict=True):
        file = Path(place.root, os.fsdecode(name))
        may_run = value not in (b"unspecified", b"unset")
        (filtered if may_run and file.is_file() and not file.is_symlink() else used).append(name)
    if filtered:
        why = "if any, was left out: only a filter knows what git would commit"
        notes.insert(0, f"Uncommitted work in {_some(filtered)}, {why}.")
    if used:
        command = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
        await git(*command, stdin=b"\0".join([*used, b""]))
    said = f"untracked files beyond the first {MAX_UNTRACKED_FILES:,} were left out: {_some(more)}"
    gap = f"{said}; add or ignore some, or review a part at a time (-- FOLDER)"
    return tuple(notes), (gap,) if more else ()


async def match_paths(place: Place, base: str, head: str, paths: Sequence[str]) -> frozenset[str]:
    """Names of the files that differ and match one of the pathspecs. Raises UsageError."""
    git = Git(place.directory, environment=_environment(place))
    command = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, head, "--", *paths)
    try:
        return frozenset(await git.names(*command))
    except GitError as error:
        raise UsageError(f"the paths cannot be used: {error}", hint=PATHS_HINT) from error


async def _work_tree_git(place: Place, index_file: Path | None) -> Git:
    """git in the work tree, with a copy of the index.

    The copy is as old as the index: by its age git knows which files may have changed unseen in the
    same second (https://git-scm.com/docs/racy-git).
    """
    index = place.root / index_file if index_file else place.git_directory / "index"
    (place.private / "index").unlink(missing_ok=True)
    with suppress(FileNotFoundError):  # nothing was added yet
        shutil.copy2(index, place.private / "index")
    for shared in place.git_directory.glob("sharedindex.*"):
        shutil.copy2(shared, place.private / shared.name)
    # Names and values of what the user and the repository say. A name alone is true.
    variables = {**place.user, "GIT_DIR": str(place.git_directory)}
    listed = await Git(place.git_directory, environment=variables)("config", "--null", "--list")
    settings = [os.fsdecode(entry).partition("\n") for entry in listed.split(b"\0")]
    used = (name + line + value for name, line, value in settings if name in CONVERSIONS)
    options = (word for setting in used for word in ("-c", setting.replace("\n", "=", 1)))
    folders = {n: place.user[n] for n in ("HOME", "XDG_CONFIG_HOME") if n in place.user}
    git = Git(place.root, environment=_environment(place) | folders, options=tuple(options))
    if unmerged := (await git("ls-files", "-z", "--unmerged")).split(b"\0")[0]:
        path = decode_name(unmerged.partition(b"\t")[2])
        message = f"the index has unresolved conflicts, for example in {path}"
        raise GitError(message, hint="resolve them and run git add, then try again")
    return git


def _environment(place: Place) -> dict[str, str]:
    return ENVIRONMENT | {
        "GIT_DIR": str(place.private),
        "GIT_WORK_TREE": str(place.root),
        "GIT_INDEX_FILE": str(place.private / "index"),
    }


def _unfit(path: Path) -> str:
    """What keeps an untracked file from being reviewed; "" if nothing does."""
    try:
        status = path.lstat()
    except OSError:
        return "unreadable"
    if stat.S_ISDIR(status.st_mode):
        return "repositories of their own"
    if stat.S_ISREG(status.st_mode) and not os.access(path, os.R_OK):
        return "unreadable"
    return "larger than 1 MiB" if status.st_size > 1 << 20 else ""


def _some(names: Sequence[bytes]) -> str:
    return listed([*map(decode_name, names)], 3)
