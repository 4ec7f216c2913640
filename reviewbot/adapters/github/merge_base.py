"""The commit at which a head left its base."""

from __future__ import annotations

from urllib.parse import quote

from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.reading import fields, text
from reviewbot.adapters.github.session import Session


def merge_base(session: Session, repository: str, base_sha: str, *, head_sha: str) -> str:
    """By one small question. Raises ForgeError.

    A comparison tells its files on its first page only: the second page is asked for, which has the answer and none of them."""
    call = Call(
        "GET",
        f"/repos/{repository}/compare/{quote(base_sha, safe='')}...{quote(head_sha, safe='')}",
        "compare the ends of the pull request",
        query=(("per_page", "1"), ("page", "2")),
        is_read=True,
    )
    return text(fields(fields(session.json(call), "a comparison").get("merge_base_commit"), "the merge base"), "sha")
