"""What ``doctor`` looks at in this repository and in this user's home: configuration, hooks, workflows, completion."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from reviewbot.cli import completion
from reviewbot.cli.diagnosis import Diagnosis
from reviewbot.cli.init_plan import PRE_COMMIT
from reviewbot.cli.init_workflows import PLACE, PLACEHOLDER
from reviewbot.cli.settings import nearest_file, read_file, top_of
from reviewbot.config import validate
from reviewbot.config.dismissed import read
from reviewbot.domain.dismissal import FILE
from reviewbot.errors import ConfigError, UsageError
from reviewbot.events.installed import HookStatus
from reviewbot.wiring import hooks

_USES = re.compile(r"^\s*-?\s*uses:\s*['\"]?(?:\./|[\w.-]+/(?=reviewbot@)|[\w./-]*reviewbot)", re.MULTILINE)
_NAME = re.compile(r"^name:\s*reviewbot\b", re.MULTILINE)
BEFORE = {"pre-commit": "nothing is reviewed before a commit", "pre-push": "nothing is reviewed before a push"}


def look(directory: Path, environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    """A line for each thing."""
    top = top_of(directory)
    yield from configuration(directory)
    if (top / ".git").exists():
        yield identity(top, environ)
        yield from dismissals(top)
        yield from hooked(top, environ)
        yield from workflows(top)
    yield from completed(environ)


def configuration(directory: Path) -> Iterator[Diagnosis]:
    """The file of the work tree: what is wrong in it shows when it is committed, or better here."""
    path = None
    try:
        path = nearest_file(directory)
        if path is None:
            yield Diagnosis("config", "open", "no .reviewbot.yml: every setting is at its default", "reviewbot init --config")
            return
        notices = validate(read_file(path), operator=False)
    except ConfigError as exc:
        step = exc.hint or "mend it; 'reviewbot config validate' looks again"
        yield Diagnosis("config", "warn", f"the file of the work tree is not valid: {exc.message}", step)
        return
    yield Diagnosis("config", "ok", f"{path} is valid")
    for notice in notices:
        yield Diagnosis("config", "warn", notice, "mend it; 'reviewbot config validate' looks again")


def identity(top: Path, environ: Mapping[str, str]) -> Diagnosis:
    """Whom git names as the author of commits."""
    missing = [
        key
        for key in ("user.name", "user.email")
        if not environ.get(f"GIT_AUTHOR_{key[5:].upper()}") and not _set(top, environ, key)
    ]
    if not missing:
        return Diagnosis("identity", "ok", "git knows whom to name in commits")
    step = " && ".join(f"git config --global {key} {EXAMPLES[key]}" for key in missing)
    text = f"git does not know {' and '.join(missing)}: neither 'reviewbot fix --commit' nor you can commit"
    return Diagnosis("identity", "warn", text, step)


EXAMPLES = {"user.name": "'Your Name'", "user.email": "you@example.com"}


def dismissals(top: Path) -> Iterator[Diagnosis]:
    """The file of dismissed findings, where there is one."""
    path = top / FILE
    if not path.is_file():
        return
    try:
        known = read(read_file(path).data, FILE)
    except ConfigError as exc:
        text = f"{exc.message}: nothing of it counts"
        yield Diagnosis("dismissals", "warn", text, exc.hint or f"mend {FILE}; 'reviewbot dismiss --list' looks again")
        return
    yield Diagnosis("dismissals", "ok", f"{len(known)} in {FILE}")


def hooked(top: Path, environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Each hook: ours, one that the pre-commit framework runs, or none."""
    try:
        report = hooks.status(top, environ)
    except UsageError as exc:
        yield Diagnosis("hooks", "warn", f"{exc.message}: nothing is reviewed before a commit or a push", exc.hint)
        return
    framework = "reviewbot" in _text(top / PRE_COMMIT)
    for hook in report.hooks:
        by_framework = framework and not hook.installed
        yield from _of_framework(hook, top) if by_framework else _of_git(hook)


def _of_framework(hook: HookStatus, top: Path) -> Iterator[Diagnosis]:
    if "pre-commit.com" in _text(top / hook.path):
        yield Diagnosis(hook.name, "ok", f"run by the pre-commit framework, as {PRE_COMMIT} says")
        return
    text = f"{PRE_COMMIT} names reviewbot, and its hook is not installed: {BEFORE[hook.name]}"
    yield Diagnosis(hook.name, "warn", text, f"pre-commit install -t {hook.name}")


def _of_git(hook: HookStatus) -> Iterator[Diagnosis]:
    if not hook.installed:
        yield Diagnosis(hook.name, "open", f"{hook.words}: {BEFORE[hook.name]}", "reviewbot hook install")
        return
    yield Diagnosis(hook.name, "ok", hook.words)
    for problem in hook.problems:
        text, _, step = problem.rpartition(": ")
        yield Diagnosis(hook.name, "warn", text or problem, step if text else "reviewbot hook install")


def workflows(top: Path) -> Iterator[Diagnosis]:
    """Workflows for GitHub that call reviewbot, and whether GitHub could run them."""
    found = {path.name: _text(path) for path in sorted((top / PLACE).glob("*.y*ml")) if path.is_file()}
    ours = {name: text for name, text in found.items() if _NAME.search(text) or _USES.search(text)}
    if not ours:
        text = f"none in {PLACE}: pull requests on GitHub are not reviewed"
        yield Diagnosis("workflow", "open", text, "reviewbot init --workflow review")
        return
    yield Diagnosis("workflow", "ok", ", ".join(ours))
    for name, text in ours.items():
        if PLACEHOLDER in text:
            words = f"{name} still names {PLACEHOLDER[:22]}…: GitHub finds no such action"
            yield Diagnosis("workflow", "warn", words, f"put in your reviewbot's address and commit: edit {PLACE}/{name}")


def completed(environ: Mapping[str, str]) -> Iterator[Diagnosis]:
    """Completion in the shell that this user has."""
    shell, home = Path(environ.get("SHELL", "")).name, environ.get("HOME", "")
    if shell not in completion.SHELLS or not home:
        return
    if completion.installed(shell, Path(home)):
        yield Diagnosis("completion", "ok", f"set up for {shell}")
        return
    _, startup, line = completion.SHELLS[shell]
    text = f"not set up for {shell}: TAB does not know reviewbot's words"
    yield Diagnosis("completion", "open", text, f"put this line into ~/{startup}: {line}")


def _set(top: Path, environ: Mapping[str, str], key: str) -> bool:
    """Does git's configuration say it here?"""
    variables = {name: value for name, value in environ.items() if name in ("PATH", "HOME", "XDG_CONFIG_HOME") or name in _GIT}
    try:
        said = subprocess.run(
            ("git", "config", "--get", key), cwd=top, env=variables, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return bool(said.stdout.strip())


_GIT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(1_000_000)
    except OSError:
        return ""
