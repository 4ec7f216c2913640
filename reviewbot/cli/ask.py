"""``reviewbot ask QUESTION``: a question to the panel about a change, answered blind by everyone and drawn together."""

from __future__ import annotations

import click

from reviewbot.cli.options import ReviewArguments, ask_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver
from reviewbot.cli.review import read_patch
from reviewbot.cli.sections import Sectioned
from reviewbot.cli.watch import watching
from reviewbot.publish import answer
from reviewbot.wiring import consulting

FORMATS = {"text": answer.text_of, "markdown": answer.markdown_of, "json": answer.json_of}
NOT_ANSWERED = 3


@click.command("ask", cls=Sectioned, short_help="Ask the panel a question about a change.")
@click.argument("question")
@click.option("--pattern", metavar="NAME", default="consult", help="How it is talked over: `consult`, or what a package adds.")
@ask_options
def ask(arguments: ReviewArguments, question: str, pattern: str) -> int:
    """Ask the panel QUESTION about a change.

    Everyone answers alone, citations are looked up, dissent is shown. TARGET is as for `reviewbot review`. Nothing of the change
    is run. It takes language models: the static panel answers no questions.

    \b
    Examples:
      reviewbot ask "Is the cache safe with two workers?" main...topic
      reviewbot ask "What did I forget?" --staged --format markdown

    \b
    Exit codes:
      0  answered
      2  usage or configuration
      3  the panel gave no answer
    """
    order = order_of(arguments, arguments.chosen_target(read_patch))
    with watching(arguments, order) as observer:
        counsel = consulting.ask(order, question, observer, pattern=pattern).counsel
    deliver(FORMATS[arguments.format](counsel), arguments.output)
    return NOT_ANSWERED if counsel.unanswered else 0
