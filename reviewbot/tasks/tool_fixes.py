"""Fixes that linters make themselves, cut down to what findings are about."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from reviewbot.checks.evidence import CheckResult
from reviewbot.checks.project import Project
from reviewbot.checks.run import job_of
from reviewbot.errors import GitError
from reviewbot.git.change import Change, Location
from reviewbot.git.repository import Repository
from reviewbot.sandbox.executor import Executor
from reviewbot.tasks.task import Candidate


async def draft_tool_fixes(
    results: Sequence[CheckResult],
    change: Change,
    project: Project,
    repository: Repository,
    executor: Executor,
) -> Candidate | None:
    """One candidate of all linters that fix something; None if none does.

    Tools fix whole files. What is about none of the results, and no consequence of one, is left
    out.
    """
    tree = change.head_tree
    names: list[str] = []
    for check in project.checks:
        own = [(r, r.location) for r in results if r.check == check.name and r.location]
        if not own or not check.fix:
            continue
        paths = sorted({place.path for _, place in own})
        rules = sorted({result.name for result, _ in own})
        job = job_of(check, tree, project, files=paths, rules=rules)
        completed = await executor.execute(job)
        if completed.outcome == "ended" and completed.stdout.strip():
            try:
                fixed = await repository.apply_patch(tree, completed.stdout, check.folder)
            except GitError:  # the tool printed no patch
                continue
            tree = await _only_near([place for _, place in own], tree, fixed, repository)
            names.append(check.name)
    if tree == change.head_tree:
        return None
    changed = (await repository.compare(change.head_tree, tree)).files
    contents = await repository.read_files(tree, [file.path for file in changed])
    return Candidate(author=", ".join(names), is_tool=True, files=contents)


async def _only_near(
    places: Sequence[Location], tree: str, fixed: str, repository: Repository
) -> str:
    """A tree with those of the changes that touch one of the lines."""
    paths = [file.path for file in (await repository.compare(tree, fixed)).files]
    before = await repository.read_files(tree, paths)
    after = await repository.read_files(fixed, paths)
    files: dict[str, bytes | None] = {}
    for path in paths:
        lines = [range(at.line, at.end_line + 1) for at in places if at.path == path]
        if path in before and path in after:  # not above 1 MB
            files[path] = _merged(before[path], after[path], lines)
    return await repository.make_tree(tree, files)


def _merged(before: bytes, after: bytes, wanted: Sequence[range]) -> bytes:
    """The old lines, with the new ones where they replace a wanted line (counted from 1)."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines: list[bytes] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        # What is inserted stands before the line after it, or after the line before it.
        touched = range(start + 1, end + 1) if end > start else range(start, start + 2)
        is_wanted = any(number in touched for lines_ in wanted for number in lines_)
        lines += new[new_start:new_end] if kind != "equal" and is_wanted else old[start:end]
    return b"".join(lines)
