"""Read SARIF 2.1.0, the OASIS Static Analysis Results Interchange Format."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from msgspec import Struct, field

from reviewbot.checks.readers.output import LEVELS, json_of, path_of
from reviewbot.checks.report import Diagnostic, Report
from reviewbot.git.change import Location
from reviewbot.sandbox.job import Completed


class Message(Struct, frozen=True):
    text: str = ""


class Artifact(Struct, frozen=True):
    uri: str = ""


class Region(Struct, frozen=True):
    start_line: int = field(default=0, name="startLine")
    end_line: int = field(default=0, name="endLine")


class Physical(Struct, frozen=True):
    artifact: Artifact = field(default=Artifact(), name="artifactLocation")
    region: Region = Region()


class Place(Struct, frozen=True):
    physical: Physical = field(default=Physical(), name="physicalLocation")


class Suppression(Struct, frozen=True):
    kind: str = ""
    status: str = "accepted"


class RuleReference(Struct, frozen=True):
    id: str = ""


class Result(Struct, frozen=True):
    message: Message = Message()
    rule_id: str = field(default="", name="ruleId")
    rule: RuleReference = RuleReference()
    level: str = "warning"
    kind: str = "fail"
    locations: list[Place] = []
    suppressions: list[Suppression] | None = None


class Notification(Struct, frozen=True):
    message: Message = Message()
    level: str = "warning"


class Invocation(Struct, frozen=True):
    successful: bool = field(default=True, name="executionSuccessful")
    notifications: list[Notification] = field(
        default_factory=list, name="toolExecutionNotifications"
    )


class Run(Struct, frozen=True):
    results: list[Result] | None = None
    invocations: list[Invocation] = []


class Log(Struct, frozen=True):
    runs: list[Run]


def read(completed: Completed) -> Report:
    """Raises ValueError if it is no SARIF log, or if the tool says that it failed."""
    log: Log = json_of(completed, Log)
    for run in log.runs:
        for invocation in run.invocations:
            if not invocation.successful:
                said = [note.message.text for note in invocation.notifications]
                raise ValueError(f"the tool failed: {said[0] if said else 'it does not say why'}")
    return Report(diagnostics=tuple(_diagnostics(log)))


def _diagnostics(log: Log) -> Iterator[Diagnostic]:
    for run in log.runs:
        for result in run.results or ():
            is_suppressed = any(s.status == "accepted" for s in result.suppressions or ())
            if result.kind != "fail" or is_suppressed:
                continue
            yield Diagnostic(
                rule=result.rule_id or result.rule.id or "message",
                message=result.message.text.strip().partition("\n")[0],
                severity=LEVELS.get(result.level, "low"),
                location=_location(result.locations[0].physical) if result.locations else None,
            )


def _location(physical: Physical) -> Location | None:
    line = physical.region.start_line
    path = path_of(unquote(physical.artifact.uri))
    return Location(path, line, max(line, physical.region.end_line)) if path and line else None
