"""``reviewbot init``: what a repository needs to be reviewed, written as it was agreed: configuration, hooks, workflows."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click

from reviewbot.cli import init_workflows as workflows
from reviewbot.cli.init_ask import Said, agreed, asked, ground
from reviewbot.cli.init_origin import origin
from reviewbot.cli.init_plan import HOOKS, Ground, Piece, Wishes, pieces, steps
from reviewbot.cli.init_write import standing, written
from reviewbot.cli.options import REPO, TOLD, Common, gathered
from reviewbot.cli.output import deliver, say
from reviewbot.cli.settings import top_of
from reviewbot.config.describe import commented_file
from reviewbot.errors import OutputError, UsageError

NO_SECRET = "none"


@dataclass(frozen=True, slots=True)
class InitArguments(Common):
    """One ``reviewbot init`` as it was typed. ``None`` and empty tuples: not said."""

    configuration: bool | None = None
    hooks: str | None = None
    workflow: tuple[str, ...] = ()
    action_ref: str | None = None
    secret: tuple[str, ...] = ()
    yes: bool = False
    dry_run: bool = False
    force: bool = False
    stdout: bool = False

    def said(self) -> Said:
        """What of the choices was made. Raises UsageError."""
        if NO_SECRET in self.secret and len(self.secret) > 1:
            raise UsageError("--secret none and a provider exclude each other", hint="leave one of them out")
        secrets = tuple(word for word in self.secret if word != NO_SECRET) if self.secret else None
        uses = workflows.action(self.action_ref) if self.action_ref is not None else None
        return Said(self.configuration, self.hooks, self.workflow or None, uses, secrets)


INIT = (
    click.option("--config/--no-config", "configuration", default=None, help="Write .reviewbot.yml, every default a comment."),
    click.option("--hooks", type=click.Choice(HOOKS), help="Install native git hooks, or an entry for the pre-commit framework."),
    click.option(
        "--workflow",
        multiple=True,
        type=click.Choice(tuple(workflows.SETS)),
        help="Write this workflow for GitHub Actions; `forks` is two files. Repeatable.",
    ),
    click.option(
        "--action-ref",
        metavar="OWNER/REPO@COMMIT",
        help="The reviewbot that workflows and pre-commit fetch. By default the one that runs here, where GitHub has it.",
    ),
    click.option(
        "--secret",
        multiple=True,
        type=click.Choice((*workflows.SECRETS, NO_SECRET)),
        help="A provider whose key, a secret of the repository, the workflows hand over; by default the first three. Repeatable.",
    ),
    click.option("-y", "--yes", is_flag=True, help="Ask nothing, also at a terminal."),
    click.option("--dry-run", is_flag=True, help="Print what would be written, and write nothing."),
    click.option("--force", is_flag=True, help="Replace files that are there already."),
    click.option("--stdout", is_flag=True, help="Print the configuration file, and write nothing."),
    REPO,
    *TOLD,
)


def init_options(handler: Callable[[InitArguments], int]) -> Callable[..., int]:
    """Give the command its options, as one :class:`InitArguments`."""
    return gathered(handler, InitArguments, INIT)


@click.command("init", short_help="Write a configuration file, git hooks, workflows for GitHub.")
@init_options
def init(arguments: InitArguments) -> int:
    """Write what this repository needs to be reviewed: a configuration file, git hooks, workflows for GitHub.

    At a terminal it asks for what flags leave open, names what it would write, and asks once more. Elsewhere, or with --yes, it
    does what flags say, and without any it writes .reviewbot.yml. A file that is there is not replaced without --force, and
    where one cannot be written none is. A configuration of pre-commit that is there stays as it is; what to put into it is
    printed.

    \b
    Examples:
      reviewbot init                                   ask
      reviewbot init --yes --hooks native              git hooks, nothing else
      reviewbot init --yes --workflow review           one file for GitHub Actions
      reviewbot init --dry-run --hooks pre-commit      what would be written

    \b
    Exit codes:
      0    written, or nothing to do
      2    a file is there already, or cannot be written
      130  interrupted; nothing was written
    """
    if arguments.stdout:
        deliver(commented_file())
        return 0
    top = _work_tree(arguments.repo)
    place = ground(top, os.environ)
    asks = _is_terminal() and not (arguments.yes or arguments.dry_run)
    wishes = _asked(arguments, place) if asks else _said(arguments)
    if wishes.configuration and place.has_table and not (arguments.force or arguments.dry_run):
        words = "pyproject.toml has [tool.reviewbot], which nobody reads beside a .reviewbot.yml; nothing was written"
        raise OutputError(words, hint="write into that table, say --no-config, or take the file all the same with --force")
    replaces = arguments.force or arguments.dry_run
    missing = standing(top, pieces(wishes, has_pre_commit=place.has_pre_commit), force=replaces)
    if arguments.dry_run:
        deliver("\n".join([*map(_shown, missing), *(f"would {deed}" for deed in _deeds(wishes))]) or "nothing would be written")
        return 0
    if asks and (missing or _deeds(wishes)) and not agreed(missing, _deeds(wishes), lambda piece: say(_shown(piece))):
        say("Nothing was written.")
        return 0
    with written(top, missing):
        told = _install(top, os.environ) if wishes.hooks == "native" else ()
    if not arguments.quiet:
        say(
            "\n".join(
                [*(f"Wrote {top / piece.path}" for piece in missing), *told, steps(wishes, missing, place=place, git=_git(top))]
            )
        )
    return 0


def _work_tree(directory: Path) -> Path:
    """Where files are written. Raises UsageError where only git's own lie."""
    top = top_of(directory)
    if (top / "HEAD").is_file() and (top / "objects").is_dir():
        raise UsageError(f"{top} is a bare repository", hint="go to a folder with a work tree")
    return top


def _said(arguments: InitArguments) -> Wishes:
    """What flags mean, with the reviewbot that runs here where one must be named."""
    wishes = arguments.said().wishes()
    needs = bool(wishes.workflows) or wishes.hooks == "pre-commit"
    return replace(wishes, uses=origin()) if needs and wishes.uses is None else wishes


def _asked(arguments: InitArguments, place: Ground) -> Wishes:
    return asked(arguments.said(), place, origin=origin, force=arguments.force)


def _deeds(wishes: Wishes) -> tuple[str, ...]:
    """What is done beside writing files."""
    return ("install the git hooks pre-commit and pre-push",) if wishes.hooks == "native" else ()


def _install(top: Path, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Install the native hooks; what was done, in lines. Raises UsageError."""
    from reviewbot.wiring.hooks import RefusedError, install

    try:
        return install(top, environ)
    except RefusedError as refused:
        if refused.snippet:
            say(refused.snippet)
        raise


def _git(top: Path) -> str:
    """How git is called for paths that begin at the top."""
    return "git" if Path.cwd().resolve() == top.resolve() else f"git -C {shlex.quote(str(top))}"


def _shown(piece: Piece) -> str:
    return f"==> {piece.path} <==\n{piece.text}"


def _is_terminal() -> bool:
    """Is there somebody to ask, and somewhere to ask?"""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
