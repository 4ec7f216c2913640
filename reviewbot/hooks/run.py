"""The hooks at work: review the index before a commit, and what a push brings.

Their exit code is 1 for findings that stop git, 3 if something was not reviewed, else 0; whether 3
stops git is up to the caller.
"""

import time
from collections.abc import AsyncIterator, Callable, Mapping

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.config.load import flag_layer
from reviewbot.config.settings import CheckSettings
from reviewbot.errors import GitError, ReviewbotError, UsageError
from reviewbot.git.fetch import COMMIT
from reviewbot.git.place import Place
from reviewbot.git.repository import Repository, find_commits
from reviewbot.pipeline import review
from reviewbot.reports import render
from reviewbot.services import Host, read_base
from reviewbot.severity import Threshold, reaches
from reviewbot.state import State
from reviewbot.verdict.document import Review

Say = Callable[[str], None]
# What needs half of the time of a commit hook, and can wait for the push.
SLOW_CHECK_OFF = CheckSettings(name="public-api", off=True)
PUSH_SECONDS = 60
# These are about commits and hold no code.
WITHOUT_CODE = ("refs/notes/", "refs/replace/")


class PushedRef(Struct, frozen=True):
    """A ref of the remote. `old` and `new` are revisions, "" where there is none."""

    name: str
    new: str
    old: str


async def review_commit(host: Host, repository: Repository, state: State, say: Say) -> int:
    """Review the index without running anything of it. Raises ReviewbotError."""
    change = await repository.load_change(kind="staged")
    if change.base_tree == change.head_tree:
        say("reviewbot: nothing is staged")
        return 0
    change = replace(change, is_whole=not change.base_commit)
    settings = (await read_base(change, host))[0].settings
    checks = msgspec.to_builtins((*settings.checks, SLOW_CHECK_OFF))
    layers = (*host.layers, flag_layer({"checks": checks}))
    result = await review(change, replace(host, layers=layers, may_execute=False, providers={}))
    state.save(result)
    return _report(result, "commit", settings.hooks.commit, say)


async def review_push(
    host: Host, repository: Repository, state: State, refs: list[PushedRef], remote: str, say: Say
) -> int:
    """Review what is new in each ref, up to the first that stops git. Raises ReviewbotError."""
    ends_at = time.monotonic() + PUSH_SECONDS
    codes = {0}
    async for name, revision in find_ranges(refs, remote, await repository.place()):
        if not revision:
            say(f"reviewbot: {name} brings nothing new")
            continue
        base, _, head = revision.partition("..")
        say(f"reviewbot: reviewing {name} ({base[:10]}..{head[:10]})")
        try:
            codes.add(await _review_range(revision, host, repository, state, say, ends_at))
            if 1 in codes:  # nothing is pushed, and `explain` shows the last review
                return 1
        except ReviewbotError as error:
            say(f"NOT REVIEWED: {error.with_hint}")
            codes.add(ReviewbotError.exit_code)
    return max(codes)


def read_refs(stdin: str) -> list[PushedRef]:
    """The lines that git gives to a pre-push hook, see githooks(5). Raises UsageError.

    The first word is what the user typed, and may contain spaces.
    """
    refs = []
    for line in stdin.splitlines():
        words = line.rsplit(" ", 3)
        if len(words) != 4 or not (COMMIT.fullmatch(words[1]) and COMMIT.fullmatch(words[3])):
            raise UsageError("standard input is not what git tells a pre-push hook")
        new, old = (word if word.strip("0") else "" for word in (words[1], words[3]))
        refs.append(PushedRef(words[2], new, old))
    return refs


def refs_of_framework(variables: Mapping[str, str]) -> list[PushedRef]:
    """The ref that pre-commit tells its hooks in variables, or else the current commit."""
    new = variables.get("PRE_COMMIT_TO_REF") or variables.get("PRE_COMMIT_LOCAL_BRANCH") or "HEAD"
    name = variables.get("PRE_COMMIT_REMOTE_BRANCH") or "HEAD"
    return [PushedRef(name, new, variables.get("PRE_COMMIT_FROM_REF", ""))]


async def find_ranges(
    refs: list[PushedRef], remote: str, place: Place
) -> AsyncIterator[tuple[str, str]]:
    """The name of each ref and what to review for it: A..B, or "" if it brings nothing new.

    A range begins at the best commit that the new one has in common with all that is known of the
    remote, and with refs before it. So neither a rebase nor a merge brings the work of others.
    Raises GitError.
    """
    git = place.reviewed
    remotes = ("for-each-ref", "--format=%(objectname)")
    tips = await git(*remotes, f"refs/remotes/{remote}/") or await git(*remotes, "refs/remotes/")
    known = tips.decode("ascii").split()
    for ref in refs:
        base, new = "", "" if ref.name.startswith(WITHOUT_CODE) else ref.new
        old, commit = await find_commits(place, ref.old, new)
        if commit:  # it may be a tag of something else
            new = commit.id
            known += [old.id] if old else []  # it may never have been fetched
            base = await _merge_base(place, new, known)
            known.append(new)
        name = ref.name.removeprefix("refs/heads/").removeprefix("refs/")
        yield name, "" if base == new else f"{base}..{new}"


async def _review_range(
    revision: str, host: Host, repository: Repository, state: State, say: Say, ends_at: float
) -> int:
    change = await repository.load_change(revision)
    change = replace(change, is_whole=not change.base_commit)  # as new as its configuration
    settings = (await read_base(change, host))[0].settings
    seconds = min(settings.limits.seconds, int(ends_at - time.monotonic()))
    if seconds < 1:
        message = f"the {PUSH_SECONDS} s of this push are over"
        raise ReviewbotError(message, hint=f"reviewbot review {revision}")
    layers = (*host.layers, flag_layer({"limits.seconds": seconds}))
    result = await review(change, replace(host, layers=layers))
    state.save(result)
    code = _report(result, "push", settings.hooks.push, say)
    for gap in result.gaps:
        say(f"NOT REVIEWED: {gap}")
    return code or (0 if result.complete else ReviewbotError.exit_code)


def _report(result: Review, verb: str, threshold: Threshold, say: Say) -> int:
    """Say what was found; return 1 if it stops git."""
    reported = result.reported
    stopping = [finding for finding in reported if reaches(finding.severity, threshold)]
    for line in render(replace(result, gaps=()), "concise").splitlines():
        say(line)
    if stopping:
        ids = ", ".join(finding.id for finding in stopping)
        say(f"reviewbot: stops this {verb} for {ids}: hooks.{verb} is {threshold}.")
        say(f"reviewbot explain {stopping[0].id} shows more; git {verb} --no-verify ignores it.")
        return 1
    if reported:
        say(f"reviewbot: the {verb} goes on: hooks.{verb} is {threshold}.")
    else:
        say(f"reviewbot: nothing found; changed files: {len(result.coverage)}")
    return 0


async def _merge_base(place: Place, new: str, known: list[str]) -> str:
    """The empty tree if nothing is in common."""
    if not known:
        return place.empty_tree
    # There may be more commits than a command line holds: only those beside the new ones matter.
    wanted = "\n".join((new, *(f"^{commit}" for commit in known))).encode("ascii")
    found = await place.reviewed("rev-list", "--boundary", "--stdin", stdin=wanted)
    commits = found.decode("ascii").split()
    if borders := [commit[1:] for commit in commits if commit.startswith("-")]:
        return (await place.reviewed("merge-base", new, *borders)).decode("ascii").split()[0]
    if commits and place.is_shallow:
        message = "this clone is shallow, so it is unknown where the pushed commits begin"
        raise GitError(message, hint="git fetch --unshallow")
    return place.empty_tree if commits else new
