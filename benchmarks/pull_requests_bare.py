"""The floor: what a review on GitHub costs that does nothing but read and post. Standard library only.

    TOKEN=... python benchmarks/pull_requests_bare.py API_URL OWNER/NAME NUMBER HEAD_SHA

Three calls: the pull request's diff is read, a review is posted, a comment is posted. Where GitHub refuses the diff as too large,
the pages of its files are read instead. Nothing is looked at, compared, limited or asked again.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request

TOO_LARGE = 406
NEXT = re.compile(r'<([^<>]*)>; rel="next"')


def main() -> None:
    """Print how much was read."""
    api_url, repository, number, head_sha = sys.argv[1:]
    pull = f"{api_url}/repos/{repository}/pulls/{number}"
    read = _diff(pull)
    _ask(f"{pull}/reviews", {"commit_id": head_sha, "event": "COMMENT", "body": f"{len(read)} bytes were read."})
    _ask(f"{api_url}/repos/{repository}/issues/{number}/comments", {"body": "The review is above."})
    print(len(read))


def _diff(pull: str) -> bytes:
    """The diff, or the pages of the files."""
    try:
        return _ask(pull, accept="application/vnd.github.diff")[0]
    except urllib.error.HTTPError as refused:
        if refused.code != TOO_LARGE:
            raise
    parts, page = [], f"{pull}/files?per_page=100"
    while page:
        part, page = _ask(page)
        parts.append(part)
    return b"".join(parts)


def _ask(address: str, body: object = None, accept: str = "application/vnd.github+json") -> tuple[bytes, str]:
    """What is answered, and the address of the page after it, empty where there is none."""
    content = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Accept": accept, "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(address, content, headers), timeout=60) as answer:
        onward = NEXT.search(answer.headers.get("link", ""))
        return answer.read(), onward[1] if onward else ""


if __name__ == "__main__":
    main()
