"""A unified diff by itself: the port ``Repo`` where there is no repository."""

from __future__ import annotations

from reviewbot.domain.change import Revisions
from reviewbot.domain.target import Target
from reviewbot.errors import PatchError
from reviewbot.ports import RawDiff


class PatchOnly:
    """Holds the one patch that it was asked to resolve."""

    def __init__(self) -> None:
        self._patch = b""

    def resolve(self, target: Target) -> Revisions:
        """A change without trees. Raises PatchError where there is no text."""
        if not (target.patch or b"").strip():
            raise PatchError("the patch is empty", hint="pipe a unified diff in, as from `git diff`")
        self._patch = target.patch or b""
        note = "a patch alone: linters saw only the files that it adds whole, no test could be run"
        return Revisions("patch", "patch", "patch", None, None, (note,))

    def diff(self, revisions: Revisions) -> RawDiff:
        """The patch's bytes."""
        del revisions
        return RawDiff(b"", b"", self._patch)
