"""Who looked at each changed file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reviewbot.checks.evidence import Evidence
from reviewbot.checks.scans import SYNTAX
from reviewbot.git.change import Change, ChangedFile
from reviewbot.text.files import classify, language_of
from reviewbot.verdict.document import Coverage, CoverageState

MAX_NAMES = 10
MAX_ALIKE = 2  # names of files that were left out for one reason
# What the main scans look for.
SCANNED_FOR = {"secrets": "secrets", "hidden-characters": "hidden text"}


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
            next_step=_next_step(file, evidence, change) if is_unread else "",
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


def _next_step(file: ChangedFile, evidence: Evidence, change: Change) -> str:
    if not change.head_tree:
        return "apply the patch in its repository and review it there"
    if file.mode == "160000":
        return "review the submodule in its own repository"
    for run in evidence.runs:
        is_open = run.side == "head" and run.kind == "lint" and run.outcome != "ended"
        if is_open and file.path in run.files:
            return f"{run.check} {'was not run' if run.outcome == 'not_run' else 'did not end'}"
    hint = "add one under checks: in .reviewbot.yml, or configure a model"
    suffix = _suffix(file.path)
    what = f"{suffix} files" if suffix else file.path.rpartition("/")[2]
    return f"no check reads {what} here: {hint}"


def _suffix(path: str) -> str:
    """With its dot; nothing for names such as Makefile and .gitignore."""
    name, dot, suffix = path.rpartition("/")[2].rpartition(".")
    return dot + suffix if name else ""


def gaps_of(coverage: Sequence[Coverage], *, has_panel: bool) -> Iterator[str]:
    """What was not looked at, a sentence each."""
    unread = [entry.path for entry in coverage if entry.state == "reviewed" and not entry.read_by]
    if has_panel and unread:
        yield f"no panelist read {_names(unread, MAX_NAMES)}"
    alike: dict[tuple[str, str], list[str]] = {}
    for entry in coverage:
        if entry.state in ("scanned", "not_reviewed"):
            alike.setdefault((_done(entry), entry.next_step), []).append(entry.path)
    for (done, next_step), paths in alike.items():
        if len(paths) == 1:
            yield f"{paths[0]} was {done}; {next_step}"
            continue
        suffixes = set(map(_suffix, paths))
        kind = f"{suffixes.pop()} files".lstrip() if len(suffixes) == 1 else "files"
        names = f"({_names(paths, MAX_ALIKE)})"
        yield f"{len(paths)} {kind} were {done} {names}; {next_step}"


def _done(entry: Coverage) -> str:
    """What was done with a file that nobody reviewed."""
    sought = [SCANNED_FOR[name] for name in entry.scanned_by if name in SCANNED_FOR]
    done = ["parsed"] if SYNTAX in entry.scanned_by else []
    done += [f"scanned for {' and '.join(sought)}"] if sought else []
    return f"only {' and '.join(done)}" if done else "not reviewed"


def _names(paths: Sequence[str], limit: int) -> str:
    if len(paths) <= limit:
        return ", ".join(paths)
    return f"{', '.join(paths[:limit])} and {len(paths) - limit} more"
