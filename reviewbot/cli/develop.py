from __future__ import annotations

import asyncio
from pathlib import Path
from typing import BinaryIO

import click

from reviewbot.cli.fix import Options, run_fix
from reviewbot.cli.terminal import FILE, common, state_option
from reviewbot.errors import UsageError


@click.command
@click.argument("specification", type=click.File("rb"), metavar="FILE")
@click.option("--yes", is_flag=True, help="Write what is built, without asking.")
@click.option("--commit", is_flag=True, help="Commit each step.")
@click.option("--model", multiple=True, metavar="ROLE=PROVIDER:MODEL", help="Who has a role.")
@click.option("--max-cost-usd", type=click.FloatRange(0), metavar="N", help="Most that it costs.")
@click.option("--timeout", type=click.IntRange(1), metavar="SECONDS", help="Limit of it all.")
@click.option("--env-file", type=FILE, metavar="FILE", help="Read variables from FILE.")
@state_option
@common
def command(
    specification: BinaryIO,
    yes: bool,
    commit: bool,
    model: tuple[str, ...],
    max_cost_usd: float | None,
    timeout: int | None,
    env_file: Path | None,
    state: Path | None,
) -> None:
    """Build what FILE describes, in steps; - reads standard input.

    Each step begins with a test that fails, written by another model than its code. Nothing is
    written unless you say so.
    """
    text = specification.read()
    if not text.strip():
        raise UsageError("the description is empty", hint="say what is to be built, and for whom")
    flags = {"limits.cost_usd": max_cost_usd, "limits.seconds": timeout}
    options = Options(
        yes=yes,
        commit=commit,
        linters=False,
        finding=(),
        goal=None,
        report=None,
        model=model,
        state=state,
        env_file=env_file,
        specification=text,
    )
    raise SystemExit(asyncio.run(run_fix("", (), flags, options)))
