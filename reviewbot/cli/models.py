"""``reviewbot models list`` and ``reviewbot models profile``."""

from __future__ import annotations

import click

from reviewbot import wiring
from reviewbot.cli.options import ReviewArguments, seat_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver
from reviewbot.cli.tables import as_json, columns
from reviewbot.ports import Profile

NO_MODELS = "no provider is configured: set a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, ...) or OLLAMA_HOST"
NO_PROFILES = "no local model was measured yet: 'reviewbot models profile --measure' does, and every review that asks one"


@click.group("models")
def models() -> None:
    """Say which models could review here, and how fast local ones are.

    A provider is here where its key is set (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) or OLLAMA_HOST names a server.
    """


@models.command("list")
@seat_options
def listing(arguments: ReviewArguments) -> int:
    """List the configured models: who sits where, and which of them answer.

    Every provider with a key here is asked for its list of models; that costs nothing.
    """
    found = wiring.models(order_of(arguments))
    deliver(as_json(found) if arguments.format == "json" else columns(HEADINGS, map(_row, found), nothing=NO_MODELS))
    return 0


@models.command("profile")
@click.option(
    "--measure", is_flag=True, help="Ask every local model that sits on the panel once, and keep what its server counts."
)
@seat_options
def profile(arguments: ReviewArguments, measure: bool) -> int:
    """Show how fast local models work, from their servers' own counters.

    The sizes of their prompts follow from it, so that an answer fits its time.
    """
    found = wiring.profiles(order_of(arguments), measure)
    deliver(as_json(found) if arguments.format == "json" else columns(SPEEDS, map(_speeds, found), nothing=NO_PROFILES))
    return 0


HEADINGS = ("provider", "model", "seats", "answers", "where", "remark")
SPEEDS = ("host", "model", "reads tok/s", "writes tok/s", "loads s", "samples", "last predicted/real s")
ANSWERS = {True: "yes", False: "no", None: "not asked"}


def _row(status: wiring.ModelStatus) -> tuple[str, ...]:
    answers = ANSWERS[status.reachable] if status.configured else "no key"
    where = "local" if status.local else "remote"
    return (status.provider, status.model, ", ".join(status.seats), answers, where, status.detail)


def _speeds(known: Profile) -> tuple[str, ...]:
    last = known.predictions[-1] if known.predictions else None
    return (
        known.host,
        known.model,
        f"{known.prompt_tokens_per_second:,.0f}",
        f"{known.output_tokens_per_second:,.1f}",
        f"{known.load_seconds:.1f}",
        str(known.samples),
        f"{last[0]:.1f}/{last[1]:.1f}" if last else "",
    )
