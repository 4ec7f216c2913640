"""Read SARIF 2.1.0, the OASIS Static Analysis Results Interchange Format."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from msgspec import Struct

from reviewbot.checks.readers.output import LEVELS, json_of, location_of
from reviewbot.checks.report import Diagnostic, Report
from reviewbot.sandbox.job import Completed


class Message(Struct, frozen=True):
    text: str = ""


class Artifact(Struct, frozen=True):
    uri: str = ""


class Region(Struct, frozen=True, rename="camel"):
    start_line: int = 0
    end_line: int = 0


class Physical(Struct, frozen=True, rename="camel"):
    artifact_location: Artifact = Artifact()
    region: Region = Region()


class Place(Struct, frozen=True, rename="camel"):
    physical_location: Physical = Physical()


class Suppression(Struct, frozen=True):
    status: str = "accepted"


class RuleReference(Struct, frozen=True):
    id: str = ""


class Result(Struct, frozen=True, rename="camel"):
    message: Message = Message()
    rule_id: str = ""
    rule: RuleReference = RuleReference()
    level: str = "warning"
    kind: str = "fail"
    locations: list[Place] = []
    suppressions: list[Suppression] | None = None


class Notification(Struct, frozen=True):
    message: Message = Message()


class Invocation(Struct, frozen=True, rename="camel"):
    execution_successful: bool = True
    tool_execution_notifications: list[Notification] = []


class Run(Struct, frozen=True):
    results: list[Result] | None = None
    invocations: list[Invocation] = []


class Log(Struct, frozen=True):
    runs: list[Run]


def read(completed: Completed) -> Report:
    """Raises ValueError if it is no SARIF log, or if the tool says that it failed."""
    log = json_of(completed, Log)
    for run in log.runs:
        for invocation in run.invocations:
            if not invocation.execution_successful:
                said = [note.message.text for note in invocation.tool_execution_notifications]
                raise ValueError(f"the tool failed: {said[0] if said else 'it does not say why'}")
    return Report(diagnostics=tuple(_diagnostics(log)))


def _diagnostics(log: Log) -> Iterator[Diagnostic]:
    for run in log.runs:
        for result in run.results or ():
            is_suppressed = any(s.status == "accepted" for s in result.suppressions or ())
            if result.kind != "fail" or is_suppressed:
                continue
            place = result.locations[0].physical_location if result.locations else Physical()
            path, region = unquote(place.artifact_location.uri), place.region
            yield Diagnostic(
                rule=result.rule_id or result.rule.id or "message",
                message=result.message.text.strip().partition("\n")[0],
                severity=LEVELS.get(result.level, "low"),
                location=location_of(path, region.start_line, region.end_line),
            )
