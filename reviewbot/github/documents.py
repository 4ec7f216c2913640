"""Documents of earlier reviews of a pull request, which runs of the workflow keep as artifacts."""

import io
import zipfile
import zlib
from contextlib import suppress
from functools import cache

import requests
from urllib3.exceptions import HTTPError

from reviewbot.github.client import Client, GitHubError, as_described
from reviewbot.github.pulls import State
from reviewbot.state import read_review
from reviewbot.verdict.document import Finding, Remembered, Review

ARTIFACT = "reviewbot-review"
MAX_ARTIFACT = 50_000_000  # bytes


def read_artifact(client: Client, run_id: int) -> Review | None:
    """The review of a run of the workflow; None if it cannot be had."""
    if not run_id:
        return None
    with suppress(GitHubError, HTTPError, zipfile.BadZipFile, zlib.error, OSError), as_described():
        path = f"/actions/runs/{run_id}/artifacts"
        found = client.read(path, "find the review of a run", name=ARTIFACT, per_page="1")
        artifact = next(iter(found.get("artifacts") or []), None)
        if not artifact or artifact.get("expired"):
            return None
        url = client.location(f"/actions/artifacts/{artifact['id']}/zip", "download a review")
        # It lies on another host, which must not see the token.
        with requests.get(url, timeout=30, stream=True) as response:
            content = response.raw.read(MAX_ARTIFACT, decode_content=True)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            info = archive.getinfo("review.json")
            return read_review(archive.read(info)) if info.file_size < MAX_ARTIFACT else None
    return None


_read_once = cache(read_artifact)


def find_debated(client: Client, state: State, known: Remembered) -> Finding | None:
    """A finding as the review has it that debated it; None if that is gone."""
    review = _read_once(client, state.runs.get(known.id, 0))
    found = review.findings if review else ()
    return next((finding for finding in found if finding.key == known.key), None)
