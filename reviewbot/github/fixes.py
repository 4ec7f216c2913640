"""/debate fix, /debate undo and autofix: commits on a branch, by GitHub's own API.

Each commit expects the head that was reviewed; a head that moved ends the work. Nothing is written
to the default branch, to a fork, or to a branch with rules about who may change it.
"""

import asyncio
import base64
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from functools import partial
from io import StringIO
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from reviewbot.errors import GitError, UsageError
from reviewbot.fixing import fix as draft_fixes
from reviewbot.git.change import Message
from reviewbot.github import steps
from reviewbot.github.activity import NothingToDo, may_execute
from reviewbot.github.client import CallError, Client, GitHubError, as_described
from reviewbot.github.command import Command
from reviewbot.github.pulls import Fix, State, read_snapshot
from reviewbot.github.steps import Answer, Run
from reviewbot.reports import markdown
from reviewbot.reports.text import TRAILER, commit_message
from reviewbot.tasks.task import TaskResult
from reviewbot.text.markdown import code, inline
from reviewbot.text.plain import dead
from reviewbot.verdict.decide import alike
from reviewbot.verdict.document import Review

Files = Mapping[str, bytes | None]  # what a commit makes of files, by path; None removes one
MAX_BYTES = 3_500_000  # of the files of a commit; GitHub takes no larger request
MAX_FIXES = 20  # that are remembered
NOT_HERE = "Nothing can be committed here"
# Of what a command commits, with the id of its comment; and how messages of ours are read again.
COMMAND = "\nReviewbot-Command: "
FIXED = re.compile(rf"{TRAILER}([\w-]+)")
UNDONE = re.compile(r"Take back the fix of ([\w, -]+)\n\nReviewbot-Undo: (\w+)")
# About how commits are made or named, and about what ours never do. Any other rule, known or not,
# protects the branch. https://docs.github.com/en/rest/repos/rules
HARMLESS_RULES = {
    *("branch_name_pattern", "commit_author_email_pattern", "commit_message_pattern"),
    *("committer_email_pattern", "copilot_code_review", "creation", "deletion"),
    *("file_extension_restriction", "file_path_restriction", "max_file_path_length"),
    *("max_file_size", "non_fast_forward", "required_linear_history", "required_signatures"),
    "tag_name_pattern",
}


def fix(run: Run, command: Command) -> Answer:
    """Fix findings where the change can be executed, and commit what proved itself."""
    if not may_execute(run.facts):
        message = "Fixes are made where the change can be executed: not for forks or Dependabot."
        raise UsageError(message)
    check_branch(run)
    memory, ids = run.facts.state.memory, command.findings
    if before := _made_before(run):
        made = list[Fix]()
        for done in before:
            names = (memory.numbers.get(key, key) for key in FIXED.findall(done.text))
            made.append(Fix(commit=done.commit, findings=tuple(names)))
        listed = [f"- {', '.join(f.findings)}: committed as {code(f.commit[:10])}" for f in made]
        add = partial(_with_fixes, made=made)
        return Answer(words="\n".join(listed), update=add, reviews_again=True)
    if unknown := sorted({*ids} - {*memory.numbers.values()} if run.facts.state.head else ()):
        raise UsageError(f"There is no finding {unknown[0]} here.")
    wanted = [f for f in memory.findings if not f.dismissed and (not ids or f.id in ids)]
    earlier = {
        f.key: kept for f in wanted if (kept := steps.find_debated(run.client, run.facts.state, f))
    }
    if not all(f.check or f.key in earlier for f in wanted):
        memory = replace(memory, parts={})  # then the panel says it again
    review, results = asyncio.run(draft_fixes(run.change, steps.host_of(run, memory), ids, earlier))
    made, problem = commit_fixes(run, results, review) if results else ([], "; ".join(review.gaps))

    def update(state: State) -> State:
        return _with_fixes(state, made).with_cost(review.usage.cost_usd)

    words = markdown.fixes(results, [entry.commit for entry in made], problem)
    is_done = bool(made or not results)
    return Answer(words=words, update=update, reviews_again=bool(made), is_done=is_done)


def review_and_fix(run: Run) -> int:
    """A review whose findings are fixed as the input `autofix` says. Returns the exit code.

    Once somebody has taken a fix back, nothing more is fixed there without being asked.
    """
    mode, runner, pull = run.job.autofix, run.runner, run.snapshot.pull
    host = steps.host_of(run, run.facts.state.memory)
    review, results = asyncio.run(draft_fixes(run.change, host))
    fixed = [result for result in results if result.outcome == "fixed"]
    offers = asyncio.run(_suggestions(run, review, fixed)) if mode == "suggest" else {}
    exit_code, _ = steps.finish(run, review, offers)
    state, reported = run.facts.state, {finding.id for finding in review.reported}
    back = {id for made in state.fixes for id in made.findings} & reported - {*state.taken_back}
    gone = (*state.taken_back, *sorted(back))
    if gone:
        runner.say(f"Nothing is fixed: the fix of {gone[-1]} was taken back.", "notice")
        fixed = []
    if mode == "suggest" or run.job.dry_run or not (fixed or back):
        return exit_code
    try:
        steps.check_open(read_snapshot(run.client, pull.number), review.head_commit)
        if back:  # it stays so, whatever is found later
            steps.update_state(run.client, pull.number, lambda now: replace(now, taken_back=gone))
            return exit_code
        check_branch(run, is_new=mode == "pull_request")
        if mode == "pull_request":
            runner.say(f"The fixes are in {_propose(run, fixed, review)}", "notice")
            return exit_code
        made, problem = commit_fixes(run, fixed, review)
        if problem:
            runner.say(problem, "warning")
        if made:
            runner.put(autofix_sha=made[-1].commit)
            steps.update_state(run.client, pull.number, lambda state: _with_fixes(state, made))
            steps.order(run.client, run.job)  # a push of the job's own token starts no workflow
    except (CallError, UsageError) as error:
        runner.say(error.with_hint, "warning")
    except NothingToDo as reason:
        runner.say(str(reason), "notice")
    return exit_code


def commit_fixes(run: Run, results: Sequence[TaskResult], review: Review) -> tuple[list[Fix], str]:
    """Commit what is fixed, one commit each, as far as GitHub takes it; then why no further."""
    fixed = [result for result in results if result.outcome == "fixed"]
    made: list[Fix] = []
    pull, head = run.snapshot.pull, run.snapshot.pull.head_sha
    try:
        for result in fixed:
            headline, body = commit_message(result, review.findings)
            body += f"{COMMAND}{run.job.event.asked_by}" if run.job.event.asked_by else ""
            head = commit(run.client, pull.head_ref, result.files, headline, body, head)
            made.append(Fix(commit=head, findings=result.findings))
        if not made:
            return made, ""
        steps.fetch(run.job, head)
        is_same = asyncio.run(run.repository.load_change(head)).head_tree == fixed[-1].tree
        return made, "" if is_same else "GitHub made other files of it than those that were tried"
    except (CallError, UsageError, GitError) as error:  # what is committed stays known
        return made, error.with_hint


def open_pull(
    client: Client,
    commits: Sequence[tuple[Files, str, str]],
    branch: str,
    base: str,
    head: str,
    title: str,
    body: str,
    old: Any = None,
) -> str:
    """Commit files, with headlines and bodies, on a new branch that begins at `head`.

    The branch of an `old` pull request, which is open, is moved to these commits instead. Returns
    the address of the pull request. Raises GitHubError, and UsageError if the branch is there.
    """
    made, path = None, f"/git/refs/heads/{quote(branch)}"
    try:
        reference = {"ref": f"refs/heads/{branch}", "sha": head}
        client.write("POST", "/git/refs", "make a branch", reference)
    except CallError as error:
        if error.kind != "invalid":
            raise
        hint = "merge its pull request, or delete the branch"
        raise UsageError(f"there is a branch {branch} already", hint=hint) from error
    try:
        for files, headline, message in commits:
            head = commit(client, branch, files, headline, message, head)
        if old:
            moved, to = {"sha": head, "force": True}, f"/git/refs/heads/{quote(old['head']['ref'])}"
            client.write("PATCH", to, "update a branch", moved)
            return str(old["html_url"])
        content = {"title": dead(title)[:200], "head": branch, "base": base, "body": body}
        made = client.write("POST", "/pulls", "open a pull request", content)
    except CallError:  # the answer alone may be lost
        about = {"head": f"{client.repository.partition('/')[0]}:{branch}", "base": base}
        made = next(iter(client.read("/pulls", "look for a pull request", **about)), None)
        if not made:
            raise
    finally:
        if not made:  # nobody needs the branch alone
            with suppress(GitHubError):
                client.write("DELETE", path, "remove a branch without pull request")
    return str(made["html_url"])


def _propose(run: Run, fixed: Sequence[TaskResult], review: Review) -> str:
    """Open a pull request into the branch, or bring the one that is open up to date.

    Returns its address. Raises UsageError where people closed it or pushed to it.
    """
    client, pull = run.client, run.snapshot.pull
    name = f"reviewbot/fix-{pull.number}-"
    label = f"{client.repository.partition('/')[0]}:{name}"
    about = {"base": pull.head_ref, "state": "all", "per_page": "100"}
    found = client.read("/pulls", "look for earlier fixes", **about)
    left = (made for made in found if not made["merged_at"])
    last = next((p for p in left if (p["head"]["label"] or "").startswith(label)), None)
    branch, done = f"{name}{pull.head_sha[:8]}", "closed"
    if last and last["state"] == "open":
        ref = str(last["head"]["ref"])
        tip = client.read(f"/branches/{quote(ref, safe='')}", "read about a branch")["commit"]
        branch, done = f"{ref}-next", "" if TRAILER in tip["commit"]["message"] else "pushed to"
    if last and done:
        hint = "merge it, or reopen it"
        raise UsageError(f"Nothing is fixed: somebody {done} {last['html_url']}", hint=hint)
    commits = [(result.files, *commit_message(result, review.findings)) for result in fixed]
    where, title = (branch, pull.head_ref, pull.head_sha), f"Fixes for pull request {pull.number}"
    body = (
        f"Fixes of what reviewbot found in #{pull.number}, a commit for each. All checks and tests"
        f" ran with them. The next push to {code(pull.head_ref)} that has something to fix brings"
        " this pull request up to date."
    )
    return open_pull(client, commits, *where, title, body, last)


def undo(run: Run, _: Command) -> Answer:
    """Give files back what they had before the last fix, where nobody touched them since."""
    pull, fixes, touched = run.snapshot.pull, run.facts.state.fixes, list[str]()
    before = _made_before(run)
    if before and (undone := UNDONE.match(before[-1].text)):
        head = before[-1].commit
        last = Fix(commit=undone[2], findings=tuple(undone[1].split(", ")))
    elif not fixes:
        raise UsageError("There is no fix here to take back.")
    else:
        check_branch(run)
        last = fixes[-1]
        steps.fetch(run.job, last.commit)  # a branch that was rewritten does not have it
        files, touched = asyncio.run(_before(run, last.commit))
        if not files:
            raise UsageError(f"All files of {last.commit[:10]} were changed since: they are left.")
        headline = f"Take back the fix of {', '.join(last.findings)}"
        body = f"Reviewbot-Undo: {last.commit}{COMMAND}{run.job.event.asked_by}"
        head = commit(run.client, pull.head_ref, files, headline, body, pull.head_sha)

    def update(state: State) -> State:
        kept = tuple(fix for fix in state.fixes if fix.commit != last.commit)
        gone = (*state.taken_back, *last.findings)
        return replace(state, fixes=kept, taken_back=tuple(dict.fromkeys(gone)))

    left = f" Changed since, and left: {', '.join(map(code, touched))}." if touched else ""
    words = f"The fix of {', '.join(last.findings)} is taken back by {code(head[:10])}.{left}"
    return Answer(words=words, update=update, reviews_again=True)


def commit(client: Client, branch: str, files: Files, headline: str, body: str, head: str) -> str:
    """Commit files on a branch of the repository, if `head` is its newest commit.

    Returns the id of the commit. Raises GitHubError; "stale" if the head moved.
    """
    if sum(len(content or b"") for content in files.values()) > MAX_BYTES:
        raise UsageError("The fix is too large for a commit by GitHub's API.")
    additions = [
        {"path": path, "contents": base64.b64encode(content).decode("ascii")}
        for path, content in sorted(files.items())
        if content is not None
    ]
    deletions = [{"path": path} for path, content in sorted(files.items()) if content is None]
    input = {
        "branch": {"repositoryNameWithOwner": client.repository, "branchName": branch},
        "message": {"headline": dead(headline)[:200], "body": dead(body)},
        "fileChanges": {"additions": additions, "deletions": deletions},
        "expectedHeadOid": head,
    }
    try:
        made = client.mutate("createCommitOnBranch", input, "commit a fix", "commit { oid }")
        return str(made["commit"]["oid"])
    except CallError as error:
        if error.kind == "unsure":  # the commit is there if the head is ours now
            path = f"/branches/{quote(branch, safe='')}"
            now = client.read(path, "look whether a fix was committed")["commit"]
            if now["sha"] != head and now["commit"]["message"].startswith(dead(headline)[:200]):
                return str(now["sha"])
        raise


@as_described()
def check_branch(run: Run, *, is_new: bool = False) -> None:
    """Raises UsageError if nothing may be written to the branch, or to a new one beside it."""
    snapshot, branch = run.snapshot, run.snapshot.pull.head_ref
    path, reason = quote(branch, safe=""), ""
    if run.job.dry_run:
        reason = "this is a dry run"
    elif snapshot.is_fork:
        reason = "the branch is in a fork"
    elif is_new:
        return
    elif branch in (run.job.event.default_branch, snapshot.pull.base_ref):
        reason = "it is the default branch, or the base of the pull request"
    else:
        try:
            found = run.client.read(f"/branches/{path}", "read about a branch")
            rules = run.client.read(f"/rules/branches/{path}", "read the rules of a branch")
        except CallError as error:
            raise UsageError(f"{NOT_HERE}: what protects the branch is unknown. {error}") from None
        types = {str(rule.get("type")) for rule in rules} - HARMLESS_RULES
        if found.get("protected") is not False:
            reason = "the branch is protected"
        elif types:
            reason = f"the branch has the rule {inline(min(types))}"
    if reason:
        raise UsageError(f"{NOT_HERE}: {reason}.")


def _made_before(run: Run) -> list[Message]:
    """What the same command committed in a run that was killed before it could say so."""
    mark = re.compile(rf"{COMMAND}{run.job.event.asked_by}\b")
    return [message for message in run.change.messages if mark.search(message.text)]


def _with_fixes(state: State, made: Sequence[Fix]) -> State:
    return replace(state, fixes=tuple(dict.fromkeys((*state.fixes, *made)))[-MAX_FIXES:])


async def _suggestions(run: Run, review: Review, fixed: Sequence[TaskResult]) -> dict[str, str]:
    """New lines for findings, where a fix changes nothing but the lines of what it fixes."""
    suggestions: dict[str, str] = {}
    for result in fixed:
        about = {alike(finding) for finding in review.findings if finding.id in result.findings}
        places = {f.id: f.location for f in review.findings if alike(f) in about and f.location}
        before = await run.repository.read_files(run.change.head_tree, [*result.files])
        offered, left = dict[str, str](), 0
        for path, content in result.files.items():
            old, new = (
                StringIO((text or b"").decode("utf-8", "replace"), newline="\n").readlines()
                for text in (before.get(path), content)
            )
            codes = SequenceMatcher(None, old, new).get_opcodes()
            hunks = {code[1:] for code in codes if code[0] != "equal"}
            covered = set[tuple[int, ...]]()
            for id, place in places.items():
                own = {h for h in hunks if place.line - 1 <= h[0] and h[1] <= place.end_line}
                if own and (place.path, place.side) == (path, "head"):
                    lines, covered = old[: place.end_line], covered | own
                    for first, last, start, end in sorted(own, reverse=True):
                        lines[first:last] = new[start:end]
                    offered[id] = "".join(lines[place.line - 1 :])
            left += len(hunks - covered)
        suggestions |= {} if left else offered
    return suggestions


async def _before(run: Run, fixed: str) -> tuple[Files, list[str]]:
    """What files had before a commit, and the paths of those that were changed since."""
    repository, head = run.repository, run.snapshot.pull.head_sha
    made = await repository.load_change(fixed)
    now = await repository.load_change(f"{fixed}..{head}")
    touched = {path for file in now.files for path in (file.path, file.old_path)}
    paths = [file.old_path for file in made.files if file.path not in touched]
    old = await repository.read_files(made.base_tree, paths)
    files = {f.path: old.get(f.old_path) for f in made.files if f.path not in touched}
    return files, sorted(touched & {file.path for file in made.files})
