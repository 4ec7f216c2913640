"""The report of the ``reviewbot_migrations`` probe: JSON lines, all of them or none. A report cut off is no report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from reviewbot.domain.evidence import Side
from reviewbot.evidence.parsers import typed
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.screen import strict_json

MAX_BYTES = 16_000_000
READING_TOO = "AccessExclusiveLock"
"""The one lock that keeps others from reading: PostgreSQL's manual, Explicit Locking, table 13.2."""


class Stage(StrEnum):
    """On top of the base's migrations, or all of the head's from nothing."""

    UPGRADE = "upgrade"
    FRESH = "fresh"


class Past(StrEnum):
    """What became of migrations that may have been applied somewhere. ``out_of_order`` is a new one before an old one."""

    EDITED = "edited"
    REMOVED = "removed"
    OUT_OF_ORDER = "out_of_order"


class Deed(StrEnum):
    """What a statement did to a relation that was there already."""

    LOCK = "lock"
    SCAN = "scan"
    REWRITE = "rewrite"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class History:
    """One migration that is not as it was."""

    past: Past
    path: str


@dataclass(frozen=True, slots=True)
class Mishap:
    """A migration that failed. ``line`` is 1-based or 0, ``code`` an SQLSTATE or empty."""

    stage: Stage
    path: str
    line: int
    code: str
    message: str
    statement: str


@dataclass(frozen=True, slots=True)
class Fact:
    """What the server saw a statement do while the base was upgraded.

    ``detail`` is the lock that was taken (``lock``) or held (``scan``), the reason (``rewrite``), the kind of relation
    (``drop``). ``path`` is empty and ``line`` 0 where the statement was not found in a file.
    """

    deed: Deed
    path: str
    line: int
    statement: str
    object: str
    detail: str

    @property
    def blocks_readers(self) -> bool:
        """Nobody else can read the table until the transaction ends; other locks that are told of keep only writers out."""
        return self.detail == READING_TOO


@dataclass(frozen=True, slots=True)
class Definition:
    """One thing of a schema by two ways: before and after the upgrade, or upgraded and made anew. ``None`` where it is not."""

    object: str
    first: str | None
    second: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """A node of a plan, in the order of EXPLAIN. ``relation`` and ``index`` are empty where it has none."""

    depth: int
    type: str
    relation: str
    index: str


@dataclass(frozen=True, slots=True)
class Plan:
    """How a query would be run at one side. ``cost`` is in the planner's own unit; ``error`` says why there is no plan."""

    side: Side
    path: str
    name: str
    cost: float
    steps: tuple[Step, ...]
    error: str

    @property
    def indexes(self) -> frozenset[str]:
        """The indexes that it uses."""
        return frozenset(step.index for step in self.steps if step.index)


@dataclass(frozen=True, slots=True)
class MigrationReport:
    """All that came of it. ``changes`` are those of the upgrade, ``differences`` what a fresh schema has otherwise, ``roles``
    were made because migrations speak of them, ``left_out`` counts by type what was too much to tell."""

    server: str
    history: tuple[History, ...] = ()
    roles: tuple[str, ...] = ()
    errors: tuple[Mishap, ...] = ()
    facts: tuple[Fact, ...] = ()
    changes: tuple[Definition, ...] = ()
    differences: tuple[Definition, ...] = ()
    plans: tuple[Plan, ...] = ()
    left_out: tuple[tuple[str, int], ...] = ()

    def replanned(self) -> tuple[tuple[Plan, Plan], ...]:
        """The queries that are run in another way at head, each as it was at base and is at head."""
        before = {(plan.path, plan.name): plan for plan in self.plans if plan.side is Side.BASE}
        after = {(plan.path, plan.name): plan for plan in self.plans if plan.side is Side.HEAD}
        pairs = ((before[query], after[query]) for query in before if query in after)
        return tuple((one, other) for one, other in pairs if (one.steps, one.error) != (other.steps, other.error))


def read(data: bytes) -> MigrationReport:
    """The report. Raises Unreadable, also for one that does not go to its end."""
    try:
        records = list(_records(data))
        kinds = [record["type"] for record in records]
        if kinds.count("start") != 1 or kinds.count("finish") != 1 or kinds[-1] != "finish":
            raise Unreadable("the report does not go to its end: the probe was ended before it was done")
        taken = [(record["type"], _READERS[record["type"]](record)) for record in records]
    except (TypeError, KeyError, ValueError) as exc:
        raise exc if isinstance(exc, Unreadable) else Unreadable(f"not a report of migrations: {exc}") from exc

    def of(kind: str) -> Iterator[Any]:
        return (value for name, value in taken if name == kind)

    return MigrationReport(
        server=next(of("start")),
        history=tuple(of("history")),
        roles=tuple(dict.fromkeys(of("role"))),
        errors=tuple(of("error")),
        facts=tuple(of("fact")),
        changes=tuple(of("change")),
        differences=tuple(of("difference")),
        plans=tuple(of("plan")),
        left_out=tuple(of("left_out")),
    )


def _records(data: bytes) -> Iterator[Mapping[str, Any]]:
    if len(data) > MAX_BYTES:
        raise Unreadable(f"{len(data)} bytes are more than the {MAX_BYTES} that are read")
    *lines, rest = data.split(b"\n")
    if rest:
        raise Unreadable("the report's last line is cut off")
    for number, line in enumerate(lines):
        record = strict_json.loads(line)
        if not isinstance(record, dict) or record.get("n") != number:
            raise Unreadable(f"line {number + 1} is not the one that follows")
        yield record


def _history(record: Mapping[str, Any]) -> History:
    return History(Past(record["what"]), typed.text(record["path"]))


def _error(record: Mapping[str, Any]) -> Mishap:
    path, code, message, statement = (typed.text(record[key]) for key in ("path", "code", "message", "statement"))
    return Mishap(Stage(record["stage"]), path, typed.number(record["line"]), code, message, statement)


def _fact(record: Mapping[str, Any]) -> Fact:
    path, statement, name, detail = (typed.text(record[key]) for key in ("path", "statement", "object", "detail"))
    return Fact(Deed(record["what"]), path, typed.number(record["line"]), statement, name, detail)


def _definition(first: str, second: str) -> Callable[[Mapping[str, Any]], Definition]:
    def read_definition(record: Mapping[str, Any]) -> Definition:
        sides = (None if record[key] is None else typed.text(record[key]) for key in (first, second))
        return Definition(typed.text(record["object"]), *sides)

    return read_definition


def _plan(record: Mapping[str, Any]) -> Plan:
    path, name, error = (typed.text(record[key]) for key in ("path", "name", "error"))
    return Plan(Side(record["side"]), path, name, typed.amount(record["cost"]), tuple(map(_step, record["nodes"])), error)


def _step(node: Any) -> Step:
    depth, kind, relation, index = node
    return Step(typed.number(depth), typed.text(kind), typed.text(relation), typed.text(index))


def _left_out(record: Mapping[str, Any]) -> tuple[str, int]:
    return typed.text(record["what"]), typed.number(record["count"])


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "start": lambda record: typed.text(record["server"]),
    "history": _history,
    "role": lambda record: typed.text(record["name"]),
    "error": _error,
    "fact": _fact,
    "change": _definition("base", "head"),
    "difference": _definition("upgraded", "fresh"),
    "plan": _plan,
    "left_out": _left_out,
    "finish": lambda _: None,
}
