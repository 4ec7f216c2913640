"""``reviewbot debate``: zone M. A debate over documents, with the keys of models and without any code of the change."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

import click

from reviewbot import wiring
from reviewbot.cli import handover
from reviewbot.cli.options import DebateArguments, debate_options
from reviewbot.cli.review import exit_code
from reviewbot.cli.sections import Sectioned
from reviewbot.cli.settings import read_file, read_user_file
from reviewbot.cli.watch import watching
from reviewbot.config.dotenv import parse
from reviewbot.domain.counted import counted
from reviewbot.domain.review import Review
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import UsageError
from reviewbot.evidence.origin import Origin
from reviewbot.publish import phrases
from reviewbot.publish.document import document, dumps
from reviewbot.publish.load_change import CHANGE
from reviewbot.publish.load_evidence import LEDGER
from reviewbot.publish.load_proof import VERIFICATIONS
from reviewbot.publish.load_request import REQUEST
from reviewbot.wiring import debating
from reviewbot.wiring.places import state_directory


@click.command("debate", cls=Sectioned, short_help="Hold the debate over the documents that `collect` wrote.")
@debate_options
def debate(arguments: DebateArguments) -> int:
    """Hold the debate over the documents that `reviewbot collect` wrote, and write review.json.

    Here are the keys of models; no repository is read and nothing of the change is run. A claim whose check nobody ran stays
    untested. With --await-runner the debate stops there and writes experiments.json instead: run `reviewbot collect
    --experiments` where the checks ran, then this command again with --verifications. It goes on where it was; no answer is paid
    for twice.

    Evidence of --evidence-origin author may raise findings. It proves, refutes and approves nothing.

    \b
    Examples:
      reviewbot debate --changeset changeset.json --evidence evidence.json
      reviewbot debate --changeset c.json --evidence e.json --await-runner

    Exit codes are those of `reviewbot review`.
    """
    papers = _papers(arguments)
    order = _order(arguments)
    # Without a file that was named, whoever shows progress would ask the repository around this folder how to.
    shown = replace(arguments, config=arguments.config or Path(os.devnull))
    with watching(shown, order) as observer:
        made = debating.debate(order, papers, observer)
    if isinstance(made, debating.Pending):
        return _pending(made, arguments)
    out = arguments.out
    path = handover.write(out, handover.REVIEW, dumps(document(made.review)))
    handover.take_away(out, handover.EXPERIMENTS)
    next_step = f"reviewbot publish --review {shlex.quote(str(path))} --changeset {shlex.quote(str(arguments.changeset))}"
    handover.tell(arguments, _summary(made.review), f"next: {next_step}")
    return exit_code(made.review, made.configuration.get("review.fail_on", str))


def _papers(arguments: DebateArguments) -> debating.Papers:
    """The documents that were named. Raises UsageError."""
    origin = Origin(arguments.evidence_origin)
    if arguments.await_runner and origin is Origin.AUTHOR:
        words = "--await-runner and --evidence-origin author exclude each other"
        raise UsageError(words, hint="no check that the author runs is believed")
    return debating.Papers(
        handover.read(arguments.changeset, CHANGE.max_bytes),
        handover.read(arguments.evidence, LEDGER.max_bytes),
        handover.read(arguments.request, REQUEST.max_bytes) if arguments.request else None,
        tuple(handover.read(path, VERIFICATIONS.max_bytes) for path in arguments.verifications),
        origin,
        arguments.await_runner,
    )


def _pending(made: debating.Pending, arguments: DebateArguments) -> int:
    """The debate waits for its experiments. A review of an earlier run would be taken for this one's: it goes."""
    path = handover.write(arguments.out, handover.EXPERIMENTS, made.experiments)
    handover.take_away(arguments.out, handover.REVIEW)
    runner = f"reviewbot collect TARGET --experiments {shlex.quote(str(path))}"
    handover.tell(
        arguments,
        f"pending: {counted(made.awaited, 'experiment')} to be run first",
        f"next: {runner}, then this command again with --verifications {handover.VERIFICATIONS}",
    )
    return 0


def _order(arguments: DebateArguments) -> wiring.Order:
    """The order, with the variables of this process and of a file that was named. No ``.env`` is looked for: here is no
    repository that it could belong to."""
    environment = dict(os.environ)
    if arguments.env_file is not None:
        source = read_file(arguments.env_file)
        environment = {**parse(source.data, source.name), **environment}
    return wiring.Order(
        target=Target(TargetKind.AUTO),
        directory=arguments.repo,
        environment=environment,
        flags=arguments.overrides(),
        config=read_file(arguments.config) if arguments.config else None,
        user=read_user_file(environment),
        panel=arguments.panel,
        models=arguments.model,
        state=arguments.state or state_directory(environment),
        fresh=not arguments.resume,
    )


def _summary(review: Review) -> str:
    return f"{phrases.headline(review).words}: {phrases.counts(review)} ({phrases.wholeness(review)})"
