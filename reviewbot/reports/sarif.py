"""The review as SARIF 2.1.0 (OASIS), as GitHub's code scanning reads it.

https://docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
"""

from typing import Any
from urllib.parse import quote

from reviewbot.git.change import Location
from reviewbot.reports import words
from reviewbot.reports.words import Style
from reviewbot.severity import RANK, Severity
from reviewbot.text.plain import plain
from reviewbot.verdict.document import Finding, Review
from reviewbot.version import __version__

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LEVELS = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
# The middle of the CVSS band of the same name, by which GitHub sorts security alerts.
SECURITY: dict[Severity, str] = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0"}
PROPERTIES = ("id", "severity", "category", "status", "support")
MAX_ID, MAX_TEXT = 255, 1_000  # of GitHub: 255 characters of a rule's id, 1,024 of its text


def render(review: Review, _: Style) -> str:
    rules: dict[str, list[Finding]] = {}
    for finding in review.reported:
        rules.setdefault(_rule_of(finding)[0], []).append(finding)
    default = review.coverage[0].path if review.coverage else "."
    driver = {
        "name": "reviewbot",
        "version": __version__,
        "rules": [_rule(name, findings) for name, findings in rules.items()],
    }
    notes = (*review.notes, *([words.panel_line(review)] if review.panel else []))
    invocation = {
        "executionSuccessful": review.complete and not review.gaps,
        "toolExecutionNotifications": [
            *({"level": "warning", "message": _message(gap)} for gap in review.gaps),
            *({"level": "note", "message": _message(note)} for note in notes),
        ],
    }
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "reviewbot/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_result(finding, list(rules), default) for finding in review.reported],
        "properties": {"verdict": review.verdict, "complete": review.complete},
    }
    return words.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule_of(finding: Finding) -> tuple[str, str]:
    """Id and description. All tests of a suite share one rule, as do claims of a category."""
    result = finding.result
    if result is None:
        return f"panel/{finding.category}", f"The panel reports a problem: {finding.category}."
    check, name, kind = plain(result.check), plain(result.name), result.kind.replace("_", " ")
    said = name if kind == "diagnostic" else f"a {kind}"
    name = name if kind == "diagnostic" else kind.replace(" ", "-")
    return f"{check}/{name}"[:MAX_ID], f"{check} reports {said}."[:MAX_TEXT]


def _rule(name: str, findings: list[Finding]) -> dict[str, Any]:
    worst = max((finding.severity for finding in findings), key=RANK.__getitem__)
    categories = list(dict.fromkeys(finding.category for finding in findings))
    severity = {"security-severity": SECURITY[worst]} if "security" in categories else {}
    description = {"text": _rule_of(findings[0])[1]}
    return {
        "id": name,
        **dict.fromkeys(("shortDescription", "fullDescription", "help"), description),
        "defaultConfiguration": {"level": LEVELS[worst]},
        "properties": {"tags": categories, **severity},
    }


def _result(finding: Finding, rules: list[str], default: str) -> dict[str, Any]:
    rule = _rule_of(finding)[0]
    # A kind other than "fail" allows no level, and GitHub shows only what has one.
    level = LEVELS[finding.severity]
    lower = "warning" if level == "error" else "note"
    message = _message(
        finding.title.strip() or "(no title)",
        words.sentence(finding.consequence),
        *(f"Test: {test}" for test in words.failed_tests(finding)[:5]),
        *words.decision(finding),
    )
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "kind": "fail",
        "level": lower if finding.status == "question" else level,
        "message": message,
        "locations": [_location(finding.location, default, finding.excerpt)],
        "partialFingerprints": {"reviewbot/v1": plain(finding.key)},
        "properties": {name: plain(getattr(finding, name)) for name in PROPERTIES},
    }


def _location(location: Location | None, default: str, excerpt: str) -> dict[str, Any]:
    """GitHub wants a place for each result: without one, the first changed file."""
    path = location.path if location else default
    region: dict[str, Any] = {"startLine": max(1, location.line) if location else 1}
    if location:
        region["endLine"] = max(1, location.line, location.end_line)
    if excerpt.strip():
        region["snippet"] = {"text": "\n".join(map(plain, excerpt.split("\n")))}
    artifact = {"uri": quote(path.encode("utf-8", "replace"), safe="/"), "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}


def _message(*lines: str) -> dict[str, str]:
    """`[words](target)` would be a link (SARIF 2.1.0, 3.11.6)."""
    text = "\n".join(plain(line) for line in lines if line.strip())
    return {"text": text.replace("](", "] (") or "(no text)"}
