"""The work of the hook before a commit: at a glance, else by what each changed file holds, else by a whole review."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reviewbot.cli import glance
from reviewbot.cli.arguments import HookArguments
from reviewbot.cli.hook_said import Said
from reviewbot.cli.output import say

if TYPE_CHECKING:
    from reviewbot.wiring.hook_quiet import Told


def plain(options: Mapping[str, str], typed: list[str]) -> int:
    """As ``run``, of what a glance understood (``glance.options``): nothing is loaded that reads command lines."""
    arguments = HookArguments(
        quiet=bool({"-q", "--quiet"} & options.keys()),
        color=options.get("--color"),
        fail_on=options.get("--fail-on"),
        strict="--strict" in options,
    )
    return run(arguments, typed)


def run(arguments: HookArguments, typed: list[str]) -> int:
    """Do the work of the hook and return the exit code. ``typed`` is the whole command line."""
    if glance.is_skipped(os.environ, glance.SKIP):
        say(f"reviewbot: skipped, because SKIP names {glance.SKIP}")
        return 0
    sight = glance.seen(typed, os.environ)
    told = _told(arguments, sight)
    said = _quiet(sight) if told is not None and sight is not None else None
    said = said or _reviewed(arguments, sight, told)
    if arguments.quiet and said.is_quiet:
        said = Said(said.code, out=said.out, stamps=said.stamps, lasts=said.lasts)
    if said.err:
        say(said.err.rstrip("\n"))
    if said.out:
        sys.stdout.write(said.out)
    if sight is not None and said.lasts and _is_same(sight, typed):
        glance.keep(sight, (said.out, said.err), said.code, stamps=said.stamps)
    return said.code


def _is_same(sight: glance.Sight, typed: list[str]) -> bool:
    """Nothing was changed while it was looked at."""
    now = glance.seen(typed, os.environ)
    return bool(sight.key) and now is not None and now.key == sight.key


def _told(arguments: HookArguments, sight: glance.Sight | None) -> Told | None:
    """What can be told of single files, remembered; ``None`` where that says nothing of a review."""
    if sight is None or arguments.format != "text" or (wanted := glance.unmarked(sight)) is None:
        return None
    from reviewbot.cli.hook_usual import is_usual
    from reviewbot.wiring import hook_quiet

    if not is_usual(arguments, sight, os.environ):
        return None
    files = [hook_quiet.Listed(*blobs) for blobs in sight.blobs() if blobs[0] in wanted]
    told = hook_quiet.told(files, Path(sight.toplevel), os.environ)
    glance.mark(sight, told.quiet)
    return told


def _quiet(sight: glance.Sight) -> Said | None:
    """The one line where nothing new can be said of any changed file."""
    return None if glance.unmarked(sight) else Said(0, glance.quiet(len(sight.listed)), is_quiet=True)


def _reviewed(arguments: HookArguments, sight: glance.Sight | None, told: Told | None) -> Said:
    from reviewbot.cli import hook_review

    return hook_review.reviewed(arguments, sight, ran=told.ran if told else ())
