"""What people and other programs said about a pull request, for whoever reviews it: claims of others, never evidence.

Each kind of words has room of its own, so that nobody's flood takes the place of somebody else's words. What is left out is
counted. Our own words are none of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from reviewbot.domain.event import Source, Told
from reviewbot.domain.forge import (
    Author,
    CheckState,
    Comment,
    Commit,
    Issue,
    Standing,
    Thread,
)
from reviewbot.screen import shown

OWN = "<!-- reviewbot:"
"""How every body of ours begins. Other programs may write as the same bot as we do."""

ROOM: Mapping[Source, int] = MappingProxyType(
    {
        Source.DESCRIPTION: 6_000,
        Source.COMMIT: 5_000,
        Source.ISSUE: 5_000,
        Source.THREAD: 6_000,
        Source.CI: 2_000,
    }
)
"""Characters of all words of a kind: some 7,000 tokens together, a fourth of a portion [design]."""
EACH: Mapping[Source, int] = MappingProxyType({Source.COMMIT: 1_000, Source.ISSUE: 2_500, Source.THREAD: 2_000})
"""Characters of one commit's message, one issue, one thread."""
MOST_COMMITS = 50
FIRST_COMMENTS, LAST_COMMENTS = 1, 5
"""Of a long thread: what began it, and how it stands."""
MOST_COMMENT = 1_000
MOST_NAME = 200
LONGEST_BODY = 100_000
"""Characters of a body that are looked at; GitHub takes 65,536."""

_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
"""What a page does not show: templates' hints, the memory of bots, and words that only a model would read."""
_GAPS = re.compile(r"\n(?:[ \t]*\n){2,}")


def told(standing: Standing, *, own_checks: Collection[str] = ()) -> tuple[Told, ...]:
    """The description, commit messages, linked issues, open threads of others, and how the head's checks ended. ``own_checks``
    are names of checks that we made."""
    pull = standing.pull
    description = _one(Source.DESCRIPTION, f"description by {_login(pull.author)}", _words(pull.body))
    newest = [commit for commit in reversed(standing.commits) if commit.message.strip()]
    commits = _within(Source.COMMIT, map(_commit, newest[:MOST_COMMITS]), of=len(newest), what="older commits")
    threads = _open(standing.threads)
    return (
        *description,
        *_oldest_first(commits),
        *_within(Source.ISSUE, map(_issue, standing.issues), of=len(standing.issues), what="issues"),
        *_within(Source.THREAD, map(_thread, threads), of=len(threads), what="open threads"),
        *_checks(check for check in standing.checks if check.name not in own_checks),
    )


def is_ours(comment: Comment) -> bool:
    """We wrote it: as ourselves, and with a marker of ours."""
    return comment.is_own and comment.body.startswith(OWN)


def _one(source: Source, who: str, text: str) -> Iterator[Told]:
    if text:
        yield Told(source, cut(shown.text(who), MOST_NAME), cut(text, EACH.get(source, ROOM[source] - MOST_NAME)))


def _within(source: Source, items: Iterable[Iterator[Told]], *, of: int, what: str) -> tuple[Told, ...]:
    """The first of ``items`` that fit, each at most one, and how many of so many are left out. No more are read than it takes."""
    left, read = ROOM[source], 0
    kept: list[Told] = []
    for item in items:
        told = list(item)
        left -= sum(len(one.who) + len(one.text) for one in told)
        if left < 0:
            break
        kept += told
        read += 1
    missing = (Told(source, "left out", f"{of - read} more {what}"),) if read < of else ()
    return (*kept, *missing)


def _oldest_first(commits: tuple[Told, ...]) -> tuple[Told, ...]:
    """In the order in which they were made; the older ones are the ones that are left out."""
    return tuple(reversed(commits))


def _commit(commit: Commit) -> Iterator[Told]:
    return _one(Source.COMMIT, f"commit {commit.sha[:12]} by {commit.author}", _words(commit.message))


def _issue(issue: Issue) -> Iterator[Told]:
    return _one(Source.ISSUE, f"issue #{issue.number}", "\n".join(filter(None, (_words(issue.title), _words(issue.body)))))


def _open(threads: Iterable[Thread]) -> list[Thread]:
    """Open threads that others began, the last touched first, those about lines that are gone at the end."""
    others = (thread for thread in threads if not thread.is_resolved and thread.comments and not is_ours(thread.comments[0]))
    return sorted(
        sorted(others, key=lambda thread: thread.comments[-1].created_at, reverse=True), key=lambda thread: thread.is_outdated
    )


def _thread(thread: Thread) -> Iterator[Told]:
    said = [comment for comment in thread.comments if not (is_ours(comment) or comment.is_minimized)]
    more = len(said) - FIRST_COMMENTS - LAST_COMMENTS
    shortened = [*said[:FIRST_COMMENTS], *said[-LAST_COMMENTS:]] if more > 0 else said
    lines = [line for comment in shortened for line in _comment(comment)]
    if more > 0 and len(lines) > FIRST_COMMENTS:
        lines.insert(FIRST_COMMENTS, f"({more} more comments)")
    line = "" if thread.line is None else f":{thread.line}"
    outdated = ", about lines that changed since" if thread.is_outdated else ""
    return _one(Source.THREAD, f"open thread at {thread.path}{line}{outdated}", "\n".join(lines))


def _comment(comment: Comment) -> Iterator[str]:
    """Who says what. Further lines are indented: they cannot be taken for somebody else's."""
    if words := cut(_words(comment.body), MOST_COMMENT):
        yield f"{_login(comment.author)}: {words}".replace("\n", "\n  ")


def _checks(checks: Iterable[CheckState]) -> Iterator[Told]:
    """How they ended, those that did not end well first."""
    ordered = sorted(checks, key=lambda check: (not check.is_red, check.conclusion is not None, check.name))
    left, lines = ROOM[Source.CI] - MOST_NAME, []
    for number, check in enumerate(ordered):
        line = _check(check)
        left -= len(line) + 1
        if left < 0:
            red = sum(one.is_red for one in ordered[number:])
            lines.append(f"{len(ordered) - number} more checks, {red} of them failed")
            break
        lines.append(line)
    return _one(Source.CI, "checks of the head commit", "\n".join(lines))


def _check(check: CheckState) -> str:
    name = shown.text(f"{check.name} ({check.title})" if check.title and check.is_red else check.name)
    return f"{check.conclusion or 'not ended'}: {cut(name, MOST_NAME)}".replace("\n", " ")


def _login(author: Author | None) -> str:
    return author.login if author else "a deleted account"


def _words(body: str) -> str:
    """A body without what a page does not show. Screened here, before any cut: half a secret is not known as one."""
    text = _HIDDEN.sub("", body[:LONGEST_BODY].replace("\r\n", "\n"))
    return _GAPS.sub("\n\n", shown.text(text)).strip()


def cut(text: str, most: int) -> str:
    """At most ``most`` characters, and how many are missing."""
    return text if len(text) <= most else f"{text[:most]} … [{len(text) - most} more characters left out]"
