"""The head of the change with what was accepted in it: what the next candidate is made on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reviewbot.debate.making.splices import unchanged_ends
from reviewbot.domain.repair import Edit


@dataclass(frozen=True, slots=True)
class Tree:
    """``head`` holds the files that may be read or changed; ``edits`` is all that differs from it."""

    head: Mapping[str, bytes]
    edits: tuple[Edit, ...] = ()

    def content(self, path: str) -> bytes | None:
        """A file as it is now; ``None`` where there is none, or nobody may read it."""
        return next((edit.content for edit in self.edits if edit.path == path), self.head.get(path))

    def having(self, edits: Iterable[Edit]) -> Tree:
        """The tree with these files in it as well."""
        laid = {edit.path: edit.content for edit in (*self.edits, *edits)}
        kept = (Edit(path, content) for path, content in sorted(laid.items()) if content != self.head.get(path))
        return Tree(self.head, tuple(kept))

    def changes(self, after: Tree) -> tuple[Edit, ...]:
        """What leads from this tree to another of the same head, as whole files."""
        paths = sorted({edit.path for edit in (*self.edits, *after.edits)})
        return tuple(Edit(path, now) for path in paths if (now := after.content(path)) != self.content(path))

    def line(self, path: str, number: int) -> int:
        """Where a line of the head's file stands now, or near which line it stood."""
        old, new = (self.head.get(path) or b"").split(b"\n"), (self.content(path) or b"").split(b"\n")
        before, after = unchanged_ends(old, new)
        if number <= before:
            return number
        if number > len(old) - after:
            return number + len(new) - len(old)
        return min(number, max(len(new) - after, 1))
