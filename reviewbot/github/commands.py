"""What /debate commands do.

The job that a comment starts has no keys of models and runs nothing of a change. It answers what it
can, and orders a run of the review workflow for the rest, by two numbers: of the pull request and
of the comment. That run reads both again.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Literal
from urllib.parse import quote

from msgspec import convert
from msgspec.structs import asdict, replace

from reviewbot.config.load import load_settings
from reviewbot.debate.case import Case, Claim
from reviewbot.debate.judge import Consultation, questions_about_change, questions_about_claim
from reviewbot.debate.panel import MakeQuestions
from reviewbot.errors import GitError, UsageError
from reviewbot.fixing import pursue
from reviewbot.git.change import Location
from reviewbot.git.repository import Repository
from reviewbot.github import pulls, steps
from reviewbot.github.activity import Facts, NothingToDo
from reviewbot.github.client import LATER, CallError, Client, GitHubError
from reviewbot.github.command import FORMS, MAX_TEXT, Command, Misunderstood, parse
from reviewbot.github.fixes import fix, open_pull, undo
from reviewbot.github.job import CommentEvent, Job, Runner
from reviewbot.github.plan import WriteComment, close_thread, perform
from reviewbot.github.pulls import Comment, Snapshot, State
from reviewbot.github.steps import Answer, Run
from reviewbot.pipeline import consult, review
from reviewbot.reports import markdown
from reviewbot.reports.text import commit_message
from reviewbot.text.markdown import code, inline
from reviewbot.text.plain import shortened
from reviewbot.verdict.document import Remembered


def obey(job: Job, runner: Runner, client: Client, facts: Facts) -> int:
    """Do what a comment asks for, once, or order it. Who wrote it may write to the repository."""
    comment = job.event.comment
    assert comment.author
    snapshot, issue = facts.snapshot, job.event.issue
    comments = snapshot.comments if snapshot else pulls.read_comments(client, issue)
    answered = pulls.answers_of(comments)
    if comment.id in answered:
        raise NothingToDo("answered", "The comment is answered already.")
    limit = load_settings(job.layers()).settings.github.commands_per_hour
    since, login = datetime.now(UTC) - timedelta(hours=1), comment.author.login
    others = (each for each in comments if each.id != comment.id and each.author == comment.author)
    earlier = filter(lambda each: parse(each.body), others) if issue else answered.values()
    if sum(datetime.fromisoformat(each.created_at) > since for each in earlier) >= limit:
        react(client, comment, "confused")
        words = f"More than {limit} commands in an hour (github.commands_per_hour)."
        raise NothingToDo("too_many_commands", words)
    react(client, comment, "eyes")
    command = parse(comment.body)
    if isinstance(command, Misunderstood):
        respond(client, job, comment, Answer(words=command.words, is_done=False))
        return 0
    assert command

    def act() -> Answer:
        if command.verb in ORDERED:
            steps.order(client, job, comment.id)
            runner.say(f"Ordered a run of {steps.WORKFLOW}.")
            return Answer(words="")
        assert snapshot
        return answer_here(client, snapshot, facts.state, replace(command, login=login))

    return _answer(client, job, comment, act)


def obey_order(run: Run) -> int:
    """Do what the comment asks for that ordered this run, if it still does."""
    snapshot, id = run.snapshot, run.job.event.asked_by
    inline_comments = [comment for thread in snapshot.threads for comment in thread.comments]
    command = _read_order(run.client, (*snapshot.comments, *inline_comments), id, *ORDERED)
    comment = CommentEvent(id=id, is_inline=any(each.id == id for each in inline_comments))
    return _answer(run.client, run.job, comment, partial(ORDERED[command.verb], run, command))


def fix_issue(job: Job, client: Client) -> int:
    """/debate fix on an issue: reproduce what it says (untrusted), fix it, open a pull request."""
    number, id = job.event.issue, job.event.asked_by
    issue = client.read(f"/issues/{number}", "read an issue")
    if issue.get("locked") or "pull_request" in issue:
        raise NothingToDo("locked", "The conversation is locked, or it is a pull request.")
    _read_order(client, pulls.read_comments(client, number), id, "fix")
    return _answer(client, job, CommentEvent(id=id), partial(_fix_issue, job, client, issue))


def _read_order(client: Client, comments: Sequence[Comment], id: int, *verbs: str) -> Command:
    """The command of a comment that somebody wrote who may write now, and nobody edited since.

    Raises NothingToDo if there is none, or if it is answered already.
    """
    comment = next((each for each in comments if each.id == id and not each.last_edited_at), None)
    author, command = (comment.author, parse(comment.body)) if comment else (None, None)
    if author is None or author.type != "User" or not isinstance(command, Command):
        raise NothingToDo("not_a_command", "The comment is gone, was edited, or is no command.")
    if command.verb not in verbs or id in pulls.answers_of(comments):
        raise NothingToDo("answered", "The command needs no such run, or is answered already.")
    if not pulls.may_write(client, author.login):
        words = "Who wrote the comment may not write to the repository."
        raise NothingToDo("missing_permission", words)
    return replace(command, login=author.login)


def _answer(client: Client, job: Job, comment: CommentEvent, act: Callable[[], Answer]) -> int:
    """Do what is asked for, and answer what came of it, or why it does not work."""
    try:
        answer = act()
    except (UsageError, CallError, GitError) as error:
        words = error.with_hint.replace(LATER, "give the command again later")
        answer = Answer(words=inline(words), is_done=False)
    if answer.words:  # without any, another run answers
        respond(client, job, comment, answer)
    return answer.exit_code


def respond(client: Client, job: Job, comment: CommentEvent, answer: Answer) -> None:
    """Keep the new state and have it reviewed, then answer: that says that all of it is done."""
    number = job.event.number or job.event.issue
    if answer.update:
        steps.update_state(client, number, answer.update)
    if answer.reviews_again:
        with suppress(UsageError):  # then it is reviewed with the next push
            steps.order(client, job)
    marker = pulls.ANSWER_MARKER.format(comment=comment.id)
    for action in (*answer.actions, WriteComment(f"{marker}\n{answer.words}")):
        perform(client, number, action)
    react(client, comment, "rocket" if answer.is_done else "confused")


def react(
    client: Client, comment: CommentEvent, content: Literal["eyes", "rocket", "confused"]
) -> None:
    """A reaction is a courtesy: nothing fails for one."""
    with suppress(GitHubError):
        kind = "pulls" if comment.is_inline else "issues"
        path = f"/{kind}/comments/{comment.id}/reactions"
        client.write("POST", path, "react to a comment", {"content": content})


def answer_here(client: Client, snapshot: Snapshot, state: State, command: Command) -> Answer:
    """What asks no model and executes nothing of the change. Raises UsageError."""
    words, update = "", None
    match command.verb:
        case "explain":
            words = _explain(client, state, _find(state, command))
        case "dismiss":
            return dismiss(snapshot, _find(state, command), command.text, command.login)
        case "pause":
            words = "Pushes are reviewed when you ask: `/debate`."
            update = partial(replace, paused_by=command.login)
        case "resume":
            words = "Pushes are reviewed again."
            if state.head != snapshot.pull.head_sha:
                words += " The newest commit is not reviewed yet: `/debate`."
            update = partial(replace, paused_by="", stopped_by="")
        case "stop":
            words = "Nothing more happens here until `/debate resume`."
            update = partial(replace, stopped_by=command.login)
        case "status":
            words = "\n".join(f"- {line}" for line in _status(snapshot, state))
        case "cost":
            reviews = "1 review" if state.reviews == 1 else f"{state.reviews} reviews"
            words = f"{reviews} of this pull request cost ${state.cost_usd:.4f}."
        case "help":
            lines = [f"- `{form.usage}`: {form.help}" for form in FORMS]
            words = "\n".join(["What you can ask for:", "", *lines])
    return Answer(words=words, update=update)


def _find(state: State, command: Command) -> Remembered:
    """The finding that a command names. Raises UsageError."""
    known = {finding.id: finding for finding in state.memory.findings}
    if command.finding not in known:
        ids = ", ".join(sorted(known, key=lambda id: int(id[1:]))) or "none"
        raise UsageError(f"There is no finding {command.finding} here. There is: {ids}.")
    return known[command.finding]


def _status(snapshot: Snapshot, state: State) -> Iterator[str]:
    found = pulls.summaries_of(snapshot)
    where = f": [the summary]({found[0].url})" if found else ""
    yield f"Last reviewed: {code(state.head[:10])}{where}." if state.head else "Not reviewed."
    if state.head and state.head != snapshot.pull.head_sha:
        yield "Newer commits are not reviewed yet."
    if state.paused_by:
        yield f"Paused by {code(state.paused_by)}."
    if state.stopped_by:
        yield f"Stopped by {code(state.stopped_by)}."


def dismiss(
    snapshot: Snapshot, known: Remembered, reason: str, login: str, cost_usd: float = 0
) -> Answer:
    gone = replace(known, dismissed=reason, dismissed_by=login)

    def update(state: State) -> State:
        others = tuple(f for f in state.memory.findings if f.key != known.key)
        memory = replace(state.memory, findings=(*others, gone))
        return replace(state, memory=memory).with_cost(cost_usd)

    threads, said = pulls.threads_of(snapshot), inline(f"Dismissed: {reason}")
    open_ = (own for own in threads if own.key == known.key and not own.is_closed)
    closing = tuple(close_thread(own, said) for own in open_)
    words = f"{known.id} is dismissed and is not reported again: {inline(reason)}"
    return Answer(words=words, update=update, actions=closing, reviews_again=True)


def _explain(client: Client, state: State, known: Remembered) -> str:
    """From the document of a review, or if it is gone, from what the summary keeps."""
    if found := steps.find_debated(client, state, known):
        return markdown.explanation(found)
    title = f"**{known.id} ({known.severity}): {inline(known.title)}**"
    gone = "The document of the review is not kept any more; `/debate full` makes a new one."
    why = f"Dismissed: {known.dismissed}" if known.dismissed else known.reason
    return f"{title}\n\n{inline(why)}\n\n{gone}"


def review_again(run: Run, command: Command) -> Answer:
    """With a focus, or `full`, panelists read again what they have read."""
    focus, memory, reviews = command.text, run.facts.state.memory, run.facts.state.reviews
    if focus or command.verb == "full":
        memory = replace(memory, parts={})
    made = asyncio.run(review(run.change, steps.host_of(run, memory, focus)))
    exit_code, said = steps.finish(run, made)
    words = f"{code(made.head_commit[:10])}: {said}"
    cost = made.usage.cost_usd

    def update(state: State) -> State:
        """A review that finds what stood there before leaves the summary as it is."""
        return state if state.reviews > reviews else state.with_cost(cost, reviews=1)

    return Answer(words=words, update=update if cost else None, exit_code=exit_code)


def ask(run: Run, command: Command) -> Answer:
    named = {f"F{number}" for number in re.findall(r"\b[Ff](\d+)\b", command.text)}
    known = [known for known in run.facts.state.memory.findings if known.id in named]
    said = _consult(run, partial(questions_about_change, command.text, _cases(run, known)))
    update = partial(State.with_cost, cost_usd=said.usage.cost_usd)
    question = inline(shortened(command.text, MAX_TEXT["reason"]))
    return Answer(words=f"> {question}\n\n{markdown.consultation(said)}", update=update)


def dispute(run: Run, command: Command) -> Answer:
    """The panel may take back what it raised; what a check reports stands."""
    known = _find(run.facts.state, command)
    if known.dismissed:
        return Answer(words=f"{known.id} is dismissed: {inline(known.dismissed)}")
    if known.check or known.status == "proven":
        reason = f"{known.check} reports it" if known.check else "a test shows it"
        return Answer(words=f"{known.id} stands: {inline(reason)}, and words do not change that.")
    (case,) = _cases(run, [known])
    said = _consult(run, partial(questions_about_claim, case, command.text))
    words, cost = markdown.consultation(said, about_claim=True), said.usage.cost_usd
    if not said.withdraws:
        stands = "most panelists would have to find it not real, citing a line, and none real"
        update = partial(State.with_cost, cost_usd=cost)
        return Answer(words=f"{words}\n\n{known.id} stands: {stands}.", update=update)
    done = dismiss(run.snapshot, known, "the panel took it back", command.login, cost)
    return replace(done, words=f"{words}\n\n{known.id} is taken back.")


def _cases(run: Run, known: Sequence[Remembered]) -> list[Case]:
    """What was said about findings, where their lines are now."""
    cases = list[Case]()
    for each in known:
        found = steps.find_debated(run.client, run.facts.state, each)
        place = Location(each.path, each.line, each.line)
        unknown = dict.fromkeys(("by", "trigger", "consequence", "refuted_if"), "")
        fields = {**asdict(each), **unknown, "location": place, "quote": each.text}
        claims = (found.claims if found else ()) or (convert(fields, Claim),)
        claims = tuple(replace(claim, location=place) for claim in claims)
        cases.append(Case(id=each.id, claims=claims, proof=found.proof if found else None))
    return cases


ORDERED: Mapping[str, Callable[[Run, Command], Answer]] = {
    "review": review_again,
    "full": review_again,
    "ask": ask,
    "dispute": dispute,
    "fix": fix,
    "undo": undo,
}


def _consult(run: Run, questions: MakeQuestions) -> Consultation:
    host = steps.make_host(run.job, run.repository, None)
    said = asyncio.run(consult(run.change, host, questions))
    if not said.panelists:
        raise UsageError("No language model is configured, so there is nobody to ask.")
    return said


def _fix_issue(job: Job, client: Client, issue: Mapping[str, Any]) -> Answer:
    if job.dry_run:
        raise UsageError("A dry run opens no pull request.")
    if issue.get("state") != "open":
        raise UsageError("The issue is closed", hint="reopen it, then give the command again")
    number, base = issue["number"], job.event.default_branch
    branch = f"reviewbot/issue-{number}"
    path = f"/branches/{quote(base, safe='')}"
    sha = str(client.read(path, "find the default branch")["commit"]["sha"])
    with suppress(CallError):  # there is none
        client.read(f"/branches/{quote(branch, safe='')}", "look for an earlier fix")
        hint = "merge its pull request, or delete the branch"
        raise UsageError(f"there is a branch {branch} already", hint=hint)
    report = f"{issue.get('title') or ''}\n\n{issue.get('body') or ''}"
    with Repository(steps.fetch(job, sha)) as repository:
        change = asyncio.run(repository.load_change(f"{sha}..{sha}"))
        host = replace(steps.make_host(job, repository, None), may_execute=True)
        result = asyncio.run(pursue(None, (), change, host, report))
    cost = f" Cost: ${result.usage.cost_usd:.4f}." if result.usage.cost_usd else ""
    if result.outcome != "fixed":
        return Answer(words=f"{markdown.fixes([result], (), '')}{cost}", is_done=False)
    said = f"By {code(result.author)}: {inline(result.explanation)}" if result.explanation else ""
    listed = [f"- {inline(fact)}" for fact in result.facts]
    body = "\n\n".join(filter(None, [f"Closes #{number}.", *listed, said]))
    commits = [(result.files, *commit_message(result, ()))]
    try:
        url = open_pull(client, commits, branch, base, sha, result.title, body)
    except CallError as error:
        raise UsageError(f"{error}{cost}", hint=error.hint) from error
    facts = inline(" ".join(result.facts))
    return Answer(words=f"It is reproduced and fixed in {url}: {facts}{cost}")
