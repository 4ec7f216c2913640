"""What the command line brings to a review: settings of the user, recorded results, progress."""

import asyncio
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from math import inf
from pathlib import Path

import click
from msgspec.structs import replace

from reviewbot.cli.terminal import is_given, say
from reviewbot.config import load
from reviewbot.debate.panel import read_roles
from reviewbot.errors import GitError, UsageError
from reviewbot.events import Emit, Event
from reviewbot.git.repository import Repository
from reviewbot.services import Host
from reviewbot.state import State, find_state, load_dismissals, user_folder
from reviewbot.text.plain import plain
from reviewbot.text.secrets import safe_lines
from reviewbot.verdict.document import Finding, Review

# https://github.com/motdotla/dotenv#what-rules-does-the-parsing-engine-follow, without expansion
ASSIGNMENT = re.compile(
    r"""(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(?:"([^"]*)"|'([^']*)'|(.*?))\s*(?:(?<=[\s"'])\#.*)?"""
)
OPTIONS = {  # of commands, with the settings that they take the place of
    "fail_on": "review.fail_on",
    "effort": "review.effort",
    "timeout": "limits.seconds",
    "max_cost_usd": "limits.cost_usd",
    "sandbox": "sandbox.kind",
}
KEYS = r"\w+_API_KEY|OLLAMA_\w+"  # variables of providers
LONG = 5  # seconds
CLEAR = "\r\x1b[K"


@asynccontextmanager
async def open_host(
    emit: Emit | None = None, *, is_patch: bool = False
) -> AsyncIterator[tuple[Host, Repository, State]]:
    """What this process and the options of its command bring to a review. Raises ReviewbotError.

    Without `emit`, progress is shown.
    """
    given = click.get_current_context().params  # few commands have all of these
    panelists = read_roles(given.get("model", ()), "--model")
    layers = [load.flag_layer({key: given.get(option) for option, key in OPTIONS.items()})]
    if file := given.get("config"):  # stands above the repository's own
        layers.insert(0, load.read_layer(str(file), "flags", file.read_bytes()))
    async with nullcontext(emit) if emit else show_progress() as watch:
        with open_repository() as repository:
            own = (given.get(name) for name in ("state", "output", "record", "replay"))
            repository.own_files = tuple(filter(None, own))
            variables = await read_variables(repository, given.get("env_file"))
            reviewed = None if is_patch else repository
            state = await find_state(reviewed, variables, given.get("state"))
            host = make_host(reviewed, state, variables, *layers)
            fresh = given.get("fresh", False)
            yield replace(host, panelists=panelists, fresh=fresh, emit=watch), repository, state


def make_host(
    repository: Repository | None, state: State, variables: Mapping[str, str], *layers: load.Layer
) -> Host:
    """Raises ReviewbotError."""
    return Host(
        repository=repository,
        journal=state.journal(),
        state_folder=state.folder,
        layers=[*read_layers(variables), *layers],
        variables=variables,
        dismissals=load_dismissals(state.dismissals),
    )


def read_layers(variables: Mapping[str, str]) -> list[load.Layer]:
    """Settings of the environment and the user file."""
    layers = [load.environment_layer(variables)]
    if variables.get("HOME") or variables.get("XDG_CONFIG_HOME"):
        path = user_folder(variables, "XDG_CONFIG_HOME", ".config") / "config.yml"
        if path.is_file():
            layers.append(load.read_layer(str(path), "user", path.read_bytes()))
    return layers


async def read_variables(repository: Repository, file: Path | None = None) -> dict[str, str]:
    """The environment, and what a file adds to it.

    Without one, the keys of providers in a `.env` at the top of the work tree count if git ignores
    it: what is committed may be by somebody else. Its other lines do not count. Raises UsageError.
    """
    if file:
        return read_env_file(file) | dict(os.environ)
    with suppress(GitError):  # outside of a work tree
        path = await repository.root() / ".env"
        if path.is_file() and await repository.ignored([".env"]):
            own = load.load_settings(read_layers(os.environ)).settings.providers.values()
            names = [KEYS, *(re.escape(p.key_variable) for p in own if p.key_variable)]
            return read_env_file(path, "|".join(names)) | os.environ
    return dict(os.environ)


def read_env_file(path: Path, names: str = r"\S*") -> dict[str, str]:
    """The variables of a file whose names match; other lines may be anything. Raises UsageError."""
    variables, wanted = {}, re.compile(rf"(?:export\s+)?(?:{names})(?!\w)")
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#") or not wanted.match(text):
            continue
        if not (match := ASSIGNMENT.fullmatch(text)):
            raise UsageError(f"{path}:{number}: this is no line NAME=VALUE")
        variables[match[1]] = match[2] or match[3] or match[4] or ""
    return variables


def open_repository() -> Repository:
    """The repository around the current folder, with the index that git tells its hooks."""
    index = os.environ.get("GIT_INDEX_FILE")
    return Repository(Path.cwd(), Path(index) if index else None, variables=os.environ)


async def find_root() -> Path | None:
    """The top of the work tree around the current folder; None outside of one."""
    with open_repository() as repository, suppress(GitError):
        return await repository.root()
    return None


async def open_state(folder: Path | None = None) -> State:
    """The state of the repository around the current folder, or else of this user."""
    with open_repository() as repository, suppress(GitError):
        return await find_state(repository, os.environ, folder)
    return await find_state(None, os.environ, folder)


def find_finding(review: Review, name: str) -> Finding:
    """The finding with an id such as F1, or a key. Raises UsageError."""
    for finding in review.findings:
        if name.upper() == finding.id or name == finding.key:
            return finding
    ids = ", ".join(finding.id for finding in review.findings) or "none"
    message = f"the newest review has no finding {name}"
    raise UsageError(message, hint=f"It has {ids}. reviewbot sessions lists other reviews.")


@asynccontextmanager
async def show_progress() -> AsyncIterator[Emit]:
    """Show events until the end: one live line on a terminal, elsewhere a line for what took long.

    Steps of `develop` have a line each. With -v, so has everything, and every question to a model
    and its answer is shown as it happens.
    """
    is_live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not is_given("quiet")
    is_verbose = is_given("verbose")
    least = 0 if is_verbose else inf if is_given("quiet") else LONG
    running: list[str] = []
    started = time.monotonic()
    spent, clear = "", CLEAR if is_live else ""

    def emit(event: Event) -> None:
        nonlocal spent
        is_step = event.what == "step"
        name = event.name if is_step else event.name.replace("/", ": ")
        if event.cost_usd:
            spent = f"  ${event.cost_usd:.4f}"
        if is_verbose and event.text:
            asks, answers = f"{name} asks {event.who}", f"{event.who} answers {name}"
            print(end=clear, file=sys.stderr)
            say(f"── {asks if event.seconds is None else answers}", by=event.who)
            for line in safe_lines(event.text):
                say(f"│ {line}", by=event.who)
        if event.seconds is None:
            running.append(name)
            return
        if name in running:  # what is recorded does not begin
            running.remove(name)
        if (is_step and least < inf) or (event.seconds >= least and not is_live):
            print(end=clear, file=sys.stderr)
            how = "recorded" if event.was_recorded else f"{event.seconds:.1f} s"
            say(f"reviewbot: {name} ({how})")

    async def draw() -> None:
        with suppress(OSError):  # the terminal has gone
            while is_live:
                await asyncio.sleep(0.2)
                columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
                what = ", ".join(dict.fromkeys(running)) or "preparing"
                line = plain(f"{time.monotonic() - started:.0f} s{spent}  {what}")[: columns - 1]
                print(CLEAR, line, sep="", end="", file=sys.stderr, flush=True)

    drawing = asyncio.create_task(draw())
    try:
        yield emit
    finally:
        drawing.cancel()
        with suppress(OSError):
            print(end=clear, file=sys.stderr, flush=True)
