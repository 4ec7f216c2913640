"""Install, remove and describe the hooks of a repository, wherever git looks for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from reviewbot.errors import GitError, UsageError
from reviewbot.git.process import ENVIRONMENT, Git
from reviewbot.hooks.script import (
    EARLIER,
    HOOKS,
    LEGACY,
    MANAGERS,
    Hook,
    Manager,
    is_changed,
    is_own,
    manager_of,
    write_script,
)
from reviewbot.state import write_file

OWN_FOLDER = 'git config --local core.hooksPath "$(git rev-parse --git-common-dir)/hooks"'


class HookFolder(Struct, frozen=True, kw_only=True):
    """The folder in which git looks for hooks.

    Attributes:
        is_tracked: it is in the work tree, so other people may get what is in it.
        is_shared: it is outside of the repository, so other repositories may use it.
    """

    path: Path
    is_tracked: bool
    is_shared: bool


class Found(Struct, frozen=True, kw_only=True):
    """What is there for one hook.

    Attributes:
        path: where the script of reviewbot is, or is to be.
        is_installed: the script is there.
        manager: whose hook it is, if that of a manager. It may run the script as its earlier one.
        is_foreign: a hook of somebody else is in its place.
    """

    path: Path
    is_installed: bool
    manager: Manager | None
    is_foreign: bool


class LeftToManager(UsageError):
    """A program manages the hooks; `lines` are for its configuration."""

    def __init__(self, manager: Manager, path: Path) -> None:
        super().__init__(
            f"{path} belongs to {manager.name}, so it stays as it is",
            hint=f"Put the lines above {manager.where}.",
        )
        self.lines = manager.lines


async def find_folder(directory: Path, variables: Mapping[str, str]) -> HookFolder:
    """Raises GitError outside of a work tree, and UsageError if git looks in no folder."""
    git = user_git(directory, variables)
    paths = ("--path-format=absolute", "--git-common-dir", "--show-toplevel")
    common, top = map(Path, os.fsdecode(await git("rev-parse", *paths)).splitlines())
    folder = common / "hooks"
    if setting := await _hooks_path(git):
        folder = top / Path(setting).expanduser()
    folder = folder.resolve()
    if os.path.lexists(folder) and not folder.is_dir():
        hint = "git config --unset core.hooksPath"
        raise UsageError(f"git looks for hooks in {folder}, which is no folder", hint=hint)
    is_own = folder.is_relative_to(common.resolve())
    is_tracked = not is_own and folder.is_relative_to(top.resolve())
    return HookFolder(path=folder, is_tracked=is_tracked, is_shared=not is_own and not is_tracked)


async def install_hooks(directory: Path, variables: Mapping[str, str]) -> list[str]:
    """Write both hooks; what was there runs first. Returns a sentence for each.

    Raises ReviewbotError, LeftToManager among others, before anything is written.
    """
    folder = await find_folder(directory, variables)
    if folder.is_shared:
        message = f"git looks for hooks in {folder.path}, which other repositories may use"
        raise UsageError(message, hint=f"to give this one its own: {OWN_FOLDER}")
    # What other people get calls reviewbot by PATH.
    python = "" if folder.is_tracked else sys.executable
    plans = [(name, find_hook(folder, name)) for name in HOOKS]
    for name, found in plans:
        _refuse_changed(found)
        if found.manager and not found.is_installed:
            raise LeftToManager(found.manager, found.path)
        earlier = folder.path / f"{name}{EARLIER}"
        if found.is_foreign and os.path.lexists(earlier):
            message = f"{found.path} and {earlier.name} beside it are hooks of others"
            raise UsageError(message, hint="make one of them, then run it again")
    return [_install(name, found, write_script(name, python)) for name, found in plans]


async def uninstall_hooks(directory: Path, variables: Mapping[str, str]) -> list[str]:
    """Remove both hooks and give back what was there. Returns a sentence for each."""
    folder = await find_folder(directory, variables)
    plans = [(name, find_hook(folder, name)) for name in HOOKS]
    for _, found in plans:
        _refuse_changed(found)
    return [_uninstall(name, found) for name, found in plans]


async def describe_hooks(directory: Path, variables: Mapping[str, str]) -> list[tuple[bool, str]]:
    """For each hook whether it works, and a sentence."""
    folder = await find_folder(directory, variables)
    return [_describe(name, find_hook(folder, name)) for name in HOOKS]


def find_hook(folder: HookFolder, name: Hook) -> Found:
    path = folder.path / name
    manager = manager_of(_read(path))
    if folder.path.match(".husky/_"):  # husky writes this folder anew with each npm install
        manager = next(manager for manager in MANAGERS if manager.name == "husky")
    elif manager and is_own(_read(folder.path / f"{name}{LEGACY}")):
        path = folder.path / f"{name}{LEGACY}"
    is_installed = is_own(_read(path))
    is_foreign = not is_installed and os.path.lexists(path)
    return Found(path=path, is_installed=is_installed, manager=manager, is_foreign=is_foreign)


def user_git(directory: Path, variables: Mapping[str, str]) -> Git:
    """git with the user's own configuration."""
    hidden = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_INDEX_FILE")
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in hidden}
    kept = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_DIR")
    environment |= {name: variables[name] for name in kept if name in variables}
    return Git(directory, environment=environment)


async def _hooks_path(git: Git) -> str:
    """What is configured, "" if nothing: of all but our own option, the last counts."""
    with suppress(GitError):  # there is none
        listed = await git("config", "--null", "--show-scope", "--get-all", "core.hooksPath")
        fields = os.fsdecode(listed).split("\0")[:-1]
        pairs = zip(fields[::2], fields[1::2], strict=True)
        return next((path for scope, path in reversed([*pairs]) if scope != "command"), "")
    return ""


def _refuse_changed(found: Found) -> None:
    if found.is_installed and is_changed(_read(found.path)):
        message = f"{found.path} was changed since reviewbot wrote it"
        name = found.path.name.removesuffix(LEGACY)
        hint = f"move your lines to {name}{EARLIER} beside it, remove it, then run it again"
        raise UsageError(message, hint=hint)


def _install(name: Hook, found: Found, content: bytes) -> str:
    if _read(found.path) == content and os.access(found.path, os.X_OK):
        return f"{name} is installed already: {found.path}"
    found.path.parent.mkdir(parents=True, exist_ok=True)
    earlier = found.path.with_name(f"{name}{EARLIER}")
    if found.is_foreign:
        found.path.rename(earlier)
    write_file(found.path, content, 0o755)
    if found.is_installed:
        return f"{name} is up to date again: {found.path}"
    first = f"; {earlier.name} runs first" if os.path.lexists(earlier) else ""
    return f"{name} is installed: {found.path}{first}"


def _uninstall(name: Hook, found: Found) -> str:
    if not found.is_installed:
        return f"{name} is not installed"
    found.path.unlink()
    earlier = found.path.with_name(f"{name}{EARLIER}")
    if not os.path.lexists(earlier):
        return f"{name} is removed: {found.path}"
    earlier.rename(found.path)
    return f"{name} is removed; {found.path} is what it was before"


def _describe(name: Hook, found: Found) -> tuple[bool, str]:
    if not found.is_installed:
        other = f": {found.path} is another hook" if found.is_foreign else ""
        if found.manager:
            other = f": {found.path} belongs to {found.manager.name}"
        return False, f"{name} is not installed{other}"
    if not os.access(found.path, os.X_OK):
        return False, f"git does not run {name}: chmod +x {found.path}"
    by = f", run by {found.manager.name}" if found.manager else ""
    earlier = found.path.with_name(f"{name}{EARLIER}")
    first = f"; {earlier.name} runs first" if os.path.lexists(earlier) else ""
    return True, f"{name} is installed: {found.path}{by}{first}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
