"""PostgreSQL migrations, applied: the base's, on top of them the head's new ones, and in a second cluster all of the head's.

What fails, what locks or rewrites, what an upgraded schema lacks against a new one, and which plans of changed queries are others
is read off a throw-away server inside the sandbox (``reviewbot_migrations.py``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reviewbot.domain.evidence import Category, CheckRun, EvidenceKind, EvidenceStatus, Precision, Result, Severity, Side
from reviewbot.evidence import places, shown
from reviewbot.evidence.match import Heard, Mark
from reviewbot.evidence.parsers import migration
from reviewbot.evidence.parsers.migration import Deed, Definition, Fact, MigrationReport, Mishap, Past, Plan, Stage
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.tools import Belief
from reviewbot.evidence.view import CheckOptions, View, is_inside
from reviewbot.ports import Ended, Job, Outcome

CHECK = "migrations"
REPORT = "migrations.jsonl"
MOST_QUERIES = 100
NOT_HERE = 3
"""The probe's exit code where no server can be had."""

_FOLDER = re.compile(r"(?:^|/)(?:migrations?|migrate)/(?:[^/]+/)?[^/]+\.sql$", re.IGNORECASE)
_FLYWAY = re.compile(r"(?:^|/)V\d[\w.]*__\w+\.sql$")
_DOWN = re.compile(r"(?:^|[/._-])down\.sql$|\.(?:down|undo|rollback)\.sql$|(?:^|/)U\d[\w.]*__", re.IGNORECASE)
_POSTGRES = re.compile(
    rb"\b(?:big|small)?serial\b|\bjsonb\b|\btimestamptz\b|\bplpgsql\b|\bcreate\s+extension\b|\bgen_random_uuid\b|\bbytea\b|::\w"
    rb"|\bgenerated\s+(?:always|by\s+default)\s+as\s+identity\b|\bcreate\s+index\s+concurrently\b|\$\$|\busing\s+(?:gin|gist|brin)\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(rb"\bauto_?increment\b|\bengine\s*=|\bpragma\b|`", re.IGNORECASE)
_DEPENDS = re.compile(rb"psycopg|asyncpg|postgres|lib/pq|jackc/pgx|\"pg\"")
_NUMBER = re.compile(r"(\d+)")
_QUERY = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:select|with|insert|update|delete|values)\b", re.IGNORECASE)
_NAME = re.compile(r"^--\s*name:\s*(\w+)", re.MULTILINE)

_FAILS = Belief(Category.CORRECTNESS, Severity.HIGH, Precision.CERTAIN)
_PAST: Mapping[Past, tuple[Belief, str]] = {
    Past.EDITED: (
        Belief(Category.CORRECTNESS, Severity.HIGH, Precision.LIKELY),
        "a migration that may have been applied is edited: databases that have it stay as they are",
    ),
    Past.REMOVED: (
        Belief(Category.CORRECTNESS, Severity.MEDIUM, Precision.LIKELY),
        "a migration that may have been applied is gone: databases made anew differ from older ones",
    ),
    Past.OUT_OF_ORDER: (
        Belief(Category.CORRECTNESS, Severity.MEDIUM, Precision.LIKELY),
        "a new migration stands before one of the base: databases that have the later one may never run it",
    ),
}
_DEEDS: Mapping[Deed, tuple[Belief, str]] = {
    Deed.REWRITE: (Belief(Category.PERFORMANCE, Severity.MEDIUM, Precision.LIKELY), "rewrites the whole table"),
    Deed.SCAN: (Belief(Category.PERFORMANCE, Severity.LOW, Precision.HEURISTIC), "reads the whole table under a lock"),
    Deed.LOCK: (Belief(Category.PERFORMANCE, Severity.LOW, Precision.HEURISTIC), "locks"),
    Deed.DROP: (Belief(Category.MAINTAINABILITY, Severity.LOW, Precision.HEURISTIC), "drops"),
}
"""What the facts are worth, and their words. Judgement, not yet calibrated."""


@dataclass(frozen=True, slots=True)
class _Course:
    """The migrations of both ends in the order of application, and the changed queries."""

    base: tuple[str, ...]
    head: tuple[str, ...]
    queries: tuple[Mapping[str, str], ...]


def applies(view: View, options: CheckOptions) -> bool:
    """A migration or a query of a project with PostgreSQL migrations is changed. In an audit nothing is."""
    return CHECK in options.presets and not view.is_audit and _course(view) is not None


def jobs(view: View, options: CheckOptions) -> tuple[Job, ...]:
    """One job for both ends."""
    course = _course(view) if applies(view, options) else None
    if course is None:
        return ()
    spec = {
        "base": course.base,
        "head": course.head,
        "seconds": options.seconds * 0.8,
        "queries": course.queries,
    }
    program = ("{own_python}", "-I", "{probes}/reviewbot_postgres.py", "migrations", "{scratch}/migrations.json")
    argv = (*program, "base_tree={beside}", "head_tree={tree}", f"report={{scratch}}/{REPORT}")
    files = (("migrations.json", json.dumps(spec).encode("ascii")),)
    job = Job(CHECK, argv, options.seconds, executes=True, tree=Side.HEAD, beside=Side.BASE, files=files, collect=(REPORT,))
    return (job,)


def hear(view: View, outcomes: Mapping[str, Outcome]) -> Heard:
    """What the server showed. It is about the change by its making: what is new, and what it does to what was there."""
    outcome = outcomes.get(CHECK)
    if outcome is None:
        return Heard()
    said = shown.sentence((outcome.stderr or b"").decode("utf-8", "replace").strip().rpartition("\n")[2])
    if outcome.ended is not Ended.EXITED or outcome.exit_code == NOT_HERE:
        here = outcome.ended is Ended.EXITED
        run = CheckRun(CHECK, ran=False, reason=outcome.reason or said, seconds=outcome.seconds, cut_short=not here)
        return Heard(runs=(run,))
    try:
        report = migration.read(outcome.file(REPORT) or b"")
    except Unreadable as exc:
        return Heard(runs=(CheckRun(CHECK, ran=False, reason=f"{exc}: {said}", seconds=outcome.seconds, cut_short=True),))
    strange = [mishap for mishap in report.errors if mishap.path and view.change.file(mishap.path) is None]
    if strange:
        reason = f"the base's own {strange[0].path} cannot be applied here: {shown.sentence(strange[0].message)}"
        return Heard(runs=(CheckRun(CHECK, ran=False, reason=reason, seconds=outcome.seconds),))
    marks = tuple(Mark(EvidenceStatus.NEW, Side.HEAD, result) for result in _results(view, report))
    return Heard(marks=marks, runs=(CheckRun(CHECK, ran=True, seconds=outcome.seconds),))


def _course(view: View) -> _Course | None:
    head = [path for path in view.paths if is_migration(path)]
    older = {file.head_path: file.base_path for file in view.change.files if file.head_path}
    base = {older.get(path, path) for path in head} | {file.base_path for file in view.change.files if not file.head_path}
    before = [path for path in base if path is not None and is_migration(path)]
    queries = tuple(_queries(view))[:MOST_QUERIES]
    touched = any(is_migration(file.path) for file in view.files)
    if not head or not (touched or queries) or not _is_postgres(view):
        return None
    return _Course(tuple(sorted(before, key=_natural)), tuple(sorted(head, key=_natural)), queries)


def is_migration(path: str) -> bool:
    """The file is a step of a schema's history, the way up."""
    named = _FOLDER.search(path) or _FLYWAY.search(path)
    return bool(named) and not _DOWN.search(path) and is_inside(path)


def _is_postgres(view: View) -> bool:
    """By the words of the changed SQL, or by what the project depends on."""
    texts = [data for file in view.files if file.path.endswith(".sql") for data in _both(view, file.path) if data]
    if any(_OTHERS.search(text) for text in texts):
        return False
    older = [text for path, text in view.settings.items() if is_migration(path)]
    depends = any(_DEPENDS.search(text) for path, text in view.settings.items() if not is_migration(path))
    return depends or any(_POSTGRES.search(text) for text in (*texts, *older))


def _both(view: View, path: str) -> tuple[bytes | None, bytes | None]:
    contents = view.contents.get(path)
    return (contents.base, contents.head) if contents else (None, None)


def _natural(path: str) -> list[tuple[int, int, str]]:
    """By folder, then as a person counts: 2 before 10."""
    parts = _NUMBER.split(path)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def _queries(view: View) -> Iterator[Mapping[str, str]]:
    for file in view.files:
        if not file.path.endswith(".sql") or is_migration(file.path) or not file.head_path:
            continue
        base, head = (_statements(data) for data in _both(view, file.path))
        for name, sql in head.items():
            if base.get(name) != sql:
                yield {"path": file.path, "name": name, "sql": sql, "base_sql": base.get(name, "")}


def _statements(data: bytes | None) -> dict[str, str]:
    """The queries of a file: by sqlc's ``-- name:`` where it has such lines, else numbered."""
    text = (data or b"").decode("utf-8", "replace")
    starts = [(match[1], match.start()) for match in _NAME.finditer(text)]
    if starts:
        ends = [place for _, place in starts[1:]] + [len(text)]
        parts = [(name, text[place:end]) for (name, place), end in zip(starts, ends, strict=True)]
    else:
        parts = [(f"query {number}", part) for number, part in enumerate(text.split(";\n"), start=1)]
    return {name: part.strip().rstrip(";") for name, part in parts if _QUERY.match(part)}


def _results(view: View, report: MigrationReport) -> Iterator[Result]:
    failed: dict[tuple[str, int, str], list[Mishap]] = {}
    for mishap in report.errors:
        failed.setdefault((mishap.path, mishap.line, mishap.message), []).append(mishap)
    yield from (_mishap(view, mishaps) for mishaps in failed.values())
    for one in report.history:
        belief, words = _PAST[one.past]
        yield _result(view, (one.path, 0), belief, rule=f"{one.past.value}-migration", message=words)
    yield from (_fact(view, fact) for fact in report.facts if fact.deed is not Deed.LOCK or fact.blocks_readers)
    yield from (_difference(view, one) for one in report.differences)
    for before, after in report.replanned():
        yield from _plan(view, before, after)


def _mishap(view: View, mishaps: list[Mishap]) -> Result:
    """One failure, on an upgraded database, on a new one, or on both."""
    mishap = mishaps[0]
    words = {Stage.UPGRADE: "a database of the base", Stage.FRESH: "an empty database"}
    on = " and on ".join(words[one.stage] for one in mishaps)
    message = f"the migration fails on {on}: {shown.sentence(mishap.message)}"
    excerpt = f"{mishap.code} {mishap.message}\n{mishap.statement}"
    return _result(view, (mishap.path, mishap.line), _FAILS, rule="migration-fails", message=message, excerpt=excerpt)


def _fact(view: View, fact: Fact) -> Result:
    belief, words = _DEEDS[fact.deed]
    message = f"{words} {shown.sentence(fact.object)} ({fact.detail})"
    return _result(view, (fact.path, fact.line), belief, rule=f"migration-{fact.deed}", message=message, excerpt=fact.statement)


def _difference(view: View, one: Definition) -> Result:
    belief = Belief(Category.CORRECTNESS, Severity.MEDIUM, Precision.LIKELY)
    message = f"an upgraded database and a new one differ in {shown.sentence(one.object)}"
    excerpt = f"upgraded: {one.first or 'is not there'}\nnew: {one.second or 'is not there'}"
    return _result(view, ("", 0), belief, rule="schema-differs", message=message, excerpt=excerpt)


def _plan(view: View, before: Plan, after: Plan) -> Iterator[Result]:
    excerpt = f"base: {_told(before)}\nhead: {_told(after)}"
    if after.error and not before.error:
        message = f"{after.name} cannot be planned any more: {shown.sentence(after.error)}"
        yield _result(view, (after.path, 0), _FAILS, rule="query-fails", message=message, excerpt=excerpt)
    elif lost := sorted(before.indexes - after.indexes):
        belief = Belief(Category.PERFORMANCE, Severity.MEDIUM, Precision.LIKELY if not after.indexes else Precision.HEURISTIC)
        message = f"{after.name} does not use the index {', '.join(lost)} any more"
        yield _result(view, (after.path, 0), belief, rule="index-lost", message=message, excerpt=excerpt)


def _told(plan: Plan) -> str:
    steps = (f"{'  ' * step.depth}{step.type} {step.relation} {step.index}".rstrip() for step in plan.steps)
    return plan.error or "\n".join((f"cost {plan.cost:g}", *steps))


def _result(view: View, place: tuple[str, int], belief: Belief, *, rule: str, message: str, excerpt: str = "") -> Result:
    """At its place, or at the first changed migration where the server could not tell."""
    path, line = place
    mine = [file for file in view.files if is_migration(file.path)] or list(view.files)
    file = view.change.file(path) or mine[0]
    head = places.lines(view.contents_of(file).head)
    return Result(
        EvidenceKind.LINT,
        CHECK,
        rule,
        file.path,
        line if file.path == path else 0,
        message,
        belief.category,
        belief.severity,
        belief.precision,
        end_line=line if file.path == path else 0,
        anchor=places.line_at(head, line) if file.path == path else "",
        trigger="the migrations are applied",
        consequence=message,
        excerpt=shown.excerpt(excerpt or message),
        command=("psql", "-v", "ON_ERROR_STOP=1", "-f", file.path),
        exit_code=1,
    )
