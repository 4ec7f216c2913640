"""Install, remove and describe the hooks of a repository, wherever git looks for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

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

# Whose the folder is. Other people may get what is in the work tree.
Owner = Literal["repository", "work tree", "others"]
OWN_FOLDER = 'git config --local core.hooksPath "$(git rev-parse --git-common-dir)/hooks"'


class HookFile(Struct, frozen=True):
    """What is in the place of a hook.

    Attributes:
        path: where the script of reviewbot is, or is to be.
        content: b"" if there is no file.
        manager: whose hook it is, if that of a manager. It may run the script as its earlier one.
    """

    name: Hook
    path: Path
    content: bytes
    manager: Manager | None

    @property
    def is_installed(self) -> bool:
        return is_own(self.content)

    @property
    def is_foreign(self) -> bool:
        return not self.is_installed and os.path.lexists(self.path)

    @property
    def earlier(self) -> Path:
        return self.path.with_name(f"{self.name}{EARLIER}")

    @property
    def place(self) -> str:
        by = f", run by {self.manager.name}" if self.manager else ""
        first = f"; {self.earlier.name} runs first" if os.path.lexists(self.earlier) else ""
        return f"{self.path}{by}{first}"


class LeftToManager(UsageError):
    """A program manages the hooks; `lines` are for its configuration."""

    def __init__(self, manager: Manager, path: Path) -> None:
        super().__init__(
            f"{path} belongs to {manager.name}, so it stays as it is",
            hint=f"Put the lines above {manager.where}.",
        )
        self.lines = manager.lines


async def install_hooks(directory: Path, variables: Mapping[str, str]) -> list[str]:
    """Write both hooks; what was there runs first. Returns a sentence for each.

    Raises ReviewbotError, LeftToManager among others, before anything is written.
    """
    folder, owner = await _find_folder(directory, variables)
    if owner == "others":
        message = f"git looks for hooks in {folder}, which other repositories may use"
        raise UsageError(message, hint=f"to give this one its own: {OWN_FOLDER}")
    hooks = _unchanged_hooks(folder)
    for hook in hooks:
        if hook.manager and not hook.is_installed:
            raise LeftToManager(hook.manager, hook.path)
        if hook.is_foreign and os.path.lexists(hook.earlier):
            message = f"{hook.path} and {hook.earlier.name} beside it are hooks of others"
            raise UsageError(message, hint="make one of them, then run it again")
    # What other people get calls reviewbot by PATH.
    python = "" if owner == "work tree" else sys.executable
    return [_install(hook, write_script(hook.name, python)) for hook in hooks]


async def uninstall_hooks(directory: Path, variables: Mapping[str, str]) -> list[str]:
    """Remove both hooks and give back what was there. Returns a sentence for each."""
    folder, _ = await _find_folder(directory, variables)
    return [_uninstall(hook) for hook in _unchanged_hooks(folder)]


async def describe_hooks(directory: Path, variables: Mapping[str, str]) -> list[tuple[bool, str]]:
    """For each hook whether it works, and a sentence."""
    folder, _ = await _find_folder(directory, variables)
    return [_describe(_find_hook(folder, name)) for name in HOOKS]


def user_git(directory: Path, variables: Mapping[str, str]) -> Git:
    """git with the user's own configuration."""
    hidden = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_INDEX_FILE")
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in hidden}
    kept = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_DIR")
    environment |= {name: variables[name] for name in kept if name in variables}
    return Git(directory, environment=environment)


async def _find_folder(directory: Path, variables: Mapping[str, str]) -> tuple[Path, Owner]:
    """Raises GitError outside of a work tree, and UsageError if git looks in no folder."""
    git = user_git(directory, variables)
    paths = ("--path-format=absolute", "--git-common-dir", "--show-toplevel")
    common, top = map(Path, os.fsdecode(await git("rev-parse", *paths)).splitlines())
    folder = common / "hooks"
    with suppress(GitError):  # nothing is configured
        listed = await git("config", "--null", "--show-scope", "--get-all", "core.hooksPath")
        fields = os.fsdecode(listed).split("\0")[:-1]
        for scope, path in zip(fields[::2], fields[1::2], strict=True):
            if scope != "command":  # that is our own option; of the others, the last counts
                folder = top / Path(path).expanduser() if path else common / "hooks"
    folder = folder.resolve()
    if os.path.lexists(folder) and not folder.is_dir():
        hint = "git config --unset core.hooksPath"
        raise UsageError(f"git looks for hooks in {folder}, which is no folder", hint=hint)
    if folder.is_relative_to(common.resolve()):
        return folder, "repository"
    return folder, "work tree" if folder.is_relative_to(top.resolve()) else "others"


def _find_hook(folder: Path, name: Hook) -> HookFile:
    path, legacy = folder / name, folder / f"{name}{LEGACY}"
    manager = manager_of(_read(path))
    if folder.match(".husky/_"):  # husky writes this folder anew with each npm install
        manager = next(manager for manager in MANAGERS if manager.name == "husky")
    elif manager and is_own(_read(legacy)):
        path = legacy
    return HookFile(name, path, _read(path), manager)


def _unchanged_hooks(folder: Path) -> list[HookFile]:
    """Both hooks. Raises UsageError if somebody changed one since reviewbot wrote it."""
    hooks = [_find_hook(folder, name) for name in HOOKS]
    for hook in hooks:
        if hook.is_installed and is_changed(hook.content):
            message = f"{hook.path} was changed since reviewbot wrote it"
            hint = f"move your lines to {hook.earlier.name} beside it, remove it, then run it again"
            raise UsageError(message, hint=hint)
    return hooks


def _install(hook: HookFile, content: bytes) -> str:
    if hook.content == content and os.access(hook.path, os.X_OK):
        return f"{hook.name} is installed already: {hook.path}"
    hook.path.parent.mkdir(parents=True, exist_ok=True)
    if hook.is_foreign:
        hook.path.rename(hook.earlier)
    write_file(hook.path, content, 0o755)
    done = "up to date again" if hook.is_installed else "installed"
    return f"{hook.name} is {done}: {hook.place}"


def _uninstall(hook: HookFile) -> str:
    if not hook.is_installed:
        return f"{hook.name} is not installed"
    hook.path.unlink()
    if not os.path.lexists(hook.earlier):
        return f"{hook.name} is removed: {hook.path}"
    hook.earlier.rename(hook.path)
    return f"{hook.name} is removed; {hook.path} is what it was before"


def _describe(hook: HookFile) -> tuple[bool, str]:
    if not hook.is_installed:
        other = f"belongs to {hook.manager.name}" if hook.manager else "is another hook"
        where = f": {hook.path} {other}" if hook.manager or hook.is_foreign else ""
        return False, f"{hook.name} is not installed{where}"
    if not os.access(hook.path, os.X_OK):
        return False, f"git does not run {hook.name}: chmod +x {hook.path}"
    return True, f"{hook.name} is installed: {hook.place}"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
