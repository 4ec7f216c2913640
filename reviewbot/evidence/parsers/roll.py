"""The roll of one run: every name is called once, and no more names than can be kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from reviewbot.evidence.parsers.failure_text import clipped
from reviewbot.evidence.parsers.remark import Unreadable
from reviewbot.evidence.parsers.trial import TestOutcome, Trial

MAX_NAMES = 50_000
MAX_LENGTH = 1_000
"""Characters of a name."""
_SILENT = (TestOutcome.PASSED, TestOutcome.SKIPPED)


@dataclass(slots=True)
class Names:
    """Names told apart: the second ``a`` becomes ``a (2)``, the third ``a (3)``, in the order in which they come."""

    _taken: set[str] = field(default_factory=set)
    _times: dict[str, int] = field(default_factory=dict)

    def own(self, name: str) -> str:
        """This name, or one that nobody has yet. Raises Unreadable for one too many."""
        if len(self._taken) >= MAX_NAMES:
            raise Unreadable(f"it holds more than {MAX_NAMES} names; run fewer tests at once")
        first = found = name.strip()[:MAX_LENGTH] or "unnamed"
        while found in self._taken:
            self._times[first] = self._times.get(first, 1) + 1
            found = f"{first} ({self._times[first]})"
        self._taken.add(found)
        return found


@dataclass(slots=True)
class Roll:
    """The trials read so far. Of those that passed or were left out no text is kept, of a group only what it says first."""

    _names: Names = field(default_factory=Names)
    _trials: list[Trial] = field(default_factory=list)
    _groups: set[str] = field(default_factory=set)

    def call(self, trial: Trial) -> None:
        """One trial more. Raises Unreadable for one too many."""
        if trial.is_group and trial.id in self._groups:
            return
        self._groups |= {trial.id} if trial.is_group else set()
        text = "" if trial.outcome in _SILENT else clipped(trial.text)
        self._trials.append(replace(trial, id=self._names.own(trial.id), text=text))

    def trials(self) -> tuple[Trial, ...]:
        """All of them, in the order of the report."""
        return tuple(self._trials)
