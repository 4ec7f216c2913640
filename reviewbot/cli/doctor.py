import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import click
from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.languages import all_languages, configured_checks
from reviewbot.checks.project import Project, load_project
from reviewbot.checks.readers import reason_of
from reviewbot.checks.run import applies, job_of
from reviewbot.cli.config import load_committed
from reviewbot.cli.host import open_repository, open_state, read_variables
from reviewbot.cli.sessions import open_past
from reviewbot.cli.terminal import Command, deliver, style_for
from reviewbot.concurrency import run_all
from reviewbot.config.settings import Settings
from reviewbot.debate.panel import choose_members
from reviewbot.errors import ConfigError, GitError, ReviewbotError, SandboxError, UsageError
from reviewbot.git.change import Change
from reviewbot.git.process import Git
from reviewbot.hooks.install import find_hooks
from reviewbot.journal import Journal
from reviewbot.llm.providers import connections_to, prices_of
from reviewbot.sandbox.environment import find_environment
from reviewbot.sandbox.executor import Executor, LocalExecutor, open_sandbox
from reviewbot.text.plain import listed, plain
from reviewbot.version import __version__

Mark = Literal["✓", "!", "✗"]
COLORS: Mapping[Mark, str] = {"✗": "red", "!": "yellow", "✓": "green"}  # the worst first
# Something that works, that could be better, or that is broken and needed; and the next step.
Row = tuple[Mark, str, str]


@click.command(cls=Command)
async def command() -> int:
    """Show what works here, what is missing, and the next step. Exit with 3 if it is broken."""
    python = ".".join(map(str, sys.version_info[:3]))
    git = (await Git(Path.cwd())("version")).decode().strip()
    machine: list[Row] = [("✓", f"reviewbot {__version__} on Python {python}", ""), ("✓", git, "")]
    project, settings, root = list[Row](), Settings(), None
    known = configured_checks(all_languages(), ())
    with open_repository() as repository:
        with suppress(GitError):  # said below
            root = await repository.root()
        try:
            loaded, committed = await load_committed(repository)
            known = configured_checks(all_languages(), loaded.settings.checks)
            settings = loaded.settings
            is_there = ".reviewbot.yml" in committed or "pyproject.toml" in loaded.origins.values()
            says = "the configuration is valid" if is_there else "no configuration is committed"
            if root:
                project.append(("✓", says, "" if is_there else "reviewbot init"))
        except ReviewbotError as error:
            project.append(("✗", str(error), error.hint or "reviewbot config check"))
        try:
            (await open_state()).journal()
            async with open_past():  # it opens the ledger, if there is one
                pass
        except ReviewbotError as error:
            project.append(("✗", str(error), error.hint or ""))
        variables = await read_variables(repository)
        applying, missing, found, head = list[Check](), list[Check](), Project(), Change(files=())
        try:
            head = await repository.load_change(kind="worktree")
            found = await load_project(head, repository, known)
            of_project = (check for check in found.checks if check.kind != "scan")
            applying += (check for check in of_project if applies(check, found.head_files, found))
        except GitError as error:
            project.append(("!", str(error), error.hint or ""))
        entries = await repository.list_entries(head.head_tree) if head.head_tree else []
        environment = find_environment(root, os.environ, [entry.path for entry in entries])
        sandbox = open_sandbox(settings.sandbox.kind, settings.sandbox.image, environment)
        try:
            await sandbox.check()
            reason = sandbox.reason
        except SandboxError as error:
            reason = f"{error}: {error.hint}"
        if reason:
            text = f"no sandbox starts, so tests of a change do not run: {reason}"
            machine.append(("!", text, reason.rpartition(": ")[2]))
            applying = [check for check in applying if not check.executes]
        else:
            machine.append(("✓", "the sandbox starts, so tests of a change run in it", ""))
            with LocalExecutor(repository, sandbox, Journal()) as executor:
                broken = await look_up(applying, head.head_tree, found, executor)
            for name, why in ((name, why) for name, why in broken.items() if why):
                project.append(("!", f"{name} does not run: {why}", why.partition(": ")[2]))
            missing = [check for check in applying if broken.get(check.name) == ""]
            applying = [check for check in applying if check.name not in broken]
            for hint in dict.fromkeys(check.install_hint for check in missing):
                names = [check.name for check in missing if check.install_hint == hint]
                project.append(("!", f"not installed: {listed(names, 8)}; {hint}", hint))
        own = [check.folder for check in applying if "{python}" in check.lookup]
        for python in sorted({environment.pythons.get(f, environment.python) for f in own}):
            more = "" if Path(python).parent.with_name("pyvenv.cfg").exists() else " (no .venv)"
            project.append(("✓", f"the Python of this project is {python}{more}", ""))
        if applying:
            said = listed([check.name for check in applying], 8)
            project.append(("✓", f"linters and tests that a change may run: {said}", ""))
        elif head.head_tree and not missing and not reason:
            step = "add one under checks: in .reviewbot.yml"
            project.append(("!", f"no linter and no test runs here: {step}", step))
    try:
        for hook in await find_hooks(root, os.environ) if root else ():
            step = "" if hook.runs else "reviewbot hook install"
            project.append(("✓" if hook.runs else "!", str(hook), step))
    except UsageError as error:  # git looks for them in no folder
        project.append(("!", str(error), error.hint or ""))

    models = await models_of(settings, variables)
    lines, style = list[str](), style_for()
    groups = {"This machine": machine, "This project": project, "Language models": models}
    for group, rows in groups.items():
        lines += ["", group]
        for mark, text, _ in dict.fromkeys(rows):  # members may have one broken provider
            shown = click.style(mark, fg=COLORS[mark], bold=True) if style.color else mark
            wrapped = textwrap.wrap(plain(text), max(40, style.width) - 4, break_long_words=False)
            lines.append(f"  {shown} " + "\n    ".join(wrapped))
    every = sorted([*machine, *project, *models], key=lambda row: [*COLORS].index(row[0]))
    next_step = next((step for _, _, step in every if step), "reviewbot review")
    deliver("\n".join([*lines[1:], "", f"Next: {plain(next_step)}"]))
    return ReviewbotError.exit_code if every[0][0] == "✗" else 0


async def look_up(
    checks: Sequence[Check], tree: str, project: Project, executor: Executor
) -> dict[str, str]:
    """Why checks do not run, by name: what a program of ours says, or "" without their tool."""
    looked = [check for check in checks if check.lookup]
    jobs = (
        replace(job_of(c, tree, project), command=c.lookup, paths=tuple(project.configs))
        for c in looked
    )
    broken = {}
    for check, ended in zip(looked, await run_all(*map(executor.execute, jobs)), strict=True):
        if ended.exit_code:
            what, _, why = reason_of(ended).partition("Error: ")
            broken[check.name] = "" if what else why
    return broken


async def models_of(settings: Settings, variables: Mapping[str, str]) -> list[Row]:
    """Who would be asked, and why others would not."""
    members, notes = choose_members(settings, variables, {})
    models, prices = list[Row](), prices_of(settings.providers)
    connections = connections_to([m.provider for m in members], settings.providers, variables)
    for m in members:
        model, connection = f"{m.provider}:{m.model}", connections[m.provider]
        row: Row = ("✓", f"{m.name}: {model}", "")
        if not prices.find(m.provider, m.model, is_local=connection.is_local):
            step = f"set providers.{m.provider}.prices, see docs/models.md"
            row = ("!", f"{m.name} is not asked: nobody knows what {model} costs", step)
        try:
            await connection.open().close()
        except ConfigError as error:  # its key, its address, certificates
            row = ("✗", str(error), error.hint or "")
        models.append(row)
    for note in notes:
        models.append(("!", note, note.rpartition(": ")[2].rstrip(".") if "pip" in note else ""))
    if not members:
        text = "no language model is configured: only executed checks decide"
        step = "set ANTHROPIC_API_KEY, OPENAI_API_KEY or OLLAMA_HOST to add a panel"
        models.append(("!", text, step))
    return models
