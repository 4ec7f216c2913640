"""The words in a job that only a sandbox can fill in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from reviewbot.ports import Job

_TOOL = r"tool:([A-Za-z0-9][\w.+-]{0,63})"
_WORD = re.compile(rf"\{{((?:python|own_python|ruff|scratch|tree|beside|probes)|{_TOOL})\}}", re.ASCII)
SYSTEM_FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")


def tools(job: Job) -> tuple[str, ...]:
    """The names of the tools that a job asks for."""
    texts = (*job.argv, *(value for _, value in job.environment))
    return tuple(dict.fromkeys(match[2] for text in texts for match in _WORD.finditer(text) if match[2]))


def fill(text: str, words: Mapping[str, str]) -> str:
    """``text`` with each known word replaced, once: what is put in is not looked at again."""
    return _WORD.sub(lambda match: words.get(match[1], match[0]), text)


def argv(job: Job, words: Mapping[str, str]) -> tuple[str, ...]:
    """The job's command."""
    return tuple(fill(part, words) for part in job.argv)


def environment(
    job: Job, words: Mapping[str, str], *, folders: Iterable[str], home: str, variables: Mapping[str, str]
) -> dict[str, str]:
    """All variables of the job: a few that programs cannot do without, ``variables`` of its tools, then its own.

    ``folders`` are where programs lie; those of the Python come first.
    """
    places = dict.fromkeys((words["python"].rpartition("/")[0], *folders))
    path = ":".join(place for place in places if place)
    basic = {"PATH": path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "TZ": "UTC"}
    return basic | dict(variables) | {name: fill(value, words) for name, value in job.environment}
