"""New content of files, and what trying it showed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Outcome = Literal["fixed", "suggested", "refused"]


class Candidate(Struct, frozen=True, kw_only=True):
    """New content of files, by path; None removes one.

    Attributes:
        author: the tool, or the panelist.
        explanation: what the author says about it. Untrusted text.
    """

    author: str
    is_tool: bool = False
    files: Mapping[str, bytes | None]
    explanation: str = ""


class Trial(Struct, frozen=True, kw_only=True):
    """What became of a candidate. The lists hold a sentence for each reason.

    Attributes:
        tree: the tree with the candidate; empty if it could not be made.
        digest: of the files that it changes, before and after: equal for equal changes.
        refusals: what no candidate may do.
        regressions: what checks report because of it, and what does not end any more.
        unmet: findings that still stand.
        unproven: what could not be executed, so that nobody knows.
    """

    candidate: Candidate
    tree: str = ""
    digest: str = ""
    refusals: tuple[str, ...] = ()
    regressions: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        if self.refusals or self.regressions or self.unmet:
            return "refused"
        return "suggested" if self.unproven else "fixed"

    @property
    def reasons(self) -> tuple[str, ...]:
        return (*self.refusals, *self.regressions, *self.unmet, *self.unproven)
