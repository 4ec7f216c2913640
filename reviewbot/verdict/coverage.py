"""Who looked at each changed file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reviewbot.checks.evidence import Evidence
from reviewbot.git.change import Change, ChangedFile
from reviewbot.text.files import classify, language_of
from reviewbot.verdict.document import Coverage, CoverageState

MAX_NAMES = 10
# What to install so that a check reads files of a language.
LINTERS = {
    **dict.fromkeys(("javascript", "typescript"), "npm install --save-dev eslint"),
    **{"go": "install go", "rust": "install cargo", "shell": "install shellcheck"},
}


def coverage_of(
    change: Change, evidence: Evidence, readers: Mapping[str, tuple[str, ...]]
) -> Iterator[Coverage]:
    """Args: readers: panelists who read each file, by its path."""
    tests = [
        run.report
        for run in evidence.runs
        if run.kind == "test" and run.side == "head" and not run.by_author
    ]
    for file in change.files:
        path, read_by = file.path, readers.get(file.path, ())
        by, scanned = evidence.checks_of(path) + read_by, evidence.scans_of(path)
        state: CoverageState = "scanned" if scanned else "not_reviewed"
        if by:
            state = "reviewed"
        elif not _needs_review(file):
            state = "not_applicable"
        is_unread = state in ("scanned", "not_reviewed")
        yield Coverage(
            path=path,
            state=state,
            by=by,
            scanned_by=scanned,
            statements=max((len(r.statements.get(path, ())) for r in tests), default=0),
            read_by=read_by,
            executed=max((len(r.executed.get(path, ())) for r in tests), default=0),
            next_step=_next_step(file, is_patch=not change.head_tree) if is_unread else "",
        )


def _needs_review(file: ChangedFile) -> bool:
    """Whether somebody should read the file: it is code, and something of it changed."""
    if file.status == "deleted" or (file.status == "renamed" and not file.hunks):
        return False
    if file.mode == "160000":  # a submodule: its code changes with the commit that it names
        return True
    if file.mode == "120000":  # a link has a name and no code
        return False
    is_code = classify(file.path) in ("source", "test", "generated", "vendored")
    return is_code and not file.is_binary and bool(file.hunks) and bool(language_of(file.path))


def _next_step(file: ChangedFile, *, is_patch: bool) -> str:
    if is_patch:
        return "apply the patch in its repository and review it there"
    if file.mode == "160000":
        return "review the submodule in its own repository"
    language = language_of(file.path) or ""
    suffix = file.path.rpartition("/")[2].rpartition(".")[2]
    hint = LINTERS.get(language, "add a check for it under checks: in .reviewbot.yml")
    return f"no check reads .{suffix} files here: {hint}, or configure a model"


def gaps_of(coverage: Sequence[Coverage], *, has_panel: bool) -> Iterator[str]:
    """What was not looked at, a sentence each."""
    unread = [entry.path for entry in coverage if entry.state == "reviewed" and not entry.read_by]
    if has_panel and unread:
        more = f" and {len(unread) - MAX_NAMES} more" if len(unread) > MAX_NAMES else ""
        yield f"no panelist read {', '.join(unread[:MAX_NAMES])}{more}"
    for entry in coverage:
        if entry.state == "scanned":
            yield f"{entry.path} was only scanned for secrets and hidden text; {entry.next_step}"
        elif entry.state == "not_reviewed":
            yield f"{entry.path} was not reviewed; {entry.next_step}"
