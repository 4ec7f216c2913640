"""How much is asked about a change, decided before anybody is asked. `--dry-run` prints it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from reviewbot.checks.project import Project
from reviewbot.config.settings import Effort
from reviewbot.context.brief import Brief
from reviewbot.git.change import Change, ChangedFile, Location
from reviewbot.text.files import classify

ROUNDS: Mapping[Effort, int] = {"auto": 1, "low": 0, "medium": 1, "high": 2}
SMALL_LINES = 120  # added and removed lines of source files
# More portions than these are read by one panelist each.
SHARED_PORTIONS = 2
# Names and words of what goes wrong badly, or where tests rarely look.
RISKS: Mapping[str, re.Pattern[str]] = {
    "security": re.compile(
        r"auth|passw|secret|token|crypt|permission|sanitiz|escap|csrf|cors|cookie|session"
        r"|subprocess|shell|exec\(|eval\(|pickle|deserializ|innerHTML|\bsql\b|SELECT .* FROM",
        re.IGNORECASE,
    ),
    "concurrency": re.compile(
        r"\b(?:async|await|thread\w*|lock|mutex|semaphore|atomic\w*|concurren\w*|parallel\w*"
        r"|goroutine|chan|go func|synchronized|volatile|transaction\w*)\b",
        re.IGNORECASE,
    ),
}
MIGRATION = re.compile(r"(?:^|/)migrations?/|\.sql$", re.IGNORECASE)
# A removed line that defines something others may use.
PUBLIC = re.compile(
    r"(?:export |pub |public )|(?:def|class) [A-Za-z]|func (?:\([^)]*\) )?[A-Z]|type [A-Z]"
)


class Plan(Struct, frozen=True, kw_only=True):
    """Who reads what, and how long it is debated.

    Attributes:
        reasons: why the panel is asked, or why one panelist is enough.
        readers: names of the panelists who read each brief, by the brief's name.
        limited: panelists who read, and judge, only what is in briefs of their own.
        rounds: of cross-examination.
        only_serious: only serious and security cases are cross-examined.
        has_moderator: whether what stays contested is ruled on.
    """

    effort: Effort = "high"
    reasons: tuple[str, ...] = ()
    readers: Mapping[str, tuple[str, ...]] = {}
    limited: tuple[str, ...] = ()
    rounds: int = 2
    only_serious: bool = False
    has_moderator: bool = True

    def is_shown(self, place: Location | None, panelist: str, briefs: Sequence[Brief]) -> bool:
        """Whether a panelist may be asked about a place."""
        return panelist not in self.limited or any(
            place and brief.shows(f"{place.path}:{place.line}")
            for brief in self.briefs_of(panelist, briefs)
        )

    def briefs_of(self, panelist: str, briefs: Sequence[Brief]) -> list[Brief]:
        """The briefs about which a panelist may be asked."""
        return [
            brief
            for brief in briefs
            if brief.name == panelist
            or (panelist not in self.limited and brief.name not in self.limited)
        ]


def make_plan(
    change: Change, project: Project, briefs: Sequence[Brief], panel: Sequence[str], effort: Effort
) -> Plan:
    """The plan of a review. `panel` are the names of the panelists.

    low: one panelist, no debate. medium: the panel, one round about what is serious. high: the
    panel, two rounds about everything. auto: the panel as with high where the change is risky, else
    one panelist, and the others judge what that one finds serious.
    """
    reasons = tuple(risks_of(change, project))
    is_calm = effort == "auto" and not reasons
    is_alone = effort == "low" or is_calm
    return Plan(
        effort=effort,
        reasons=reasons,
        readers={brief.name: _readers(brief, briefs, panel, is_alone) for brief in briefs},
        rounds=ROUNDS[effort],
        only_serious=effort == "medium" or is_calm,
        has_moderator=effort != "low",
    )


def risks_of(change: Change, project: Project) -> Iterator[str]:
    """Why one panelist is not enough, a few words each."""
    sources = [file for file in change.files if classify(file.path) == "source"]
    lines = sum(line.is_changed for file in sources for hunk in file.hunks for line in hunk.lines)
    if lines > SMALL_LINES:
        yield f"size: {lines} changed lines of source"
    for name, words in RISKS.items():
        if path := next((file.path for file in sources if _mentions(file, words)), ""):
            yield f"{name}: {path}"
    if path := next((file.path for file in change.files if MIGRATION.search(file.path)), ""):
        yield f"migration: {path}"
    if path := next((file.path for file in sources if _removes_public(file)), ""):
        yield f"public API: {path}"
    tests = {path for path in project.head_files if classify(path) == "test"}
    tests |= {file.path for file in change.files if classify(file.path) == "test"}
    for file in sources:
        stem = file.path.rpartition("/")[2].split(".")[0].strip("_").lower()
        if file.hunks and not any(stem in test.lower() for test in tests):
            yield f"no tests: {file.path}"
            break


def _mentions(file: ChangedFile, words: re.Pattern[str]) -> bool:
    changed = (line.text for hunk in file.hunks for line in hunk.lines if line.is_changed)
    return bool(words.search(file.path)) or any(map(words.search, changed))


def _removes_public(file: ChangedFile) -> bool:
    return any(
        line.head is None and PUBLIC.match(line.text.lstrip("\t "))
        for hunk in file.hunks
        for line in hunk.lines
    )


def _readers(
    brief: Brief, briefs: Sequence[Brief], panel: Sequence[str], is_alone: bool
) -> tuple[str, ...]:
    """One panelist for each portion of a large change: the same for as long as its name is."""
    if not panel or (not is_alone and len(briefs) <= SHARED_PORTIONS):
        return tuple(panel)
    if len(briefs) == 1:
        return (panel[0],)
    number = int.from_bytes(hashlib.sha256(brief.name.encode()).digest()[:4])
    return (panel[number % len(panel)],)
