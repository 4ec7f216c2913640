import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import click
import msgspec

from reviewbot.cli.host import open_host
from reviewbot.cli.review import TargetAndPaths
from reviewbot.cli.terminal import deliver, output_option, panel_options, say, style_for, wait_for
from reviewbot.errors import UsageError
from reviewbot.reports.words import usage_words
from reviewbot.talk.negotiation import Negotiation, id_in, negotiate
from reviewbot.text.plain import plain


@click.command(cls=TargetAndPaths)
@click.argument("question", metavar="QUESTION [-- PATH…]")
@click.option("--decide", metavar="IDS", help="Adopt these ideas, such as I1,I3, or none.")
@click.option("--format", type=click.Choice(("text", "json")), default="text")
@output_option("-o", "--output", help="Write the outcome to FILE.")
@panel_options
async def command(
    question: str,
    paths: tuple[str, ...],
    decide: str | None,
    format: Literal["text", "json"],
    output: Path | None,
    **_: object,
) -> None:
    """Let the panel negotiate what is to be done, then decide.

    Each panelist proposes without seeing the others. All ideas are attacked and voted on without
    names; on what is contested, there is a second vote. Files after -- are shown to all.
    """

    def ask_person(found: Negotiation) -> tuple[str, ...] | None:
        if decide is not None:
            return read_ids(decide, found)
        if not sys.stdin.isatty() or not found.ideas:
            return None
        for line in describe(found):
            say(line)
        some = ",".join(idea.id for idea in found.ideas[:2])
        which = f"Which ideas are to be done? (for example {some}, or none)"
        while True:
            try:
                return read_ids(wait_for(lambda: click.prompt(which, err=True)), found)
            except UsageError as error:
                say(f"reviewbot: {error.with_hint}")

    async with open_host() as (host, _repository, _state):
        found = await negotiate(question, paths, host, ask_person)
    if format == "json":
        deliver(msgspec.json.format(msgspec.json.encode(found)).decode(), output)
    else:
        stands_above = decide is None and found.decision is not None and sys.stdout.isatty()
        lines = [] if stands_above and not output else [*describe(found), ""]
        if found.decision is not None:
            lines += [f"Decided: {', '.join(found.decision) or 'none of it'}."]
        deliver("\n".join(lines), output)
    say(f"reviewbot: {usage_words(found.usage)}")
    if found.decision is None and found.ideas:
        say("reviewbot: nobody has decided; run it again with --decide, nothing is paid again")


def read_ids(words: str, found: Negotiation) -> tuple[str, ...]:
    """The ideas that a person names. Raises UsageError."""
    named = [id_in(word) for word in re.findall(r"[^\s,]+", words.upper())]
    known = [idea.id for idea in found.ideas]
    for id in named or [""]:
        if id not in (*known, "NONE"):
            problem = f"there is no idea {id}" if id else "no idea is named"
            raise UsageError(problem, hint=f"say {', '.join(known)}, or none")
    return tuple(dict.fromkeys(id for id in named if id != "NONE"))


def describe(found: Negotiation) -> Iterator[str]:
    """The ideas by what became of them, with who is for and against, as lines for a terminal.

    Of what is rejected, the objections are enough.
    """
    width = max(40, style_for().width)
    yield from (f"{a.panelist}/{a.question} is missing: {a.reason}" for a in found.absences)
    lines = [f"{name} remarks: {remark}" for name, remark in found.remarks.items()]
    lines += [] if found.ideas else ["Nobody proposed anything."]
    for standing in ("agreed", "contested", "rejected"):
        ideas = [idea for idea in found.ideas if idea.standing == standing]
        lines += ["", standing.capitalize()] if ideas else []
        for idea in sorted(ideas, key=lambda idea: -len(idea.cast("adopt"))):
            adopt, reject, wanted = idea.cast("adopt"), idea.cast("reject"), idea.proposal
            lines += [f"{idea.id}  {wanted.title}  ({len(adopt)} for, {len(reject)} against)"]
            if standing != "rejected":
                lines += [
                    f"    {wanted.proposal}",
                    f"    Benefit: {wanted.benefit}",
                    f"    Risk: {wanted.risk}",
                    *(f"    In other words: {v.title}. {v.proposal}" for v in idea.variants),
                ]
            lines += [
                f"    Proposed by {', '.join(idea.authors)}.",
                *(f"    {vote.panelist} objects: {vote.reason}" for vote in reject),
                *(f"    {v.panelist} is unsure: {v.reason}" for v in idea.cast("unsure")),
            ]
    for line in map(plain, lines):
        yield from textwrap.wrap(line, width, subsequent_indent="    ") or [""]
