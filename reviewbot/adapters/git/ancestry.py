"""Who descends from whom: questions about commits and refs. Names of commits here are object ids, unless it is said otherwise."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from reviewbot.adapters.git.place import Place
from reviewbot.errors import GitError

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FIELDS = "%(refname)%00%(objectname)%00%(symref)%00%(objecttype)"
_UPSTREAM = "%(upstream:remotename)%00%(upstream:remoteref)%00%(upstream)"


@dataclass(frozen=True, slots=True)
class Upstream:
    """Where a branch goes: the remote's name, the ref there, and the ref here that tracks it."""

    remote: str
    remote_ref: str
    tracking: str


class Ancestry:
    """The history of a repository."""

    def __init__(self, place: Place) -> None:
        self._git = place.real

    def commits(self, names: Iterable[str]) -> dict[str, str]:
        """The commits that revisions name, a tag's too, all at once; what names none, or is not here, is left out."""
        asked = list(dict.fromkeys(name for name in names if "\n" not in name))
        said = "".join(f"{name}^{{commit}}\n" for name in asked).encode("utf-8", "surrogateescape")
        listed = self._git.run("cat-file", "--batch-check=%(objectname)", stdin=said).decode("utf-8", "surrogateescape")
        answers = zip(asked, listed.split("\n"), strict=False)
        return {name: answer for name, answer in answers if _ID.fullmatch(answer)}

    def commit(self, name: str) -> str | None:
        """The one that a revision names."""
        return self.commits((name,)).get(name)

    def exists(self, name: str) -> bool:
        """There is an object of any kind under this name."""
        return self._git.ask("cat-file", "-e", "--end-of-options", name).ok

    def branch(self) -> str | None:
        """The full name of the branch that is checked out, ``None`` where there is none."""
        answer = self._git.ask("symbolic-ref", "--quiet", "HEAD")
        return answer.text if answer.ok else None

    def upstream(self, branch: str) -> Upstream | None:
        """Where a branch (its full name) goes as it is configured."""
        listed = self._git.run("for-each-ref", f"--format={_UPSTREAM}", branch).decode("utf-8", "surrogateescape")
        parts = listed.split("\n", 1)[0].split("\0")
        return Upstream(*parts) if len(parts) == 3 and all(parts) else None

    def remotes(self) -> dict[str, tuple[str, ...]]:
        """Every configured remote with its addresses."""
        answer = self._git.ask("config", "--null", "--get-regexp", r"^remote\..*\.(url|pushurl)$")
        found: dict[str, tuple[str, ...]] = {}
        for record in answer.text.split("\0"):
            key, _, address = record.partition("\n")
            if key:
                name = key.split(".", 1)[1].rsplit(".", 1)[0]
                found[name] = (*found.get(name, ()), address)
        return found

    def tips(self, prefix: str) -> dict[str, str]:
        """The refs below a prefix such as ``refs/remotes/origin/``: full name → commit. What stands for another ref, and what is
        no commit, is left out."""
        listed = self._git.run("for-each-ref", f"--format={_FIELDS}", "--end-of-options", prefix)
        rows = (row.split("\0") for row in listed.decode("utf-8", "surrogateescape").split("\n") if row)
        return {name: commit for name, commit, symbolic, kind in rows if kind == "commit" and not symbolic}

    def holder(self, commit: str, prefix: str) -> str | None:
        """The full name of a ref below a prefix whose history has the commit, the one that was moved last."""
        options = ("--count=1", "--sort=-committerdate", "--format=%(refname)", f"--contains={commit}")
        answer = self._git.ask("for-each-ref", *options, "--end-of-options", prefix)
        return answer.text or None if answer.ok else None

    def news(self, heads: Iterable[str], known: Iterable[str]) -> dict[str, int]:
        """The commits of ``heads`` that nothing known has, each with its rank: a parent has a smaller one than its children.
        Raises GitError where history is missing."""
        said = "".join([*(f"{head}\n" for head in heads), *(f"^{commit}\n" for commit in known)])
        listed = self._git.run("rev-list", "--topo-order", "--reverse", "--stdin", stdin=said.encode("ascii"))
        return {commit: rank for rank, commit in enumerate(listed.decode("ascii").split())}

    def meeting(self, head: str, others: Collection[str]) -> tuple[str, ...]:
        """The best commits that the history of ``head`` shares with that of any other one. Raises GitError."""
        if not others:
            return ()
        answer = self._git.ask("merge-base", "--all", "--end-of-options", head, *others)
        if not answer.ok and (answer.exit_code != 1 or answer.stderr):
            raise GitError(f"the history of {head[:10]} cannot be read: {answer.complaint}", hint="look at it with `git fsck`")
        return tuple(answer.text.split())

    def distance(self, base: str | None, head: str) -> int:
        """How many commits ``head`` has that ``base`` has not; all of them where there is no base. Raises GitError."""
        without = (f"^{base}",) if base else ()
        return int(self._git.run("rev-list", "--count", "--end-of-options", head, *without))
