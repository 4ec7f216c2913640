"""A ``/debate`` comment, obeyed once: accepted with a reaction, answered in the one status comment, remembered in the summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from reviewbot.domain.action import (
    Action,
    EditComment,
    PostComment,
    React,
    Reaction,
    ResolveThread,
)
from reviewbot.domain.event import SaidComment
from reviewbot.domain.forge import (
    Comment,
    Standing,
)
from reviewbot.domain.history import Fate, Handled, Known, PullMemory
from reviewbot.errors import ForgeError, NotPermittedError, ReviewbotError
from reviewbot.events import command
from reviewbot.events.command import Command, Misunderstood, Verb
from reviewbot.publish import markers, own, plan, replies
from reviewbot.publish.sanitise import code_span
from reviewbot.wiring.github import consulted, pulls, requested, undo
from reviewbot.wiring.github.job import Report
from reviewbot.wiring.github.situation import Hub, Situation

HOUR = 3_600


@dataclass(frozen=True, slots=True)
class Asked:
    """A command, where it was said, and the forge."""

    at: Situation
    hub: Hub
    order: Command


Change = Callable[[PullMemory], PullMemory]


def _as_it_is(memory: PullMemory) -> PullMemory:
    return memory


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command came to: safe Markdown, what it changes in what is remembered, and the report of a review it made."""

    text: str
    change: Change = _as_it_is
    done: bool = True
    report: Report = Report()


def obey(at: Situation, hub: Hub, *, commands_per_hour: int) -> Report:
    """Do what the comment asks for. Raises ForgeError where not even an answer can be given."""
    said, standing = at.job.event.comment, at.standing
    assert said is not None
    assert standing is not None
    if at.memory.has_handled(said.id):
        return Report(skip_reason="duplicate_delivery")
    if at.memory.handled_since(int(at.job.now) - HOUR) >= commands_per_hour:
        return _over(said, hub)
    _react(hub, said, Reaction.EYES)
    reply = _reply(at, hub, said)
    _remember(at, hub, reply)
    _answer(at, hub, reply)
    _react(hub, said, Reaction.ROCKET if reply.done else Reaction.CONFUSED)
    return reply.report


def _over(said: SaidComment, hub: Hub) -> Report:
    _react(hub, said, Reaction.CONFUSED)
    notice = "too many commands on this pull request within an hour: this one is not done"
    return Report(skip_reason="too_many_commands", notices=(notice,))


def _reply(at: Situation, hub: Hub, said: SaidComment) -> Reply:
    """The handler's reply. What fails is told to who asked, and the run goes on to say so."""
    order = command.read(said.body)
    if isinstance(order, Misunderstood):
        return Reply(replies.refused(order.why), done=False)
    assert order is not None
    try:
        return _HANDLERS[order.verb](Asked(at, hub, order))
    except ForgeError:
        raise
    except ReviewbotError as exc:
        return Reply(replies.failed(str(exc)), done=False)


def _review(asked: Asked) -> Reply:
    """Review now, in spite of a pause; a focus directs attention and nothing else."""
    whole = asked.order.verb is Verb.FULL or bool(asked.order.text)
    report = pulls.review(asked.at, asked.hub, focus=asked.order.text, whole=whole)
    return Reply(report.told, report=report)


def _explain(asked: Asked) -> Reply:
    return Reply(consulted.explanation(asked.at, asked.hub, asked.order.findings[0]))


def _ask(asked: Asked) -> Reply:
    answer = consulted.ask(asked.at, asked.hub, asked.order.text)
    return Reply(answer.text, answer.remembered)


def _dispute(asked: Asked) -> Reply:
    known = _known(asked)
    if known is None:
        return _not_known(asked)
    if known.fate is not Fate.OPEN:
        return Reply(replies.settled(known), done=False)
    answer = consulted.dispute(asked.at, asked.hub, known, argument=asked.order.text)
    return Reply(answer.text, answer.remembered)


def _dismiss(asked: Asked) -> Reply:
    known = _known(asked)
    if known is None:
        return _not_known(asked)
    gone = replace(known, fate=Fate.DISMISSED, reason=asked.order.text, by=_who(asked.at))
    mark = markers.token(known.fingerprint)
    told = tuple(thread for thread in _open(asked.at.standing) if thread.mark.fingerprint == mark)
    _resolve(asked, told, f"Dismissed by {code_span(gone.by)}.")
    return Reply(replies.dismissed(gone), lambda memory: memory.with_known(gone))


def _resolve_all(asked: Asked) -> Reply:
    threads = _open(asked.at.standing)
    closed = _resolve(asked, threads, f"Closed by {code_span(_who(asked.at))}.")
    return Reply(f"{closed} of {len(threads)} open threads are closed.", done=closed == len(threads))


def _pause(asked: Asked) -> Reply:
    words = "Paused: pushes are not reviewed by themselves until somebody says to resume. A command still is obeyed."
    return Reply(words, lambda memory: replace(memory, paused_by=_who(asked.at)))


def _resume(asked: Asked) -> Reply:
    del asked
    return Reply("Resumed: the next push is reviewed.", lambda memory: replace(memory, paused_by="", paused_at="", stopped=False))


def _stop(asked: Asked) -> Reply:
    del asked
    words = "Stopped: nothing is done on this pull request until somebody says to resume."
    return Reply(words, lambda memory: replace(memory, stopped=True))


def _status(asked: Asked) -> Reply:
    return Reply(replies.status(asked.at.memory))


def _cost(asked: Asked) -> Reply:
    return Reply(replies.cost(asked.at.memory))


def _config(asked: Asked) -> Reply:
    return Reply(replies.configuration(consulted.configured(asked.at, asked.hub)))


def _help(asked: Asked) -> Reply:
    del asked
    return Reply(command.help_text())


def _fix(asked: Asked) -> Reply:
    return _reply_of(requested.fix(asked.at, asked.hub, asked.order))


def _undo(asked: Asked) -> Reply:
    return _reply_of(undo.undo(asked.at, asked.hub, by=_who(asked.at)))


def _reply_of(answer: requested.Answered) -> Reply:
    return Reply(answer.text, answer.change or _as_it_is, answer.done, answer.report)


_HANDLERS: Mapping[Verb, Callable[[Asked], Reply]] = MappingProxyType(
    {
        Verb.REVIEW: _review,
        Verb.FULL: _review,
        Verb.FIX: _fix,
        Verb.EXPLAIN: _explain,
        Verb.DISMISS: _dismiss,
        Verb.ASK: _ask,
        Verb.DISPUTE: _dispute,
        Verb.UNDO: _undo,
        Verb.RESOLVE: _resolve_all,
        Verb.PAUSE: _pause,
        Verb.RESUME: _resume,
        Verb.STOP: _stop,
        Verb.STATUS: _status,
        Verb.COST: _cost,
        Verb.CONFIG: _config,
        Verb.HELP: _help,
    }
)


def _known(asked: Asked) -> Known | None:
    return next((known for known in asked.at.memory.history.findings if known.id == asked.order.findings[0]), None)


def _not_known(asked: Asked) -> Reply:
    return Reply(replies.unknown(asked.order.findings[0], asked.at.memory.history.findings), done=False)


def _who(at: Situation) -> str:
    said = at.job.event.comment
    return said.author.login if said and said.author else "somebody"


def _open(standing: Standing | None) -> tuple[own.OwnThread, ...]:
    return tuple(own.open_threads(standing).values()) if standing else ()


def _resolve(asked: Asked, threads: tuple[own.OwnThread, ...], words: str) -> int:
    """How many of the threads could be closed: resolved, or folded away and answered where the token may not resolve."""
    return sum(_closed(asked, thread, words) for thread in threads)


def _closed(asked: Asked, thread: own.OwnThread, words: str) -> bool:
    assert asked.at.standing is not None
    try:
        asked.hub.do(ResolveThread(thread.thread.node_id))
    except NotPermittedError:
        done = [_done(asked.hub, action) for action in plan.folded(asked.at.standing.pull.number, thread, words)]
        return all(done)
    except ForgeError:
        return False
    return True


def _done(hub: Hub, action: Action) -> bool:
    try:
        hub.do(action)
    except ForgeError:
        return False
    return True


def _react(hub: Hub, said: SaidComment, reaction: Reaction) -> None:
    """A reaction is a courtesy: where it cannot be given, the answer says it all."""
    try:
        hub.do(React(said.id, reaction, inline=said.inline))
    except ForgeError:
        return


def _remember(at: Situation, hub: Hub, reply: Reply) -> None:
    """The memory in the summary, changed as it stands there now: a review may have written it meanwhile."""
    said, standing = at.job.event.comment, at.standing
    assert said is not None
    assert standing is not None
    now = hub.standing(standing.pull.number)
    changed = reply.change(own.memory(now))
    memory = replace(changed, handled=(*changed.handled, Handled(said.id, int(at.job.now))))
    for action in plan.remembering(memory, now):
        hub.do(action)


def _answer(at: Situation, hub: Hub, reply: Reply) -> None:
    """One status comment, edited in place."""
    said, standing = at.job.event.comment, at.standing
    assert said is not None
    assert standing is not None
    body = replies.page(said.body.strip().split("\n")[0], _who(at), reply.text)
    mine = next((found for found in standing.comments if _is_status(found)), None)
    hub.do(EditComment(mine.id, body) if mine else PostComment(standing.pull.number, body))


def _is_status(comment: Comment) -> bool:
    return comment.is_own and markers.first_line(comment.body) == markers.STATUS
