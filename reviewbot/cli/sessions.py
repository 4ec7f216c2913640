"""Past reviews: each that ended is a file of the state, those with models are in the ledger too."""

import json
import os
from collections.abc import AsyncIterator, Container, Iterator, Mapping
from contextlib import asynccontextmanager, closing, suppress
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.cli.host import find_root, make_host, open_repository, open_state, read_layers
from reviewbot.cli.review import format_option
from reviewbot.cli.terminal import Group, deliver, output_option, say, state_option, style_for
from reviewbot.config.dismissals import DISMISSALS
from reviewbot.config.load import flag_layer, load_settings
from reviewbot.debate import prompts
from reviewbot.debate.case import Case, Position
from reviewbot.debate.reader import Judgement
from reviewbot.errors import GitError, ReviewbotError, UsageError
from reviewbot.journal import Journal
from reviewbot.llm.client import Totals
from reviewbot.llm.prices import DOLLAR
from reviewbot.llm.provider import ModelReply, ModelRequest, ToolCall, Usage
from reviewbot.llm.providers.replay import RecordedAnswer, Recording, Replay
from reviewbot.pipeline import review as make_review
from reviewbot.reports import render, words
from reviewbot.state import State, load_dismissals, read_review
from reviewbot.store.database import FILE, Store, open_store
from reviewbot.store.sessions import Record, Session, list_sessions, load_session, prune_sessions
from reviewbot.text.secrets import redact, safe, safe_lines
from reviewbot.verdict.calibration import truth_of
from reviewbot.verdict.document import Review

FORMS = ("chat", "preferences")


def read_turns(record: Record) -> Iterator[tuple[ModelRequest, ModelReply | None]]:
    """Each question, and its answer unless the call failed. Raises ReviewbotError."""
    for turn in record.turns:
        try:
            # msgspec's decoder refuses lone surrogates, which models do write.
            reply = msgspec.convert(json.loads(turn.reply), ModelReply) if turn.reply else None
            yield msgspec.convert(json.loads(turn.request), ModelRequest), reply
        except ValueError as error:
            message = f"{turn.phase} of session {record.session.id} cannot be read: {error}"
            hint = "another version of reviewbot wrote it, or the ledger is damaged"
            raise ReviewbotError(message, hint=hint) from error


def transcript(record: Record) -> Iterator[str]:
    """Lines for a terminal. What several questions begin with is shown once."""
    shown: set[str] = set()
    for turn, (request, reply) in zip(record.turns, read_turns(record), strict=True):
        who = f"{turn.provider}:{turn.model}"
        if request.prefix not in shown:
            shown.add(request.prefix)
            yield from _block("What the questions below begin with", request.prefix)
        yield from _block(f"{turn.phase} asks {who}", request.news)
        if reply:
            yield from _block(f"{who} answers {turn.phase}", reply.said)
        else:
            yield from _block(f"{who} gives {turn.phase} no answer", turn.message)


def tried(record: Record) -> Iterator[str]:
    """Lines about what was tried for each task of a fix."""
    for trial in record.trials:
        yield from _block(f"{trial.task}: {trial.outcome} ({trial.author})", trial.reasons)
        if trial.diff:
            yield from _block(trial.title, trial.diff)


def _block(title: str, text: str) -> Iterator[str]:
    yield safe(f"── {title}")
    yield from (f"│ {line}" for line in safe_lines(text))


def chat_lines(record: Record) -> Iterator[str]:
    """A conversation for each usable reply. Calls of tools are messages in OpenAI's form."""
    for turn, (request, reply) in zip(record.turns, read_turns(record), strict=True):
        if reply is None or turn.state == "rejected":
            continue
        messages = [_message("user", f"{request.prefix}\n\n{request.question}")]
        for step in request.turns:
            messages.append(_message("assistant", "", step.calls))
            for call, result in step.pairs:
                messages.append(_message("tool", result) | {"tool_call_id": call.id})
        messages.append(_message("assistant", reply.text, reply.calls))
        tools = [{"type": "function", "function": msgspec.to_builtins(t)} for t in request.tools]
        yield json.dumps({"messages": messages} | ({"tools": tools} if tools else {}))


def _message(role: str, text: str, calls: tuple[ToolCall, ...] = ()) -> dict[str, Any]:
    named = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
        for call in calls
        for arguments in [redact(call.arguments)[0]]
    ]
    return {"role": role, "content": redact(text)[0], **({"tool_calls": named} if named else {})}


def preference_lines(record: Record, dismissed: Container[str]) -> Iterator[str]:
    """For each case that was settled, right judgements against wrong ones.

    The prompt asks about one case, though several may be judged at once. `dismissed` are keys.
    """
    review = read_review(record.session.review)
    for finding in review.findings if review else ():
        truth = truth_of(finding, dismissed)
        if truth is None or not finding.claims:
            continue
        title = prompts.quoted(finding.claims[0].title)
        prefix = next((r.prefix for r, _ in read_turns(record) if title in r.question), "")
        case = Case(id="C1", claims=finding.claims, proof=finding.proof)
        question = prompts.render("cross_examination", cases=[case], known=())
        prompt = redact(f"{prefix}\n\n{question}")[0]
        last = {p.panelist: p for p in sorted(finding.positions, key=lambda p: p.round)}
        right = [p for p in last.values() if p.stance == truth]
        wrong = [p for p in last.values() if p.stance not in (truth, "unsure")]
        for chosen, rejected in product(right, wrong):
            answers = {"chosen": _answer(chosen), "rejected": _answer(rejected)}
            yield json.dumps({"prompt": prompt, **answers})


def _answer(position: Position) -> str:
    judgement = msgspec.convert({"case": "C1", **msgspec.to_builtins(position)}, Judgement)
    return redact(msgspec.json.encode({"judgements": [judgement]}).decode())[0]


@click.group(cls=Group, invoke_without_command=True)
@state_option
@click.pass_context
def command(ctx: click.Context, state: Path | None) -> None:
    """List, show, replay, export or remove past reviews. Without a command, they are listed."""
    ctx.obj = state


@command.command("list")
async def list_() -> None:
    """List past reviews, the newest first."""
    async with open_past() as past:
        rows = past.rows()
    if not rows:
        say("reviewbot: there is no review yet")
    deliver("\n".join(rows))


@command.command
@click.argument("id", default="")
@format_option
async def show(id: str, format: str) -> None:
    """Show a review again, by default the newest. With -v, also what models were asked."""
    async with open_past() as past:
        review, record = past.find(id)
    style = style_for()
    parts = [render(review, format, style)] if review else []
    if record and not review and record.session.review.strip("{}"):  # a negotiation or a chat
        with suppress(msgspec.MsgspecError):
            lines = msgspec.json.format(record.session.review).split("\n")
            parts.append("\n".join(map(safe, lines)))
    if record and format == "text":
        blocks = (tried(record), transcript(record) if style.verbose else ())
        parts += filter(None, map("\n".join, blocks))
    if not parts:
        hint = f"reviewbot sessions show {id} -v shows what models were asked"
        raise UsageError(f"review {id} did not end, or cannot be read", hint=hint)
    deliver("\n\n".join(parts))


@command.command
@click.argument("id")
@format_option
async def replay(id: str, format: str) -> None:
    """Make a review again from the answers that models gave. Nobody is asked."""
    async with open_past() as past:
        _, record = past.find(id)
    if record is None or not record.turns or record.session.subject.kind != "review":
        hint = "reviewbot sessions lists others"
        raise UsageError(f"{id} is no review with recorded answers of models", hint=hint)
    subject, turns = record.session.subject, [*read_turns(record)]
    if not subject.head_commit:
        message = f"review {record.session.id} is about changes that were not committed"
        raise UsageError(message, hint="replay the review of a commit: reviewbot sessions")
    # A question without an answer is an absence.
    entries = (RecordedAnswer(label=r.label, answer=a.text) for r, a in turns if a and not a.calls)
    answers = Replay(Recording(entries=tuple(entries)))
    most = flag_layer({"limits.cost_usd": 10_000})  # what was paid needs no cap
    with open_repository() as repository:
        commits = f"{subject.base_commit or subject.base_tree}..{subject.head_commit}"
        change = await repository.load_change(commits)
        host = replace(
            make_host(repository, past.state, os.environ, most),
            journal=Journal(),  # another replay may have other answers to the same questions
            providers={agent.provider: answers for agent in record.agents},
            panelists={agent.name: f"{agent.provider}:{agent.model}" for agent in record.agents},
        )
        result = await make_review(replace(change, target=subject.target), host)
    cost = sum(turn.cost for turn in record.turns) / DOLLAR
    used = [reply.usage or Usage() for _, reply in turns if reply]
    names = ("input_tokens", "cached_input_tokens", "output_tokens")
    tokens = {name: sum(getattr(usage, name) for usage in used) for name in names}
    usage = Totals(recorded_calls=len(used), cost_usd=cost, saved_usd=cost, **tokens)
    deliver(render(replace(result, usage=usage), format, style_for()))


@command.command
@click.argument("ids", nargs=-1, metavar="[ID…]")
@click.option("--format", type=click.Choice(FORMS), default=FORMS[0], help="What a line is.")
@output_option("-o", "--output", help="Write the lines to FILE.")
async def export(ids: tuple[str, ...], format: str, output: Path | None) -> None:
    """Export answers of models for fine-tuning: JSON lines, without secrets.

    Of all reviews, or of those with an ID. A line is a conversation (chat), or a right and a wrong
    judgement of the same claim (preferences).
    """
    lines: dict[str, None] = {}  # reviews share what was asked once
    async with open_past() as past:
        files = (past.state.dismissals, (await find_root() or Path()) / DISMISSALS)
        dismissed = {key for file in files for key in load_dismissals(file)}
        for _, record in map(past.find, ids or past.sessions):
            if record:
                pairs = preference_lines(record, dismissed)
                lines |= dict.fromkeys(chat_lines(record) if format == "chat" else pairs)
    deliver("\n".join(lines), output)
    say(f"reviewbot: exported lines: {len(lines)}")


@command.command
async def prune() -> None:
    """Remove all past reviews, recorded results and answers of models. Dismissals stay."""
    async with open_past() as past:
        count = len(past.rows())
        for project in {session.subject.project for session in past.sessions.values()}:
            assert past.store
            past.store.run(prune_sessions, project)
        past.state.prune()
    async with open_past() as past:
        count -= len(past.rows())  # one that runs stays
    say(f"reviewbot: removed reviews: {count}, and recorded results, from {past.state.folder}")


class Past(Struct, frozen=True):
    """Past reviews; `sessions` are those in the ledger, the newest first.

    They have a number as their id, the others a time.
    """

    state: State
    store: Store | None = None
    sessions: Mapping[str, Session] = {}

    def rows(self) -> list[str]:
        """A line for each review, the newest first."""
        rows, in_ledger = [], []
        for id, session in self.sessions.items():
            review, about, state = read_review(session.review), session.subject, session.state
            in_ledger.append(review)
            headline = words.headline(review) if review else f"{about.kind.capitalize()} {state}"
            time = datetime.fromisoformat(session.started)
            rows.append((time, id, headline, f"{about.target} {about.title}"))
        for id in self.state.ids():
            review = self.state.load(id)
            if review and review not in in_ledger:
                time = datetime.strptime(id, "%Y%m%d-%H%M%S-%f").replace(tzinfo=UTC)
                rows.append((time, id, words.headline(review), f"{review.target} {review.title}"))
        return [
            safe(f"{id}  {time.astimezone():%Y-%m-%d %H:%M}  {headline}  {about}")
            for time, id, headline, about in sorted(rows, reverse=True)
        ]

    def find(self, id: str) -> tuple[Review | None, Record | None]:
        """A review by its id, or else the newest, and what the ledger has of it.

        Raises UsageError. There is no review if it did not end, or is a fix, a chat or the like.
        """
        review, id = None, id or ("" if self.state.ids() else next(iter(self.sessions), ""))
        if id not in self.sessions:
            review = self.state.load(id) if id else self.state.newest()
            if review is None:
                message = f"there is no review {id} that can be read"
                raise UsageError(message, hint="reviewbot sessions")
            found = (s for s in self.sessions if read_review(self.sessions[s].review) == review)
            id = next(found, "")
        if self.store is None or not id:
            return review, None
        return read_review(self.sessions[id].review), self.store.run(load_session, int(id))


@asynccontextmanager
async def open_past() -> AsyncIterator[Past]:
    """Those in the folder that the command names. Raises ReviewbotError."""
    state = await open_state(click.get_current_context().obj)
    url = load_settings(read_layers(os.environ)).settings.store.url
    if not url and not (state.folder / FILE).exists():
        yield Past(state)
        return
    project = ""  # others may use a URL too; the ledger of the state is all of this repository
    with open_repository() as repository, suppress(GitError):
        project = await repository.name() if url else ""
    with closing(open_store(url, state.folder)) as store:
        found = store.run(list_sessions, project)
        mine = {str(s.id): s for s in found if not url or s.subject.project == project}
        yield Past(state, store, mine)
