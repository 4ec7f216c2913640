from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import click
from msgspec import Struct
from ruff import find_ruff_bin

from reviewbot.cli.config import load_committed
from reviewbot.cli.host import open_repository, read_variables, run
from reviewbot.cli.terminal import common, deliver, style_for
from reviewbot.config.settings import Settings
from reviewbot.debate.choose import choose_members
from reviewbot.errors import GitError, ReviewbotError, SandboxError
from reviewbot.git.process import ENVIRONMENT
from reviewbot.hooks.install import describe_hooks
from reviewbot.process import run_process
from reviewbot.sandbox.choose import open_sandbox
from reviewbot.sandbox.environment import find_environment
from reviewbot.sandbox.job import Job
from reviewbot.sandbox.start import Sandbox
from reviewbot.text.plain import plain
from reviewbot.version import __version__

Mark = Literal["✓", "!", "✗"]
COLORS: Mapping[Mark, str] = {"✗": "red", "!": "yellow", "✓": "green"}  # the worst first
MACHINE, PROJECT, PANEL = "This machine", "This project", "Language models"
KEY_HINT = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or OLLAMA_HOST to add a panel"
# What runs in the sandbox to see whether the project's tests could.
PROGRAM = "import platform, pytest; print(platform.python_version(), pytest.__version__)"


class Item(Struct, frozen=True):
    """Something that works, that could be better, or that is broken and needed."""

    group: str
    mark: Mark
    text: str
    next_step: str = ""


@click.command
@common
def command() -> None:
    """Show what works here, what is missing, and the next step. Exit with 3 if it is broken."""
    items = run(_collect())
    lines: list[str] = []
    style = style_for()
    for group in (MACHINE, PROJECT, PANEL):
        lines.append(group)
        for item in (item for item in items if item.group == group):
            mark: str = item.mark
            if style.color:
                mark = click.style(mark, fg=COLORS[item.mark], bold=True)
            width = max(40, style.width) - 4
            wrapped = textwrap.wrap(plain(item.text), width, break_long_words=False)
            lines.append(f"  {mark} " + "\n    ".join(wrapped))
        lines.append("")
    steps = [item.next_step for mark in COLORS for item in items if item.mark == mark]
    step = next(filter(None, steps), "reviewbot review")
    deliver("\n".join([*lines, f"Next: {plain(step)}"]))
    if any(item.mark == "✗" for item in items):
        raise SystemExit(ReviewbotError.exit_code)


async def _collect() -> list[Item]:
    python = ".".join(map(str, sys.version_info[:3]))
    items = [Item(MACHINE, "✓", f"reviewbot {__version__} on Python {python}")]
    for command in (("git", "version"), (find_ruff_bin(), "--version")):
        try:
            ended = await run_process(
                command, environment=ENVIRONMENT, seconds=20, max_output=1_000
            )
            items.append(Item(MACHINE, "✓", ended.stdout.decode().strip()))
        except OSError as error:
            text = f"{command[0]} does not run: {error.strerror}"
            items.append(Item(MACHINE, "✗", text, "install it"))

    settings = Settings()
    try:
        loaded, committed = await load_committed()
        settings = loaded.settings
        text = "the configuration is valid"
        if not committed:
            text = "no configuration is committed: defaults count"
        items.append(Item(PROJECT, "✓", text, "" if committed else "reviewbot init"))
    except ReviewbotError as error:
        items.append(Item(PROJECT, "✗", str(error), error.hint or "reviewbot config check"))
    root = None
    with open_repository() as repository:
        try:
            root = await repository.root()
        except GitError as error:
            items.append(Item(PROJECT, "!", str(error), error.hint or ""))

    environment = find_environment(root, os.environ)
    sandbox = open_sandbox(settings.sandbox.kind, settings.sandbox.image, environment)
    try:
        await sandbox.check()
        reason = sandbox.reason
    except SandboxError as error:
        reason = f"{error}: {error.hint}" if error.hint else str(error)
    if reason:
        text = f"no sandbox starts, so tests of a change do not run: {reason}"
        items.append(Item(MACHINE, "!", text, reason.rpartition(": ")[2]))
    else:
        items.append(Item(MACHINE, "✓", "the sandbox starts, so tests of a change run in it"))
    if root and not reason:
        items.append(await _python(sandbox))
    for is_well, text in await describe_hooks(root, os.environ) if root else ():
        step = "" if is_well else "reviewbot hook install"
        items.append(Item(PROJECT, "✓" if is_well else "!", text, step))

    members, _, notes = choose_members(settings, await read_variables(os.environ), {})
    for member in members:
        items.append(Item(PANEL, "✓", f"{member.name}: {member.provider}:{member.model}"))
    for note in notes:
        step = note.rpartition(": ")[2].rstrip(".") if "pip" in note else ""
        items.append(Item(PANEL, "!", note, step))
    if not members:
        text = "no language model is configured: only executed checks decide"
        items.append(Item(PANEL, "!", text, KEY_HINT))
    return items


async def _python(sandbox: Sandbox) -> Item:
    """Run the project's interpreter in the sandbox."""
    job = Job(tree="", command=("{python}", "-c", PROGRAM), executes=True, seconds=30)
    with TemporaryDirectory() as folder:
        completed = await sandbox.run(job, Path(folder))
    if completed.exit_code != 0:
        lines = completed.stderr.decode(errors="replace").strip().splitlines() or [completed.reason]
        step = "install pytest into the project's environment" if "pytest" in lines[-1] else ""
        return Item(PROJECT, "!", f"the project's Python runs no tests: {lines[-1]}", step)
    python, pytest = completed.stdout.decode(errors="replace").split()
    return Item(PROJECT, "✓", f"the project's Python {python} has pytest {pytest}")
