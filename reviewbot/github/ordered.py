"""What /debate commands do that need the panel: in a run of the review workflow, by order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from reviewbot.context.brief import Brief
from reviewbot.debate.case import Case, Claim
from reviewbot.debate.panel import Panel, Question
from reviewbot.debate.people import Consultation, questions_about_change, questions_about_claim
from reviewbot.errors import UsageError
from reviewbot.git.change import Change, Location
from reviewbot.github.command import Command, parse
from reviewbot.github.commands import Answer, Request, dismiss_finding, order, respond
from reviewbot.github.fixes import fix, undo
from reviewbot.github.run import Run, finish, make_host, make_review
from reviewbot.github.snapshot import may_write, read_snapshot
from reviewbot.github.state import State, answers_of, state_of
from reviewbot.pipeline import consult
from reviewbot.reports import answers, markdown
from reviewbot.text.markdown import code, inline
from reviewbot.verdict.document import Remembered


def obey_order(run: Run, change: Change) -> int:
    """Do what the comment asks for that ordered this run, if it still does.

    It was written by somebody who may write now, and nobody edited it since.
    """
    job, snapshot, id = run.job, run.snapshot, run.job.event.asked_by
    inline_comments = [comment for thread in snapshot.threads for comment in thread.comments]
    found = [comment for comment in (*snapshot.comments, *inline_comments) if comment.id == id]
    author = found[0].author if found else None
    command = parse(found[0].body) if found and not found[0].is_edited else None
    reason = ""
    if author is None or author.type != "User" or not isinstance(command, Command):
        reason = "the comment is gone, was edited, or is no command"
    elif command.form.runs_in != "review":
        reason = "the command needs no review"
    elif id in answers_of(snapshot):
        reason = "the comment is answered already"
    elif not may_write(run.client, author.login):
        reason = "who wrote the comment may not write to the repository"
    if reason or author is None or not isinstance(command, Command):
        run.runner.say(f"Nothing to do: {reason}.")
        return 0
    request = Request(
        command=command,
        login=author.login,
        snapshot=snapshot,
        state=run.facts.state,
        client=run.client,
        job=job,
    )
    is_inline = found[0] in inline_comments
    exit_code = 0
    try:
        if command.verb in ("review", "full"):
            exit_code, answer = review_again(run, change, request)
        else:
            answer = HANDLERS[command.verb](run, change, request)
    except UsageError as error:
        answer = Answer(words=inline(str(error)))
    respond(run.client, snapshot, id, answer, "rocket", is_inline)
    if answer.has_commits:
        with suppress(UsageError):  # then it is reviewed with the next push
            order(run.client, job)
    if answer.reviews_again:
        state = state_of(read_snapshot(run.client, snapshot.pull.number))
        exit_code = finish(run, change, make_review(run, change, state.memory))
    return exit_code


def review_again(run: Run, change: Change, request: Request) -> tuple[int, Answer]:
    """With a focus, or `full`, panelists read again what they have read."""
    focus, memory = request.command.text, request.state.memory
    if focus or request.command.verb == "full":
        memory = replace(memory, parts={})
    review = make_review(run, change, memory, focus)
    exit_code = finish(run, change, review)
    words = f"{code(review.head_commit[:10])}: {markdown.review_body(review)}"

    def update(state: State) -> State:
        """A review that finds what stood there before leaves the summary as it is."""
        if state.reviews > request.state.reviews:
            return state
        cost = round(state.cost_usd + review.usage.cost_usd, 6)
        return replace(state, reviews=state.reviews + 1, cost_usd=cost)

    return exit_code, Answer(words=words, update=update if review.usage.cost_usd else None)


def ask(run: Run, change: Change, request: Request) -> Answer:
    question = request.command.text

    def questions(briefs: Sequence[Brief], panel: Panel) -> list[Question]:
        return questions_about_change(question, briefs, panel)

    said = _consult(run, change, questions)
    return Answer(words=answers.consultation(said), update=_paid(said))


def dispute(run: Run, change: Change, request: Request) -> Answer:
    """The panel may take back what it raised; what a check reports stands."""
    known, argument = request.finding(), request.command.text
    if known.check or known.status == "proven":
        reason = f"{known.check} reports it" if known.check else "a test shows it"
        return Answer(words=f"{known.id} stands: {inline(reason)}, and words do not change that.")
    case = _case_of(known)

    def questions(briefs: Sequence[Brief], panel: Panel) -> list[Question]:
        return questions_about_claim(case, argument, briefs, panel)

    said = _consult(run, change, questions)
    words, update = answers.consultation(said), _paid(said)
    if not said.withdraws:
        stands = "more than half of the panelists would have to find it not real, citing a line"
        return Answer(words=f"{words}\n\n{known.id} stands: {stands}.", update=update)
    done = dismiss_finding(request, known, "the panel took it back")
    return replace(
        done,
        words=f"{words}\n\n{known.id} is taken back.",
        update=lambda state: update(done.update(state) if done.update else state),
    )


def _consult(
    run: Run,
    change: Change,
    questions: Callable[[Sequence[Brief], Panel], list[Question]],
) -> Consultation:
    said = asyncio.run(consult(change, make_host(run.job, run.repository, None), questions))
    if not said.panelists:
        raise UsageError("No language model is configured, so there is nobody to ask.")
    return said


def _paid(said: Consultation) -> Callable[[State], State]:
    def update(state: State) -> State:
        return replace(state, cost_usd=round(state.cost_usd + said.usage.cost_usd, 6))

    return update


def _case_of(known: Remembered) -> Case:
    """A claim as far as it is remembered."""
    claim = Claim(
        by="",
        location=Location(known.path, known.line, known.line),
        quote=known.text,
        title=known.title,
        category=known.category,
        severity=known.severity,
        trigger="",
        consequence="",
        refuted_if="",
    )
    return Case(id=known.id, claims=(claim,))


HANDLERS: Mapping[str, Callable[[Run, Change, Request], Answer]] = {
    "ask": ask,
    "dispute": dispute,
    "fix": fix,
    "undo": undo,
}
