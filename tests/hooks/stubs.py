"""Programs that stand where a hook calls one, and write down how they were called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

REVIEWBOT = """\
#!/bin/sh
{{ printf '<%s>' "$@"; echo; }} >>"{log}.arguments"
{reads}
exit {code}
"""

FOREIGN = """\
#!/bin/sh
# somebody's own
{{ printf '<%s>' "$@"; echo; }} >>"{log}.arguments"
{reads}
exit {code}
"""


@dataclass(frozen=True)
class Stub:
    """A program at ``path``; ``calls`` are its arguments each time, ``heard`` all that it read."""

    path: Path
    log: Path

    @property
    def calls(self) -> list[str]:
        told = self.log.with_name(f"{self.log.name}.arguments")
        return told.read_text().splitlines() if told.exists() else []

    @property
    def heard(self) -> bytes:
        told = self.log.with_name(f"{self.log.name}.input")
        return told.read_bytes() if told.exists() else b""


def stub(path: Path, *, code: int = 0, reads: bool = True, text: str = REVIEWBOT) -> Stub:
    """A program that ends with ``code``. It reads its standard input, or never looks at it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    log = path.parent / f"log-{path.name}"
    path.write_text(text.format(log=log, reads=f'cat >>"{log}.input"' if reads else "", code=code))
    path.chmod(0o755)
    return Stub(path, log)
