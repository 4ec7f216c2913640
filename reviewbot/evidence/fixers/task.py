"""From a finding to what shows it: its check, and the results that live and die with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
from reviewbot.domain.evidence import Evidence, EvidenceKind, EvidenceStatus, Ledger, Result, Side
from reviewbot.domain.review import Finding
from reviewbot.evidence.fixers.pairing import Wanted
from reviewbot.evidence.lint import OWN
from reviewbot.evidence.presets import TOOLS
from reviewbot.evidence.proof.rule import NEAR

FAILED = frozenset({CheckOutcome.FAILS_AT_HEAD, CheckOutcome.FAILS_AT_BOTH, CheckOutcome.PASSES_WITH_FIX})
"""What a check that failed at head may have shown."""


def shows(finding: Finding, ledger: Ledger) -> tuple[Check | None, tuple[str, ...]]:
    """What shows that a finding is mended: a check that fails at head, where there is one, and the ids of the finding's results.

    Where there are both, both must tell: a rule's check looks at lines by their numbers, and code that is put before them moves
    them. A check that ran and failed is the finding's own; else it is a test that failed, or a linter's rule."""
    items = tuple(own(finding, ledger))
    names = tuple(item.id for item in items)
    if finding.check is not None and finding.check.outcome in FAILED:
        return finding.check, names
    made = (_check(item, finding, ledger) for item in items)
    check = next((one for one in made if one is not None), None) if _is_one(items) else None
    return check, names


def wanted(findings: Iterable[Finding], ledger: Ledger) -> tuple[Wanted, ...]:
    """The places of the findings where a linter's rule is broken: one for each of their results."""
    return tuple(
        Wanted(finding.id, item.result.path, item.result.line, item.result.line, item.result.tool, item.result.rule)
        for finding in findings
        for item in own(finding, ledger)
        if item.result.kind is EvidenceKind.LINT and item.result.rule
    )


def own(finding: Finding, ledger: Ledger) -> Iterator[Evidence]:
    """The results that a finding repeats: of those that it cites, those of its rule, and where it names none those on its lines.

    Many results of one rule are one finding; what else a panelist cites is an argument."""
    for name in finding.evidence:
        item = ledger.item(name)
        if item is None or item.revision is not Side.HEAD or item.result.path != finding.path:
            continue
        if item.status is EvidenceStatus.NEW and _is_meant(item.result, finding):
            yield item


def _is_meant(result: Result, finding: Finding) -> bool:
    if finding.rule is not None:
        return result.rule == finding.rule
    last = max(result.end_line, result.line)
    return result.line <= finding.line and last >= finding.start_line and result.category is finding.category


def _is_one(items: tuple[Evidence, ...]) -> bool:
    """They are one result, or one test's: a check of one of many would tell of that one alone."""
    return len({(item.result.rule, item.result.line, item.result.subject) for item in items}) == 1


def _check(item: Evidence, finding: Finding, ledger: Ledger) -> Check | None:
    """A result as a check that fails where it is."""
    result = item.result
    if result.kind is EvidenceKind.TEST and result.subject:
        kind = CheckKind.TEST if result.tool == "pytest" else CheckKind.COMMAND
        command = ("pytest", result.subject) if kind is CheckKind.TEST else result.command
        return Check(command, subject=result.subject, evidence=(item.id,), kind=kind)
    if result.kind is EvidenceKind.LINT and result.rule and _is_known(result) and not _has_company(item, finding, ledger):
        subject = f"{result.tool}:{result.rule}"
        return Check(result.command, subject=subject, evidence=(item.id,), kind=CheckKind.RULE)
    return None


def _is_known(result: Result) -> bool:
    """The runner knows the tool, and runs it with the settings that showed the result: of ruff, with ours alone."""
    if result.tool == OWN:
        return "--isolated" in result.command and "--select" in result.command
    return result.tool in TOOLS


def _has_company(item: Evidence, finding: Finding, ledger: Ledger) -> bool:
    """The same rule is broken beside it, and will be after it is mended: a check of the rule would stay red."""
    mine = item.result
    near = range(finding.start_line - NEAR, finding.line + NEAR + 1)
    return any(
        other.id != item.id and other.revision is Side.HEAD and _same_rule(other.result, mine) and other.result.line in near
        for other in ledger.items
    )


def _same_rule(one: Result, other: Result) -> bool:
    return (one.tool, one.rule, one.path) == (other.tool, other.rule, other.path)
