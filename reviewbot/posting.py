"""Publishing, made safe: what stands there is read again right before, and again after every answer that was lost; nothing is
done twice, and what is refused in one place is told in another.

Which action is worth what, ``publish/plan.py`` says. Here is only what comes of each: done, refused, deferred, unsure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from reviewbot.domain.action import (
    Action,
    Done,
    EditComment,
    PostCheck,
    PostComment,
    PostReview,
    ReplyThread,
    ResolveThread,
    ReviewEvent,
)
from reviewbot.domain.forge import (
    PullState,
    Standing,
)
from reviewbot.errors import (
    DeferredError,
    ForgeError,
    GoneError,
    InvalidError,
    NotAuthorizedError,
    NotPermittedError,
    StaleError,
    UnsureError,
)
from reviewbot.ports.forge import Desk, Forge
from reviewbot.publish import own
from reviewbot.publish.own import OwnThread
from reviewbot.publish.plan import closing, plan, without_lines
from reviewbot.publish.wanted import Wanted

READS = 4
"""How often what stands there is read at most: once, and after three lost answers."""

_OPINION = ("approve", "request changes", "requested changes")
_PENDING = ("pending review",)


class Ending(StrEnum):
    """How publishing ended. ``refused``: the token may not say anything there; ``failed``: the summary was not taken."""

    POSTED = "posted"
    SUPERSEDED = "superseded"
    CLOSED = "closed"
    LOCKED = "locked"
    GONE = "gone"
    REFUSED = "refused"
    DEFERRED = "deferred"
    UNSURE = "unsure"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. ``inline`` counts comments on lines and ``resolved`` closed threads of this run, ``total`` all findings
    that are told. ``done`` are the actions that were done, in order; ``notes`` what was not, in words."""

    ending: Ending
    inline: int = 0
    total: int = 0
    resolved: int = 0
    summary_url: str = ""
    done: tuple[Action, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def fallback(self) -> bool:
        """Nothing says there what was found: the job's own summary and log are the place."""
        return self.ending in (Ending.REFUSED, Ending.DEFERRED, Ending.UNSURE, Ending.FAILED)

    @property
    def exit_code(self) -> int:
        """0 where nothing is left to do here, 3 where a later run must say what this one could not."""
        return 3 if self.ending in (Ending.DEFERRED, Ending.UNSURE, Ending.FAILED) else 0


def post(wanted_of: Callable[[Standing], Wanted], desk: Desk, forge: Forge, *, number: int, head_sha: str) -> Outcome:
    """Bring pull request ``number`` to what is wanted for the head ``head_sha``. Raises NotAuthorizedError where the token is
    none; every other trouble is an ending."""
    run = _Run(forge)
    for _ in range(READS):
        try:
            standing = desk.standing(number)
            own.expect_whole(standing)
            if barred := _barred(standing, head_sha):
                return run.outcome(barred)
            run.settle(plan(run.see(wanted_of(standing), standing), standing))
            return run.outcome(run.ending())
        except UnsureError as exc:
            run.note(exc)
        except NotAuthorizedError:
            raise
        except ForgeError as exc:
            run.note(exc)
            return run.outcome(_END_OF.get(type(exc), Ending.FAILED))
    return run.outcome(Ending.UNSURE)


_END_OF: dict[type[ForgeError], Ending] = {
    StaleError: Ending.SUPERSEDED,
    GoneError: Ending.GONE,
    DeferredError: Ending.DEFERRED,
    NotPermittedError: Ending.REFUSED,
}


def _barred(standing: Standing, head_sha: str) -> Ending | None:
    """Why nothing is to be said there any more."""
    pull = standing.pull
    if pull.state is not PullState.OPEN:
        return Ending.CLOSED
    if pull.head_sha != head_sha:
        return Ending.SUPERSEDED
    if pull.is_locked:
        return Ending.LOCKED
    return Ending.STOPPED if own.memory(standing).stopped else None


class _Run:
    """One publishing under way: what is wanted, what stands there, and what came of each action."""

    def __init__(self, forge: Forge) -> None:
        self._forge = forge
        self._wanted: Wanted | None = None
        self._threads: dict[str, OwnThread] = {}
        self._done: list[Action] = []
        self._notes: dict[str, None] = {}
        self._lost: Action | None = None
        self._url = ""
        self._may_resolve = True
        self._no_lines = False
        self._looked_for_pending = False
        self._unsaid: ForgeError | None = None

    def see(self, wanted: Wanted, standing: Standing) -> Wanted:
        """What is to be planned for. Where the forge took no review, the summary tells all of it."""
        self._threads = {own_thread.thread.node_id: own_thread for own_thread in own.threads(standing)}
        self._url = next((said.url for said in own.summaries(standing)), "")
        self._notes |= dict.fromkeys(wanted.notes)
        self._unsaid = None
        if self._no_lines:
            wanted = replace(wanted, comments=(), event=ReviewEvent.COMMENT, summary=wanted.whole_summary)
        self._wanted = wanted
        return wanted

    def settle(self, planned: tuple[Action, ...]) -> None:
        """Do them in order. Raises UnsureError where what stands there must be read again, and what ends everything."""
        if self._lost is not None and self._lost not in planned:  # it was done: only its answer was lost
            self._done.append(self._lost)
        self._lost = None
        for action in planned:
            match action:
                case PostReview():
                    self._review(action)
                case ResolveThread():
                    self._resolve(action)
                case EditComment() | PostComment():
                    self._summary(action)
                case _:
                    self._attempt(action)

    def note(self, words: object) -> None:
        """Remember a trouble, once."""
        self._notes[str(words)] = None

    def ending(self) -> Ending:
        """How it ended, all actions behind it."""
        if self._unsaid is None:
            return Ending.POSTED
        return Ending.REFUSED if isinstance(self._unsaid, NotPermittedError) else Ending.FAILED

    def outcome(self, ending: Ending) -> Outcome:
        """What came of it."""
        reviews = [action for action in self._done if isinstance(action, PostReview)]
        closed = [action for action in self._done if isinstance(action, ResolveThread | ReplyThread)]
        return Outcome(
            ending,
            inline=sum(len(action.comments) for action in reviews),
            total=len(self._wanted.told) if self._wanted and ending is Ending.POSTED else 0,
            resolved=len(closed),
            summary_url=self._url,
            done=tuple(self._done),
            notes=tuple(self._notes),
        )

    def _review(self, action: PostReview) -> None:
        """The review as it is meant, then as far as the forge takes it: an opinion that it refuses as a comment, lines that it
        refuses as words of the body. What it takes in no way, the summary tells."""
        tried: PostReview | None = action
        while tried is not None:
            refused = self._attempt(tried)
            if refused is None:
                self._no_lines = bool(action.comments) and not tried.comments  # a body may have no room for all
                return
            if _is_about(refused, _PENDING) and not self._looked_for_pending:
                self._looked_for_pending = True
                raise UnsureError("a review that was begun and never submitted stands there")
            tried = _milder(tried, refused, self._wanted)
        self._no_lines = True

    def _resolve(self, action: ResolveThread) -> None:
        """Closed, or answered and folded away where the token may not resolve: once, for the answer bears a marker."""
        if self._may_resolve:
            refused = self._attempt(action)
            self._may_resolve = not isinstance(refused, NotPermittedError)
        if not self._may_resolve and self._wanted:
            for instead in closing(self._wanted, self._threads[action.node_id]):
                self._attempt(instead)

    def _summary(self, action: EditComment | PostComment) -> None:
        if self._no_lines and self._wanted:
            action = replace(action, body=self._wanted.whole_summary)
        try:
            done = self._do(action)
        except _PASSING_BY:
            raise
        except GoneError as exc:
            if isinstance(action, PostComment):
                raise
            raise UnsureError("the summary was deleted meanwhile") from exc
        except ForgeError as exc:
            self.note(exc)
            self._unsaid = exc
            return
        self._url = done.url or self._url

    def _attempt(self, action: Action) -> ForgeError | None:
        """Do it, or say why not: nothing but the summary is worth giving up for."""
        try:
            self._do(action)
        except _PASSING_BY:
            raise
        except GoneError as exc:
            if isinstance(action, PostReview | PostCheck):
                raise
            self.note(exc)
            return exc
        except ForgeError as exc:
            self.note(exc)
            return exc
        return None

    def _do(self, action: Action) -> Done:
        self._lost = action
        try:
            done = self._forge.do(action)
        except UnsureError:
            raise
        except ForgeError:
            self._lost = None
            raise
        self._lost = None
        self._done.append(action)
        return done


_PASSING_BY = (DeferredError, StaleError, UnsureError, NotAuthorizedError)
"""What no single action can answer for."""


def _milder(action: PostReview, refused: ForgeError, wanted: Wanted | None) -> PostReview | None:
    """The same review in a way that the forge may take, ``None`` where there is none. It does not say which line it refused, so
    that all go to the body (``faults.md`` G4)."""
    forbidden = action.event is ReviewEvent.APPROVE and isinstance(refused, NotPermittedError)
    if action.event is not ReviewEvent.COMMENT and (forbidden or _is_about(refused, _OPINION)):
        return replace(action, event=ReviewEvent.COMMENT)
    if wanted is None or not action.comments or not isinstance(refused, InvalidError):
        return None
    return without_lines(action, wanted)


def _is_about(refused: ForgeError, words: tuple[str, ...]) -> bool:
    said = " ".join((str(refused), *getattr(refused, "reasons", ()))).casefold()
    return any(word in said for word in words)
