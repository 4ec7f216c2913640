"""The repository's own objects and refs, written: by git, without hooks, and never a file or the index of the user."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.adapters.git.command import Git
from reviewbot.adapters.git.place import Place
from reviewbot.adapters.git.writing.index import WHOLE, indexed, put
from reviewbot.adapters.git.writing.journal import Entry, RefMove
from reviewbot.errors import GitError, WriteError

_IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL", "GIT_CONFIG_NOSYSTEM")
"""What a process may say of who commits, and whether the machine's configuration may say it."""
_OURS = {
    "GIT_AUTHOR_NAME": "reviewbot",
    "GIT_AUTHOR_EMAIL": "reviewbot@localhost",
    "GIT_COMMITTER_NAME": "reviewbot",
    "GIT_COMMITTER_EMAIL": "reviewbot@localhost",
}
"""Who writes a backup: that needs nobody's name."""
_PLAIN = {"user.useConfigOnly": "true", "i18n.commitEncoding": "UTF-8"}


@dataclass(frozen=True, slots=True)
class Store:
    """``scratch`` is a folder for indexes of its own. ``lock`` is the lock of the one who writes: whatever moves a ref holds it
    too, and so nobody recovers a killed run while its last git is still at work."""

    place: Place
    scratch: Path
    lock: int
    environment: Mapping[str, str]

    def blobs(self, contents: Iterable[bytes]) -> dict[bytes, str]:
        """Keep the very bytes of many files, and the id of each."""
        wanted = tuple(dict.fromkeys(contents))
        folder = self.scratch / "blobs"
        folder.mkdir()
        for number, content in enumerate(wanted):
            (folder / str(number)).write_bytes(content)
        # From within the folder: so its own path, which may hold a line feed, need not be said.
        real = self.place.real
        git = replace(real, directory=folder, environment={**real.environment, "GIT_DIR": str(self.place.git_dir)})
        names = "".join(f"{number}\n" for number in range(len(wanted))).encode()
        made = git.run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=names).decode("ascii").split()
        return dict(zip(wanted, made, strict=True))

    def content(self, object_id: str) -> bytes:
        """A blob's bytes. Raises GitError."""
        return self.place.real.run("cat-file", "blob", object_id)

    def checked_out(self, path: str, object_id: str) -> bytes:
        """A blob as git would write it into the work tree, by its line ends and without any program. Raises GitError."""
        return self.place.tree.run("cat-file", "--filters", f"--path={path}", object_id)

    def grown(self, tree: str, entries: Mapping[str, Entry | None]) -> str:
        """The tree with these files in it, without those that are ``None``. Raises WriteError where git takes no such path."""
        return next(self.grow(tree, (entries,)))

    def grow(self, tree: str, steps: Iterable[Mapping[str, Entry | None]]) -> Iterator[str]:
        """The tree after each step."""
        index = self.scratch / "tree"
        index.unlink(missing_ok=True)
        real = self.place.real
        git = replace(real, environment=indexed(real, index), settings=WHOLE)
        git.run("read-tree", "--end-of-options", tree)
        for entries in steps:
            put(git, entries, self._zero)
            made = git.run("write-tree", "--missing-ok").decode("ascii").strip()
            if made == self.place.empty_tree:  # git knows it without having it, and misses it later
                self._told("hash-object", "-w", "-t", "tree", "--stdin")
            yield made

    def differences(self, old: str, new: str) -> dict[str, Entry | None]:
        """What has to be put into a tree to make it another."""
        raw = self.place.bare.run("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--end-of-options", old, new)
        fields = iter(raw.split(b"\0"))
        found: dict[str, Entry | None] = {}
        for about, path in zip(fields, fields, strict=False):
            _, mode, _, object_id, status = about.decode("ascii").split(" ")
            gone = status == "D"
            found[path.decode("utf-8", "surrogateescape")] = None if gone else Entry(int(mode, 8), object_id)
        return found

    def listed(self, tree: str, paths: Iterable[str]) -> dict[str, Entry]:
        """What a tree, also one that is only here, has at these paths: a file, a link, a folder, a submodule. Raises GitError."""
        wanted, bare = tuple(paths), self.place.bare
        if not wanted:
            return {}
        git = replace(bare, environment={**bare.environment, "GIT_LITERAL_PATHSPECS": "1"})
        output = git.run("ls-tree", "-z", "--full-tree", "--end-of-options", tree, "--", *wanted)
        found: dict[str, Entry] = {}
        for record in output.split(b"\0"):
            if record:
                about, _, path = record.partition(b"\t")
                mode, _, object_id = about.decode("ascii").split(" ")
                found[path.decode("utf-8", "surrogateescape")] = Entry(int(mode, 8), object_id)
        return found

    def commit(self, tree: str, parents: Iterable[str], message: str) -> str:
        """A commit by who the repository, the user's configuration or the environment says. It is not signed."""
        return self._commit(self._as_user, tree, parents, message=message)

    def note(self, tree: str, parents: Iterable[str], message: str) -> str:
        """A commit of our own, on no branch."""
        real = self.place.real
        return self._commit(replace(real, environment={**real.environment, **_OURS}), tree, parents, message=message)

    def expect_identity(self) -> None:
        """Raises WriteError where git does not know who commits."""
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            answer = self._as_user.ask("var", who)
            if not answer.ok:
                raise WriteError(
                    f"git does not know who commits: {answer.complaint}",
                    hint="set `git config user.name` and `git config user.email`, or leave --commit out",
                )

    def says(self, key: str) -> str:
        """A value of the configuration, empty where there is none."""
        answer = self.place.real.ask("config", "--get", key)
        return answer.text if answer.ok else ""

    def is_on(self, key: str) -> bool:
        """A switch of the configuration."""
        return self.place.real.ask("config", "--type=bool", "--get", key).text == "true"

    def value(self, name: str) -> str | None:
        """The commit that a name means."""
        answer = self.place.real.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        return answer.text if answer.ok else None

    def tree(self, commit: str) -> str:
        """A commit's tree."""
        return self._told("rev-parse", "--verify", "--end-of-options", f"{commit}^{{tree}}")

    def branch(self) -> str | None:
        """The ref that ``HEAD`` names, also where there is none yet; ``None`` where it is detached."""
        answer = self.place.real.ask("symbolic-ref", "--quiet", "HEAD")
        return answer.text if answer.ok else None

    def holds(self, commit: str, older: str) -> bool:
        """``older`` is in the history of ``commit``."""
        return self.place.real.ask("merge-base", "--is-ancestor", older, commit).ok

    def published(self, commit: str) -> str | None:
        """A remote-tracking branch that has the commit."""
        listed = self.place.real.run("for-each-ref", "--count=1", "--format=%(refname)", f"--contains={commit}", "refs/remotes")
        return listed.decode("utf-8", "surrogateescape").strip() or None

    def move(self, moves: Iterable[RefMove], reason: str) -> None:
        """All these refs at once, each from what it was. Raises WriteError where one is something else by now."""
        lines = b"".join(_order(one, self._zero) for one in moves)
        git = self._as_user
        try:
            done = subprocess.run(
                git.argv("update-ref", "-m", reason, "-z", "--stdin"),
                cwd=git.directory,
                env=dict(git.environment),
                input=lines,
                capture_output=True,
                timeout=git.timeout_seconds,
                start_new_session=True,
                pass_fds=(self.lock,),
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise GitError(f"git update-ref did not come to its end: {exc}") from exc
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
            raise WriteError(f"a branch or ref cannot be moved: {said[:300]}", hint="run it again when no other git is at work")

    @property
    def _zero(self) -> str:
        return "0" * len(self.place.empty_tree)

    @property
    def _as_user(self) -> Git:
        real = self.place.real
        said = {name: self.environment[name] for name in _IDENTITY if name in self.environment}
        kept = {name: value for name, value in real.environment.items() if name != "GIT_CONFIG_NOSYSTEM"}
        return replace(real, environment=kept | said, settings=_PLAIN)

    def _commit(self, git: Git, tree: str, parents: Iterable[str], *, message: str) -> str:
        before = [word for parent in parents for word in ("-p", parent)]
        text = message.encode("utf-8", "backslashreplace").replace(b"\0", b"")
        return git.run("commit-tree", "--no-gpg-sign", *before, "-F", "-", tree, stdin=text).decode("ascii").strip()

    def _told(self, *args: str, stdin: bytes = b"") -> str:
        return self.place.real.run(*args, stdin=stdin).decode("ascii").strip()


def _order(move: RefMove, zero: str) -> bytes:
    """A line of ``git update-ref -z --stdin``."""
    name = move.name.encode("utf-8", "surrogateescape")
    return b"update " + b"\0".join((name, (move.after or zero).encode(), (move.before or zero).encode(), b""))
