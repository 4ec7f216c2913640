"""What /debate commands do. A new one is a row of FORMS in command.py and a function here.

The job that a comment starts has no keys of models and runs nothing of a change. It answers what it
can, and orders a run of the review workflow for the rest, by two numbers: of the pull request and
of the comment. That run reads both again.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import requests
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.config.load import load_settings
from reviewbot.errors import UsageError
from reviewbot.github.actions import (
    Action,
    EditComment,
    PostComment,
    ResolveThread,
    perform,
)
from reviewbot.github.activity import Facts, decide
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.command import FORMS, Command, Misunderstood, parse
from reviewbot.github.job import Job, Runner
from reviewbot.github.snapshot import Comment, Snapshot, may_write, read_snapshot
from reviewbot.github.state import (
    SUMMARY,
    State,
    answer_marker,
    answers_of,
    closed_marker,
    encode_state,
    state_of,
    summaries_of,
    threads_of,
    with_state,
)
from reviewbot.reports import answers
from reviewbot.state import read_review
from reviewbot.text.markdown import code, inline
from reviewbot.verdict.document import Remembered, Review

WORKFLOW = "reviewbot-review.yml"
ARTIFACT = "reviewbot-review"
MAX_ARTIFACT = 50_000_000  # bytes
NOT_REVIEWED = "**reviewbot** has not reviewed this pull request yet."


class Request(Struct, frozen=True, kw_only=True):
    """A command, and what it is about. `login` is who wrote it."""

    command: Command
    login: str
    snapshot: Snapshot
    state: State
    client: Client
    job: Job

    def finding(self) -> Remembered:
        """The finding that the command names. Raises UsageError."""
        known = {finding.id: finding for finding in self.state.memory.findings}
        if self.command.finding not in known:
            ids = ", ".join(sorted(known, key=lambda id: int(id[1:]))) or "none"
            raise UsageError(f"There is no finding {self.command.finding} here. There is: {ids}.")
        return known[self.command.finding]


class Answer(Struct, frozen=True, kw_only=True):
    """What is said, in Markdown, and what else is done.

    Attributes:
        update: changes the state, whatever it is by then.
        reviews_again: the summary, the check run and the verdict follow.
        has_commits: the head moved on, and is to be reviewed in a run of its own.
    """

    words: str
    update: Callable[[State], State] | None = None
    actions: tuple[Action, ...] = ()
    reviews_again: bool = False
    has_commits: bool = False


def obey(job: Job, runner: Runner, client: Client, facts: Facts) -> int:
    """Do what a comment asks for, once. Comments of others than writers have no effect."""
    comment = job.event.comment
    assert comment
    assert comment.author
    facts = replace(facts, may_write=may_write(client, comment.author.login))
    if (decision := decide(facts)).activity is None:
        runner.put({"skip_reason": decision.reason})
        runner.say(f"Nothing to do: {decision.words}")
        return 0
    if job.event.issue:
        return obey_on_issue(job, runner, client)
    snapshot = read_snapshot(client, job.event.number)
    state = state_of(snapshot)
    if (decision := decide(replace(facts, snapshot=snapshot, state=state))).activity is None:
        runner.put({"skip_reason": decision.reason})
        runner.say(f"Nothing to do: {decision.words}")
        return 0
    answered = answers_of(snapshot)
    if comment.id in answered:
        runner.say("Nothing to do: the comment is answered already.")
        return 0
    limit = _limit(job)
    if _count_last_hour(answered) >= limit:
        words = f"more than {limit} commands in an hour (github.commands_per_hour)"
        runner.say(f"Nothing to do: {words}.", "warning")
        react(client, comment.id, comment.is_inline, "confused")
        return 0
    react(client, comment.id, comment.is_inline, "eyes")
    command = parse(comment.body)
    assert command
    if isinstance(command, Misunderstood):
        answer = Answer(words=command.words)
        return respond(client, snapshot, comment.id, answer, "confused", comment.is_inline)
    request = Request(
        command=command,
        login=comment.author.login,
        snapshot=snapshot,
        state=state,
        client=client,
        job=job,
    )
    try:
        if command.form.runs_in == "review":
            order(client, job, comment.id)
            runner.say(f"Ordered a run of {WORKFLOW}.")
            return 0
        answer = HANDLERS[command.verb](request)
    except (UsageError, GitHubError) as error:
        if isinstance(error, GitHubError) and error.kind in ("not_authorized", "deferred"):
            raise
        answer = Answer(words=inline(str(error)))
        return respond(client, snapshot, comment.id, answer, "confused", comment.is_inline)
    respond(client, snapshot, comment.id, answer, "rocket", comment.is_inline)
    if answer.reviews_again and state.head:
        with suppress(UsageError):  # then it follows with the next push
            order(client, job)
    return 0


def obey_on_issue(job: Job, runner: Runner, client: Client) -> int:
    """The run of the review workflow reads the issue, and answers."""
    assert job.event.comment
    id = job.event.comment.id
    try:
        order(client, job, id)
    except UsageError as error:
        body = {"body": f"{answer_marker(id)}\n{inline(str(error))}"}
        client.write("POST", f"/issues/{job.event.issue}/comments", "answer on an issue", body)
        react(client, id, is_inline=False, content="confused")
        return 0
    react(client, id, is_inline=False, content="eyes")
    runner.say(f"Ordered a run of {WORKFLOW}.")
    return 0


def respond(
    client: Client,
    snapshot: Snapshot,
    comment_id: int,
    answer: Answer,
    reaction: str,
    is_inline: bool,
) -> int:
    """Keep the new state, then answer: an answer says that all of it is done."""
    number = snapshot.pull.number
    if answer.update:
        update_state(client, number, answer.update)
    for action in answer.actions:
        perform(client, number, action)
    body = f"{answer_marker(comment_id)}\n{answer.words}"
    perform(client, number, PostComment(body))
    react(client, comment_id, is_inline, reaction)
    return 0


def update_state(client: Client, number: int, update: Callable[[State], State]) -> None:
    """Change the state of a pull request, whatever it is by now."""
    snapshot = read_snapshot(client, number)
    state = update(state_of(snapshot))
    if found := summaries_of(snapshot):
        body = with_state(found[0].body, state)
        perform(client, number, EditComment(found[0].id, body))
    else:
        body = f"{SUMMARY}\n{encode_state(state)}\n{NOT_REVIEWED}"
        perform(client, number, PostComment(body))


def react(client: Client, comment_id: int, is_inline: bool, content: str) -> None:
    """A reaction is a courtesy: nothing fails for one."""
    try:
        path = f"/{'pulls' if is_inline else 'issues'}/comments/{comment_id}/reactions"
        client.write("POST", path, "react to a comment", {"content": content})
    except GitHubError as error:
        if error.kind == "not_authorized":
            raise


def order(client: Client, job: Job, comment_id: int | None = None) -> None:
    """Start the review workflow, for a comment if one is given.

    Raises UsageError with what to do if that is not possible.
    """
    inputs = {"comment": str(comment_id or "")}
    if job.event.issue:
        inputs["issue"] = str(job.event.issue)
    else:
        inputs["pull_request"] = str(job.event.number)
    body = {"ref": job.event.default_branch, "inputs": inputs}
    try:
        path = f"/actions/workflows/{WORKFLOW}/dispatches"
        client.write("POST", path, "start the review workflow", body)
    except GitHubError as error:
        if error.kind == "gone":
            hint = "reviewbot init --workflow review"
            raise UsageError(f"There is no workflow {WORKFLOW} here: {hint}.") from error
        if error.kind == "not_permitted":
            raise UsageError("The commands workflow needs actions: write.") from error
        raise


def help_(_: Request) -> Answer:
    lines = [f"- `{form.usage}`: {form.help}" for form in FORMS]
    return Answer(words="\n".join(["What you can ask for:", "", *lines]))


def status(request: Request) -> Answer:
    state = request.state
    found = summaries_of(request.snapshot)
    where = f": [the summary]({found[0].url})" if found else ""
    lines = [f"Last reviewed: {code(state.head[:10])}{where}." if state.head else "Not reviewed."]
    if state.head and state.head != request.snapshot.pull.head_sha:
        lines.append("Newer commits are not reviewed yet.")
    lines += [f"Paused by {code(state.paused_by)}."] if state.paused_by else []
    lines += [f"Stopped by {code(state.stopped_by)}."] if state.stopped_by else []
    return Answer(words="\n".join(f"- {line}" for line in lines))


def cost(request: Request) -> Answer:
    state = request.state
    reviews = "1 review" if state.reviews == 1 else f"{state.reviews} reviews"
    return Answer(words=f"{reviews} of this pull request cost ${state.cost_usd:.4f}.")


def pause(request: Request) -> Answer:
    def update(state: State) -> State:
        return replace(state, paused_by=request.login)

    return Answer(words="Pushes are reviewed when you ask: `/debate`.", update=update)


def resume(request: Request) -> Answer:
    def update(state: State) -> State:
        return replace(state, paused_by="", stopped_by="")

    words = "Pushes are reviewed again."
    if request.state.head != request.snapshot.pull.head_sha:
        words += " The newest commit is not reviewed yet: `/debate`."
    return Answer(words=words, update=update)


def stop(request: Request) -> Answer:
    def update(state: State) -> State:
        return replace(state, stopped_by=request.login)

    return Answer(words="Nothing more happens here until `/debate resume`.", update=update)


def dismiss(request: Request) -> Answer:
    return dismiss_finding(request, request.finding(), request.command.text)


def dismiss_finding(request: Request, known: Remembered, reason: str) -> Answer:
    gone = replace(known, dismissed=reason, dismissed_by=request.login)

    def update(state: State) -> State:
        others = tuple(f for f in state.memory.findings if f.key != known.key)
        return replace(state, memory=replace(state.memory, findings=(*others, gone)))

    reply = f"{closed_marker(known.key)}\n{inline(f'Dismissed: {reason}')}"
    threads = [
        ResolveThread(own.thread.node_id, first.node_id, first.id, reply)
        for own in threads_of(request.snapshot)
        if own.key == known.key and not own.is_closed
        for first in own.thread.comments[:1]
    ]
    words = f"{known.id} is dismissed and is not reported again: {inline(reason)}"
    return Answer(words=words, update=update, actions=tuple(threads), reviews_again=True)


def explain(request: Request) -> Answer:
    """From the document of the review, or if it is gone, from what the summary keeps."""
    known = request.finding()
    review = read_artifact(request.client, request.state.run_id)
    finding = next((f for f in review.findings if f.key == known.key), None) if review else None
    if finding:
        return Answer(words=answers.explanation(finding))
    lines = [
        f"**{known.id} ({known.severity}): {inline(known.title)}**",
        f"{code(f'{known.path}:{known.line}')}: {inline(known.reason)}" if known.path else "",
        inline(known.support),
        "The document of the review is not kept any more; `/debate full` makes a new one.",
    ]
    return Answer(words="\n\n".join(filter(None, lines)))


def read_artifact(client: Client, run_id: int) -> Review | None:
    """The review of a run of the workflow; None if it cannot be had."""
    if not run_id:
        return None
    try:
        path = f"/actions/runs/{run_id}/artifacts"
        found = client.read(path, "find the review of a run", name=ARTIFACT, per_page="1")
        artifact = next(iter(found.get("artifacts") or []), None)
        if not artifact or artifact.get("expired"):
            return None
        url = client.location(f"/actions/artifacts/{artifact['id']}/zip", "download a review")
    except GitHubError:
        return None
    try:
        # It lies on another host, which must not see the token.
        with requests.get(url, timeout=30, stream=True) as response:
            content = response.raw.read(MAX_ARTIFACT, decode_content=True)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            info = archive.getinfo("review.json")
            return read_review(archive.read(info)) if info.file_size < MAX_ARTIFACT else None
    except (requests.RequestException, zipfile.BadZipFile, KeyError, OSError):
        return None


HANDLERS: Mapping[str, Callable[[Request], Answer]] = {
    "explain": explain,
    "dismiss": dismiss,
    "pause": pause,
    "resume": resume,
    "stop": stop,
    "status": status,
    "cost": cost,
    "help": help_,
}


def _limit(job: Job) -> int:
    return load_settings(job.layers()).settings.github.commands_per_hour


def _count_last_hour(answers: Mapping[int, Comment]) -> int:
    since = datetime.now(UTC) - timedelta(hours=1)
    return sum(datetime.fromisoformat(answer.created_at) > since for answer in answers.values())
