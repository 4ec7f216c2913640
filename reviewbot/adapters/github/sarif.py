"""Handing a SARIF report to GitHub's code scanning."""

from __future__ import annotations

import base64
import gzip

from reviewbot.adapters.github import reading
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.session import Session
from reviewbot.domain.action import (
    Done,
)
from reviewbot.errors import InvalidError, NotPermittedError

MOST_BYTES = 10_000_000
"""Of the compressed report: GitHub's own limit."""


def upload(session: Session, repository: str, report: bytes, *, commit_sha: str, ref: str) -> Done:
    """Send a report about ``commit_sha`` on ``ref`` (``refs/heads/…``, ``refs/pull/N/head``). Raises ForgeError.

    The same report of the same commit takes the place of the earlier one, so it may be sent twice.
    """
    packed = gzip.compress(report, mtime=0)
    if len(packed) > MOST_BYTES:
        words = f"the SARIF report has {len(packed)} bytes compressed, and GitHub takes {MOST_BYTES}"
        raise InvalidError(words, hint="report fewer findings", reasons=(words,))
    call = Call(
        "POST",
        f"/repos/{repository}/code-scanning/sarifs",
        "take a SARIF report",
        body={"commit_sha": commit_sha, "ref": ref, "sarif": base64.b64encode(packed).decode("ascii")},
        is_read=True,
        missing=NotPermittedError,
    )
    made = reading.fields(session.json(call), "an upload")
    return Done(url=reading.text(made, "url", optional=True))
