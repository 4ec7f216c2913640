"""The documents that a job leaves for the next one, or for whoever takes the run's artifact."""

from __future__ import annotations

from pathlib import Path

from reviewbot.domain.review import Review
from reviewbot.errors import OutputError
from reviewbot.publish import document
from reviewbot.wiring.github.job import Job

CHANGESET, EVIDENCE, REVIEW, PATCH = "changeset.json", "evidence.json", "review.json", "fixes.patch"


def keep(job: Job, review: Review) -> Path:
    """Write the review. Raises OutputError."""
    return write(job, REVIEW, document.dumps(document.document(review)))


def write(job: Job, name: str, text: str) -> Path:
    """A new file: what lay there under the name is not followed. Raises OutputError."""
    return write_bytes(job, name, text.encode("utf-8"))


def write_bytes(job: Job, name: str, data: bytes) -> Path:
    """The same with bytes. Raises OutputError."""
    path = job.documents / name
    try:
        job.documents.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_bytes(data)
    except OSError as exc:
        raise OutputError(f"cannot write {path}: {exc.strerror}", hint="RUNNER_TEMP names a folder that can be written") from exc
    return path
