"""What came of a trial, as the ledger of debates keeps it: who resumes one tries nothing twice, and asks the same afterwards."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from reviewbot.domain.repair import Edit
from reviewbot.ports import Trial, Trialled
from reviewbot.publish.document import check_fields, storable
from reviewbot.publish.node import SCHEMA_VERSION


def trial_name(wanted: Trial) -> str:
    """Under which name a trial's result is kept: by all that decides it."""
    tasks = [
        (task.id, task.goal.value, task.check, task.evidence, sorted(task.paths), task.may_add, task.brings)
        for task in wanted.tasks
    ]
    course = (tasks, wanted.edits, wanted.before)
    return f"trial {hashlib.sha256(repr(course).encode('utf-8', 'surrogateescape')).hexdigest()[:32]}"


def trial_document(made: Trialled) -> dict[str, Any]:
    """All of a result. Files and patches are bytes, in base64."""
    written: dict[str, Any] = storable(
        {
            "schema_version": SCHEMA_VERSION,
            "patch": _bytes(made.patch),
            "edits": [_edit(edit) for edit in made.edits],
            "refusals": [[one.rule, one.path, one.reason] for one in made.refusals],
            "red": list(made.red),
            "unknown": list(made.unknown),
            "worse": list(made.worse),
            "checks": [{"task": name, "check": check_fields(check)} for name, check in made.checks],
            "shown": [[name, words] for name, words in made.shown],
            "beside": list(made.beside),
            "output": made.output,
            "reason": made.reason,
        }
    )
    return written


def _edit(edit: Edit) -> dict[str, Any]:
    path = base64.b64encode(edit.path.encode("utf-8", "surrogateescape")).decode("ascii")
    return {"path": path, "content": None if edit.content is None else _bytes(edit.content)}


def _bytes(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
