"""Take the payloads of webhooks that GitHub's own examples show.

    npm pack @octokit/webhooks-examples@7.6.1      # unpack it
    python -m tests.events.vendor PACKAGE

``PACKAGE`` is the folder with the ``package.json``. What is written is ``data/examples.json.gz``, byte by byte the same each
time: server → event → payloads. Prose and lists of properties are left out, the payloads are as they are.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent / "data" / "examples.json.gz"
PACKAGE = ("@octokit/webhooks-examples", "7.6.1")
SERVERS = ("api.github.com", "ghes-31", "ghes-35")
"""GitHub itself, and the oldest and the newest Enterprise server of the package."""


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    root = Path(sys.argv[1])
    told = json.loads((root / "package.json").read_text(encoding="utf-8"))
    if (told["name"], told["version"]) != PACKAGE:
        raise SystemExit(f"{root} is {told['name']} {told['version']}, wanted is {' '.join(PACKAGE)}")
    found = {}
    for server in SERVERS:
        events = json.loads((root / server / "index.json").read_text(encoding="utf-8"))
        found[server] = {event["name"]: event["examples"] for event in events}
    text = json.dumps(found, sort_keys=True, separators=(",", ":")).encode()
    EXAMPLES.write_bytes(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
