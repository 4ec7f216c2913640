"""The words in a job that only a sandbox can fill in."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reviewbot.ports import Job

_WORD = re.compile(r"\{(python|own_python|ruff|scratch|tree|probes)\}")


def fill(text: str, words: Mapping[str, str]) -> str:
    """``text`` with each known word replaced, once: what is put in is not looked at again."""
    return _WORD.sub(lambda match: words[match[1]], text)


def argv(job: Job, words: Mapping[str, str]) -> tuple[str, ...]:
    """The job's command."""
    return tuple(fill(part, words) for part in job.argv)


def environment(job: Job, words: Mapping[str, str], *, home: str) -> dict[str, str]:
    """All variables of the job: a few that programs cannot do without, then its own."""
    folders = (words["python"].rpartition("/")[0], "/usr/local/bin", "/usr/bin", "/bin")
    base = {"PATH": ":".join(folders), "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "TZ": "UTC"}
    return base | {name: fill(value, words) for name, value in job.environment}
