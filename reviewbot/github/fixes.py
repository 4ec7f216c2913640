"""/debate fix and /debate undo: commits on the branch of a pull request, by GitHub's own API.

Each commit expects the head that was reviewed; a head that moved ends the work. Nothing is written
to the default branch, to a fork, or to a branch with rules about who may change it.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Mapping
from urllib.parse import quote

from msgspec.structs import replace

from reviewbot.errors import UsageError
from reviewbot.fixing import fix as draft_fixes
from reviewbot.git.change import Change
from reviewbot.git.target import Target
from reviewbot.github.activity import TRAILER
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.commands import Answer, Request
from reviewbot.github.run import Run, fetch, host_of
from reviewbot.github.snapshot import Snapshot, read_snapshot
from reviewbot.github.state import Fix, State
from reviewbot.reports import answers
from reviewbot.tasks.task import TaskResult
from reviewbot.text.markdown import code, inline
from reviewbot.verdict.document import Finding

MAX_BYTES = 3_500_000  # of the files of a commit; GitHub takes no larger request
MAX_FIXES = 20  # that are remembered
# About how commits are made or named, and about what ours never do. Any other rule, known or not,
# protects the branch. https://docs.github.com/en/rest/repos/rules
HARMLESS_RULES = {
    *("branch_name_pattern", "commit_author_email_pattern", "commit_message_pattern"),
    *("committer_email_pattern", "copilot_code_review", "creation", "deletion"),
    *("file_extension_restriction", "file_path_restriction", "max_file_path_length"),
    *("max_file_size", "non_fast_forward", "required_linear_history", "required_signatures"),
    "tag_name_pattern",
}


def fix(run: Run, change: Change, request: Request) -> Answer:
    """Fix findings where the change can be executed, and commit what proved itself."""
    if not run.executes:
        message = "Fixes are made where the change can be executed: not for forks or Dependabot."
        raise UsageError(message)
    if reason := why_protected(run):
        raise UsageError(f"Nothing can be committed here: {reason}.")
    host = host_of(run, replace(request.state.memory, parts={}))
    ids = tuple(request.command.findings)
    review, results = asyncio.run(draft_fixes(change, host, ids))
    fixed = [result for result in results if result.outcome == "fixed"]
    found = {finding.id: finding for finding in review.findings}
    made: list[Fix] = []
    problem = ""
    head = run.snapshot.pull.head_sha
    for result in fixed:
        try:
            head = commit_fix(run, result, found, head)
        except GitHubError as error:
            if error.kind in ("not_authorized", "deferred"):
                raise
            problem = str(error)
            break
        made.append(Fix(commit=head, findings=result.findings))
    if made:
        problem = problem or _difference(run, head, fixed[len(made) - 1].tree)

    def update(state: State) -> State:
        return replace(
            state,
            fixes=(*state.fixes, *made)[-MAX_FIXES:],
            cost_usd=round(state.cost_usd + review.usage.cost_usd, 6),
        )

    words = answers.fixes(results, [entry.commit for entry in made], problem)
    return Answer(words=words, update=update)


def undo(run: Run, _: Change, request: Request) -> Answer:
    """Give files back what they had before the last fix, where nobody touched them since."""
    if not request.state.fixes:
        raise UsageError("There is no fix here to take back.")
    if reason := why_protected(run):
        raise UsageError(f"Nothing can be committed here: {reason}.")
    last = request.state.fixes[-1]
    files, touched = asyncio.run(_before(run, last.commit))
    if not files:
        words = f"Nothing is taken back: {code(last.commit[:10])} was changed since in all files."
        return Answer(words=words)
    ids = ", ".join(last.findings)
    message = (f"Take back the fix of {ids}", f"Reviewbot-Undo: {last.commit}")
    head = commit(run.client, run.snapshot, files, *message, run.snapshot.pull.head_sha)

    def update(state: State) -> State:
        return replace(state, fixes=tuple(f for f in state.fixes if f.commit != last.commit))

    left = f" Changed since, and left: {', '.join(map(code, touched))}." if touched else ""
    words = f"The fix of {ids} is taken back by {code(head[:10])}.{left}"
    return Answer(words=words, update=update)


def commit_fix(run: Run, result: TaskResult, found: Mapping[str, Finding], head: str) -> str:
    """Commit one fix on top of `head`, with trailers by which it is known again."""
    titles = [found[id].title for id in result.findings if id in found]
    headline = f"Fix {titles[0]}" if len(titles) == 1 else f"Fix {len(titles)} findings"
    trailers = [f"{TRAILER.strip()} {found[id].key}" for id in result.findings if id in found]
    body = "\n".join([*(f"- {title}" for title in titles), "", *trailers])
    return commit(run.client, run.snapshot, result.files, headline, body, head)


def commit(
    client: Client,
    snapshot: Snapshot,
    files: Mapping[str, bytes | None],
    headline: str,
    body: str,
    head: str,
) -> str:
    """Commit files on the branch of the pull request, if `head` is its newest commit.

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
        "branch": {
            "repositoryNameWithOwner": snapshot.repository,
            "branchName": snapshot.pull.head_ref,
        },
        "message": {"headline": dead(headline)[:200], "body": dead(body)},
        "fileChanges": {"additions": additions, "deletions": deletions},
        "expectedHeadOid": head,
    }
    try:
        made = client.mutate("createCommitOnBranch", input, "commit { oid }", "commit a fix")
        return str(made["commit"]["oid"])
    except GitHubError as error:
        if error.kind != "unsure":
            raise
        # The answer was lost: the commit is there if the head is ours now.
        pull = read_snapshot(client, snapshot.pull.number).pull
        if pull.head_sha != head and dead(headline)[:200] in pull.message:
            return pull.head_sha
        raise


def why_protected(run: Run) -> str:
    """Why nothing may be written to the branch; empty if it may."""
    snapshot, client = run.snapshot, run.client
    branch = snapshot.pull.head_ref
    if snapshot.is_fork:
        return "the branch is in a fork"
    if branch in (run.job.event.default_branch, snapshot.pull.base_ref):
        return "it is the default branch, or the base of the pull request"
    path = quote(branch, safe="")
    try:
        found = client.read(f"/branches/{path}", "read about a branch")
        if found.get("protected") is not False:
            return "the branch is protected"
        rules = client.read(f"/rules/branches/{path}", "read the rules of a branch")
    except GitHubError as error:
        if error.kind in ("not_authorized", "deferred"):
            raise
        return "it is not known whether the branch is protected"
    other = [str(rule.get("type")) for rule in rules if rule.get("type") not in HARMLESS_RULES]
    return f"the branch has the rule {inline(other[0])}" if other else ""


def dead(text: str) -> str:
    """A message that mentions nobody, closes nothing and skips no workflow."""
    return re.sub(r"([@#])(?=\w)", r"\1 ", text).replace("[", "(").replace("]", ")")


def _difference(run: Run, head: str, tree: str) -> str:
    """What is wrong if GitHub made another tree than the one that was proven."""
    fetch(run.job, head)
    target = Target(kind="revision", revision=head)
    made = asyncio.run(run.repository.load_change(target)).head_tree
    return "" if made == tree else "GitHub made other files of it than those that were tried"


async def _before(run: Run, fixed: str) -> tuple[dict[str, bytes | None], list[str]]:
    """What files had before a commit, and the paths of those that were changed since."""
    repository, head = run.repository, run.snapshot.pull.head_sha
    made = await repository.load_change(Target(kind="revision", revision=fixed))
    now = await repository.load_change(Target(kind="revision", revision=f"{fixed}..{head}"))
    touched = {path for file in now.files for path in (file.path, file.old_path)}
    paths = [file.old_path for file in made.files if file.path not in touched]
    old = await repository.read_files(made.base_tree, paths)
    files: dict[str, bytes | None] = {}
    for file in made.files:
        if file.path not in touched:
            files[file.path] = old.get(file.old_path)
    return files, sorted(touched & {file.path for file in made.files})
