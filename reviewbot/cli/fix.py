import sys
from pathlib import Path
from typing import get_args

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.cli.host import open_host, open_repository, open_state
from reviewbot.cli.review import TargetAndPaths, is_unanswered
from reviewbot.cli.terminal import CONTENT, deliver, panel_options, say, style_for, wait_for
from reviewbot.config.settings import Effort
from reviewbot.errors import ReviewbotError, UsageError
from reviewbot.fixing import develop, fix, pursue
from reviewbot.git.writer import Write, open_writer, recover
from reviewbot.reports import render
from reviewbot.reports.text import commit_message, render_fixes
from reviewbot.reports.words import usage_words
from reviewbot.tasks.goals import GOALS, REPAIR
from reviewbot.text.plain import dead
from reviewbot.verdict.document import Review


class Options(Struct, frozen=True):
    """Those that fix and develop have; develop has no others."""

    target: str = ""
    paths: tuple[str, ...] = ()
    yes: bool = False
    commit: bool = False
    linters: bool = False
    finding: tuple[str, ...] = ()
    goal: str | None = None
    report: bytes | None = None


@click.command(cls=TargetAndPaths)
@click.argument("target", required=False, default="", metavar="[TARGET] [-- PATH…]")
@click.option("--yes", is_flag=True, help="Write what is fixed, without asking.")
@click.option("--commit", is_flag=True, help="Commit each fix.")
@click.option("--linters", is_flag=True, help="Only what linters fix; ask no model.")
@click.option("--finding", multiple=True, metavar="ID", help="Fix only this; may be repeated.")
@click.option("--goal", type=click.Choice([*GOALS, REPAIR]), help="What to change code for.")
@click.option("--report", **CONTENT, help="Fix what a bug report or a traceback says.")
@click.option("--undo", is_flag=False, flag_value="", metavar="[ID]", help="Undo the last fixes.")
@click.option("--effort", type=click.Choice(get_args(Effort)), help="How much models are asked.")
@panel_options
async def command(undo: str | None, state: Path | None, **given: object) -> int:
    """Review a change, and fix what is found.

    A fix is tried with all checks and tests before it is shown. Nothing is written unless you say
    so. TARGET is as for review; by default it is uncommitted work, or else the last commit. A goal
    is about the files after --, by default about those that TARGET changes.
    """
    if undo is not None:
        with open_repository() as repository:
            async with open_writer(repository, (await open_state(state)).folder) as writer:
                restored = await writer.undo(undo)
        for path in restored:
            say(f"reviewbot: {path} is what it was before")
        return 0
    options = msgspec.convert(given, Options)
    report = () if options.goal == REPAIR else ("report",)  # there, it is a log
    chosen = [f"--{name}" for name in ("goal", *report, "linters", "finding") if given[name]]
    if len(chosen) > 1:
        raise UsageError(f"{chosen[0]} and {chosen[1]} exclude each other", hint="leave one out")
    if options.report is not None and not options.report.strip():
        raise UsageError("the report is empty", hint="paste the traceback, or what happens")
    if options.paths and options.goal not in GOALS:
        raise UsageError("paths are for --goal", hint="name a TARGET, or --finding ID")
    if options.target[:1] in "Ff" and options.target[1:].isdecimal() and len(options.target) < 4:
        hint = f"reviewbot fix --finding {options.target}"  # a longer one may be a commit
        raise UsageError(f"{options.target} is the ID of a finding, and no target", hint=hint)
    return await run_fix(options)


async def run_fix(options: Options, specification: str = "") -> int:
    """Make, show and write fixes; 1 if something is found that is not fixed and written."""
    async with open_host() as (host, repository, state):
        if said := await recover(repository, state.folder):
            say(f"reviewbot: {said}")
        if options.commit:  # said before anything is paid
            async with open_writer(repository, state.folder) as writer:
                writer.check_branch(*await writer.git.head())
        if options.linters:
            host = replace(host, providers={})
        change = await repository.load_change(options.target)
        review: Review | None = None
        report = (options.report or b"").decode("utf-8", "replace")
        if specification:
            results = await develop(specification, change, host)
        elif options.goal or report:
            results = [await pursue(options.goal, options.paths, change, host, report)]
        else:
            files = await repository.read_files(change.head_tree, [f.path for f in change.files])
            root = await repository.root()
            same = ((root / p).is_file() and (root / p).read_bytes() == files[p] for p in files)
            if files and not any(same) and (options.yes or sys.stdin.isatty()):  # before it is paid
                raise UsageError("no file is here as it is reviewed", hint="see git status")
            review, results = await fix(change, host, [id.upper() for id in options.finding])
            state.save(review)
            if not review.reported:
                if not review.complete:
                    deliver(render(review, "text", style_for()))
                say("reviewbot: nothing is found, so there is nothing to fix")
                return ReviewbotError.exit_code if is_unanswered(review) else 0
        paths = [path for result in results for path in result.files]
        before = await repository.read_files(change.head_tree, paths)
    findings = review.findings if review else ()
    if options.linters:  # the rest is somebody else's to say
        results = [result for result in results if result.outcome != "failed"]
    deliver(render_fixes(results, findings, style_for()))
    if (used := (review or results[0]).usage).calls + used.recorded_calls:
        say(f"reviewbot: {usage_words(used)}")
    fixed = [result for result in results if result.outcome == "fixed"]
    if not fixed:
        say("reviewbot: there is no fix that proved itself; nothing is written")
        return int(not options.linters)
    what = "1 fix is ready" if len(fixed) == 1 else f"{len(fixed)} fixes are ready"
    if not options.yes:
        if not sys.stdin.isatty():
            say(f"reviewbot: {what}; --yes writes")
            return 1
        if not wait_for(lambda: click.confirm(f"{what}. Write?", err=True, default=False)):
            return 1
    writes = []
    for result in fixed:
        headline, body = commit_message(result, findings)
        message = f"{dead(headline)[:72]}\n\n{dead(body)}\n" if options.commit else ""
        writes.append(Write(files=result.files, message=message))
    with open_repository() as repository:
        async with open_writer(repository, state.folder) as writer:
            written = await writer.write(writes, before)
    for path in written.paths:
        say(f"reviewbot: {path} is written")
    for commit in written.commits:
        say(f"reviewbot: commit {commit[:10]}")
    say(f"reviewbot fix --undo {written.id} takes it back")
    return int(any(r.outcome not in ("fixed", "not_needed") for r in results))
