"""The hooks of a real repository: where git itself looks for them, what is there, and how that is changed.

Where git looks is decided by the variables, the configuration of every scope and the repository, as for ``git commit`` itself.
These questions run no hook. The folder is taken as it really is, symbolic links followed, so that it is known whose it is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from reviewbot.adapters.git.command import Answer, Git, clean_environment
from reviewbot.domain.hook import BEFORE, LEGACY, Act, FoundHook, Ground, HookFile, HookFolder, Setting, Step
from reviewbot.errors import GitError, RepositoryError, UsageError, WriteError

MOST_BYTES = 1_000_000
"""Of a hook that are read: ours is in the first of them, or it is not ours."""

_SECONDS = 20.0
_WINDOWS = re.compile(r"[A-Za-z]:(?:[\\/]|$)|.*\\")
_OF_GIT = re.compile(
    r"GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|PREFIX|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|CONFIG\w*)"
)
_STARTS = "import reviewbot.cli"


class _Frank(Git):
    """git that may say where its hooks are. Nothing that is asked here runs one."""

    __slots__ = ()

    @property
    def pairs(self) -> dict[str, str]:
        return {key: value for key, value in super().pairs.items() if key != "core.hooksPath"}


@dataclass(frozen=True, slots=True)
class GitHooks:
    """The folders of hooks of one repository. ``looked`` is where git looks; ``own`` is where it would without
    ``core.hooksPath``."""

    looked: HookFolder
    own: HookFolder

    @classmethod
    def open(cls, directory: Path, environment: Mapping[str, str]) -> Self:
        """Those of the repository around ``directory``. Raises RepositoryError where there is none with a work tree,
        UsageError where git looks in no folder of this system."""
        git = _Frank(directory.absolute(), _environment(environment))
        if not directory.is_dir():
            raise RepositoryError(f"{directory} is not a folder", hint="name a folder inside a git repository")
        common, bare = Path(_asked(git, "--git-common-dir")), _asked(git, "--is-bare-repository")
        if bare == "true":
            raise _is_bare(directory)
        top = Path(_asked(git, "--show-toplevel"))
        setting = _setting(git)
        own = _folder(common / "hooks", common=common, top=top)
        if setting is None:
            return cls(own, own)
        # A relative one is meant from the top, wherever somebody stands; ~ is a home.
        path = git.run("config", "--type=path", "--get", "core.hooksPath").removesuffix(b"\n")
        return cls(_folder(top / os.fsdecode(path), common=common, top=top, setting=setting), own)

    @property
    def folders(self) -> tuple[HookFolder, ...]:
        """Where git looks, and after it where it looked before somebody set ``core.hooksPath``."""
        return (self.looked,) if self.looked.path == self.own.path else (self.looked, self.own)

    def found(self, folder: HookFolder, name: str) -> FoundHook:
        """All that stands at the place of one hook. Raises UsageError where it cannot be read."""
        at = Path(folder.path) / name
        files = [_read(at.with_name(name + ending)) for ending in ("", BEFORE, LEGACY)]
        return FoundHook(name, folder, *files)

    def carry_out(self, found: FoundHook, steps: Iterable[Step]) -> None:
        """Do it, where everything still stands as it was found. Raises WriteError."""
        if self.found(found.folder, found.name) != found:
            raise WriteError(f"{found.path} was changed by somebody else meanwhile", hint="run it again")
        folder = Path(found.folder.path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for step in steps:
                _do(folder, step)
        except OSError as exc:
            raise WriteError(
                f"cannot write in {found.folder.shown}: {exc.strerror}", hint="mend that, then run it again"
            ) from exc


def starts(python: str) -> bool:
    """Whether this interpreter finds reviewbot as a hook would call it."""
    try:
        done = subprocess.run(
            (python, "-E", "-P", "-c", _STARTS),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def is_program(path: str) -> bool:
    """Whether there is a file that can be executed."""
    return os.access(path, os.X_OK) and Path(path).is_file()


def on_path(environment: Mapping[str, str]) -> bool:
    """Whether a hook finds reviewbot without knowing where it is."""
    return shutil.which("reviewbot", path=environment.get("PATH", os.defpath)) is not None


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    """As git has it from the user, who may say where the repository is, and what is configured."""
    clean = {name: value for name, value in clean_environment(environment).items() if name != "GIT_CONFIG_NOSYSTEM"}
    return clean | {name: value for name, value in environment.items() if _OF_GIT.fullmatch(name)}


def _asked(git: Git, *words: str) -> str:
    answer = git.ask("rev-parse", "--path-format=absolute", *words)
    if not answer.ok:
        raise _refusal(git.directory, answer)
    return answer.text


def _refusal(directory: Path, answer: Answer) -> RepositoryError:
    complaint = answer.stderr.decode("utf-8", "replace")
    if "dubious ownership" in complaint:
        hint = f"if you trust it: git config --global --add safe.directory {directory}"
        return RepositoryError(f"the repository at {directory} belongs to another user", hint=hint)
    if "bare repository" in complaint or "must be run in a work tree" in complaint:
        return _is_bare(directory)
    if elsewhere := re.search(r"not a git repository: (?:.*/)?([A-Za-z]:[\\/].*)", complaint):
        return RepositoryError(
            f"the .git file at {directory} names {elsewhere[1].strip()}, a path of Windows",
            hint="make this work tree again with git of this system: `git worktree repair`, or a new clone",
        )
    if "not a git repository" in complaint:
        return RepositoryError(f"{directory} is not in a git repository", hint="go to one, or name it with -C")
    if "bad config line" in complaint or "bad config value" in complaint:
        return RepositoryError(
            f"git cannot read its configuration: {answer.complaint}",
            hint="mend that line; a Windows path with its backslashes is no path here",
        )
    return RepositoryError(f"the repository at {directory} cannot be read: {answer.complaint}", hint="see what `git status` says")


def _is_bare(directory: Path) -> RepositoryError:
    return RepositoryError(
        f"{directory} is in a bare repository or in a .git folder: nothing is committed there",
        hint="go to a clone with a work tree",
    )


def _setting(git: Git) -> Setting | None:
    """``core.hooksPath``, the last word on it. Raises UsageError for what is no folder of this system."""
    answer = git.ask("config", "--null", "--show-scope", "--show-origin", "--get-all", "core.hooksPath")
    fields = answer.text.split("\0")
    if not answer.ok:
        if answer.exit_code == 1:
            return None
        raise GitError(f"git config failed: {answer.complaint}", hint="mend core.hooksPath in the configuration of git")
    scope, origin, value = fields[-4:-1]
    setting = Setting(value, scope, origin.removeprefix("file:"))
    remove = "leave it out" if scope == "command" else f"remove it: git config --{scope} --unset-all core.hooksPath"
    mend = f"set it to a folder of this system, or {remove}"
    if not value:
        raise UsageError(f"{setting} is empty", hint=mend)
    if _WINDOWS.match(value):
        raise UsageError(f"{setting} is {value!r}, a path of Windows", hint=mend)
    return setting


def _folder(path: Path, *, common: Path, top: Path, setting: Setting | None = None) -> HookFolder:
    real = path.resolve()
    if os.path.lexists(real) and not real.is_dir():
        reason = str(setting) if setting else str(path)
        raise UsageError(
            f"{reason} leads to {real}, which is no folder: git runs no hooks here",
            hint="remove that setting: git config --unset-all core.hooksPath" if setting else f"remove {path}",
        )
    if real.is_relative_to(common.resolve()):
        ground = Ground.OWN
    elif real.is_relative_to(top.resolve()):
        ground = Ground.TREE
    else:
        ground = Ground.SHARED
    return HookFolder(str(real), _shown(real, top.resolve()), ground, setting)


def _shown(folder: Path, top: Path) -> str:
    return str(folder.relative_to(top)) if folder.is_relative_to(top) else str(folder)


def _read(path: Path) -> HookFile | None:
    """Raises UsageError for a folder, and what cannot be opened."""
    if not os.path.lexists(path):
        return None
    link = str(path.readlink()) if path.is_symlink() else None
    if link is not None and not path.exists():
        return HookFile(b"", executable=False, link=link)
    if not path.is_file():
        raise UsageError(f"{path} is no file", hint="remove it, or move it elsewhere")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES)
    except OSError as exc:
        raise UsageError(f"cannot read {path}: {exc.strerror}", hint="make it readable") from exc
    return HookFile(content, os.access(path, os.X_OK), link)


def _do(folder: Path, step: Step) -> None:
    file = folder / step.file
    match step.act:
        case Act.KEEP:
            _keep(file, folder / step.to)
        case Act.WRITE:
            _write(file, step.content)
        case Act.MOVE:
            file.replace(folder / step.to)
        case Act.REMOVE:
            file.unlink(missing_ok=True)


def _keep(file: Path, to: Path) -> None:
    """A second name for the very file, so that its bytes, mode and times are what they were; a copy where the file system has no
    such names. A link stays one, and leads to the same place from the same folder."""
    if file.is_symlink():
        to.symlink_to(file.readlink())
        return
    try:
        os.link(file, to)
    except FileExistsError:
        raise
    except OSError:
        copy = to.with_name(f".{to.name}.{os.getpid()}")
        try:
            shutil.copy2(file, copy)
            copy.replace(to)
        finally:
            copy.unlink(missing_ok=True)


def _write(file: Path, content: bytes) -> None:
    """Beside it first: a kill leaves the old file or the new one."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as written:
            written.write(content)
            written.flush()
            os.fsync(written.fileno())
        Path(name).chmod(0o755)
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink(missing_ok=True)
        raise
