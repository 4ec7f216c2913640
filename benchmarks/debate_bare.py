"""The yardstick: what a debate costs that does nothing but ask. Standard library only.

    python benchmarks/debate_bare.py URL REPOSITORY

Three models read the whole diff side by side, each then sees what the others said, and a judge reads it all: seven calls, three
waves. Nothing is divided, cached on purpose, checked, limited or remembered.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

LENSES = ("correctness", "tests and callers", "cost")


def main() -> None:
    """Print the judgement."""
    url, repository = sys.argv[1:]
    command = ("git", "-C", repository, "diff", "HEAD~1", "HEAD")
    diff = subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    said = _asked(url, [f"{diff}\nReview this change. Look at {lens}." for lens in LENSES])
    shown = "\n".join(said)
    said = _asked(url, [f"{diff}\nThe others said:\n{shown}\nWhat do you say now, on {lens}?" for lens in LENSES])
    shown = "\n".join(said)
    print(*_asked(url, [f"{diff}\nThe panel said:\n{shown}\nJudge."]))


def _asked(url: str, prompts: Iterable[str]) -> list[str]:
    with ThreadPoolExecutor(len(LENSES)) as pool:
        return list(pool.map(lambda prompt: _ask(url, prompt), prompts))


def _ask(url: str, prompt: str) -> str:
    body = json.dumps({"model": "bare", "messages": [{"role": "user", "content": prompt}]})
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    answer = json.load(connection.getresponse())
    connection.close()
    return str(answer["choices"][0]["message"]["content"])


if __name__ == "__main__":
    main()
