"""Secrets that a file holds. The excerpt never does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.domain.evidence import Category, EvidenceKind, Precision, Result, Severity
from reviewbot.evidence.analysers.source import Source
from reviewbot.screen import hidden, secrets

_EXAMPLE = re.compile(r"EXAMPLE|example|XXXX|xxxx|0000000|1234567|dummy|placeholder|fake|changeme|your[_-]", re.ASCII)
_DOUBTFUL = frozenset({"jwt", "url-password", "twilio-key"})
"""Formats that stand in documentation and fixtures as often as in earnest."""


def analyse(source: Source) -> Iterator[Result]:
    """One result per secret."""
    text = "\n".join(line for _, line in source.lines)
    index = counted = 0
    for secret in secrets.find(text):
        index += text.count("\n", counted, secret.start)
        counted = secret.start
        yield _result(source, source.lines[index], name=secret.name, value=text[secret.start : secret.end])


def _result(source: Source, line: tuple[int, str], *, name: str, value: str) -> Result:
    number, text = line
    is_example = _EXAMPLE.search(value) is not None
    doubtful = is_example or source.is_test or name in _DOUBTFUL
    clean = hidden.visible(secrets.redact(text)[0]).strip()
    return Result(
        EvidenceKind.SECRET,
        "secrets",
        name,
        source.path,
        number,
        f"{'An example of a' if is_example else 'A'} secret is written into the file: {name}",
        Category.SECURITY,
        (Severity.LOW if is_example else Severity.MEDIUM) if doubtful else Severity.CRITICAL,
        Precision.HEURISTIC if doubtful else Precision.CERTAIN,
        end_line=number,
        anchor=text.strip(),
        trigger="somebody reads the repository, now or in its history",
        consequence="they can use whatever the secret opens: revoke it and keep it out of the repository",
        excerpt=clean[:400],
    )
