"""What a debate wants to have run, and what came of it, as documents that go from zone M to zone R and back."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reviewbot.domain.change import Revisions
from reviewbot.ports import Draft, Experiment, Verification
from reviewbot.publish.document import check_fields, storable, target_fields
from reviewbot.publish.node import SCHEMA_VERSION

PENDING = "pending"
OF_A_RUN = ("outcome", "output")
"""What only a check has that was run."""


def proof_name(wanted: Experiment) -> str:
    """Under which name the result of an experiment is kept: by all that decides it."""
    check = wanted.check
    place = (wanted.path, wanted.start_line, wanted.line, wanted.fix)
    course = (check.kind.value, check.command, check.source, check.subject, *place)
    return f"proof {hashlib.sha256(repr(course).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"


def experiments_document(wanted: Iterable[Experiment], revisions: Revisions) -> dict[str, Any]:
    """What is to be run before the debate can go on."""
    written: dict[str, Any] = storable(
        {
            "schema_version": SCHEMA_VERSION,
            "conclusion": PENDING,
            "target": target_fields(revisions),
            "experiments": [_experiment(one) for one in wanted],
        }
    )
    return written


def verifications_document(shown: Iterable[tuple[Experiment, Verification]], revisions: Revisions) -> dict[str, Any]:
    """What experiments showed, each beside the experiment that it answers."""
    written: dict[str, Any] = storable(
        {
            "schema_version": SCHEMA_VERSION,
            "target": target_fields(revisions),
            "verifications": [_verification(wanted, found) for wanted, found in shown],
        }
    )
    return written


def can_be_handed_over(wanted: Experiment) -> bool:
    """Its words come back from a document as they are: no half character, no name that is not UTF-8."""
    return bool(storable(fields := _experiment(wanted)) == fields)


def _experiment(wanted: Experiment) -> dict[str, Any]:
    check = {name: value for name, value in check_fields(wanted.check).items() if name not in OF_A_RUN}
    return {
        "name": proof_name(wanted),
        "subject": wanted.subject,
        "check": check,
        "path": wanted.path,
        "start_line": wanted.start_line,
        "line": wanted.line,
        "fix": _fix(wanted.fix) if isinstance(wanted.fix, Draft) else None,
    }


def _verification(wanted: Experiment, found: Verification) -> dict[str, Any]:
    ran = replace(wanted.check, outcome=found.check.outcome, output=found.check.output)
    return {**_experiment(wanted), "check": check_fields(ran), "excerpt": found.excerpt, "fixed": found.fixed}


def _fix(draft: Draft) -> dict[str, Any]:
    return {
        "path": draft.path,
        "start_line": draft.start_line,
        "line": draft.line,
        "replacement": draft.replacement,
        "explanation": draft.explanation,
    }
