"""A repository of the fake: its code, and everything that was made in it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from tests.forge.hub.code import Code
from tests.forge.hub.pull import Pull
from tests.forge.hub.shown import GITHUB
from tests.forge.hub.state import Artifact, CheckRun, Issue, Run, Status

if TYPE_CHECKING:
    from tests.forge.hub.hub import Hub

ROLES = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(frozen=True)
class Rule:
    """A rule of a ruleset: its type, and the branches for which it holds."""

    kind: str
    pattern: str


@dataclass
class Repository:
    """Its public part is described in :mod:`tests.forge.hub`."""

    id: int
    full_name: str
    hub: Hub
    code: Code
    private: bool = False
    parent: Repository | None = None
    actions_may_approve: bool = False
    roles: dict[str, str] = field(default_factory=dict)
    pulls_by_number: dict[int, Pull] = field(default_factory=dict)
    issues_by_number: dict[int, Issue] = field(default_factory=dict)
    all_check_runs: list[CheckRun] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    sarifs: list[dict[str, object]] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    protected: dict[str, str] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    numbers: int = 0

    @property
    def git(self) -> Path:
        """Its bare repository."""
        return self.code.path

    @property
    def owner(self) -> str:
        return self.full_name.split("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.split("/")[1]

    @property
    def node_id(self) -> str:
        return f"R_{self.id}"

    @property
    def issues(self) -> list[Issue]:
        return list(self.issues_by_number.values())

    @property
    def pulls(self) -> list[Pull]:
        return list(self.pulls_by_number.values())

    @property
    def talks(self) -> list[Pull | Issue]:
        """Everything that can be commented on."""
        return [*self.pulls, *self.issues]

    def check_runs(self, sha: str) -> list[CheckRun]:
        return [run for run in self.all_check_runs if run.head_sha == sha]

    def commit(
        self,
        branch: str,
        files: Mapping[str, str | bytes | None],
        message: str = "A change",
        *,
        author: str = "octocat",
        parent: str | None = None,
        modes: Mapping[str, str] | None = None,
        by_github: bool = False,
    ) -> str:
        """A commit on a branch; pull requests with that head follow. Its id. ``by_github``: as one that GitHub makes for
        somebody, which it signs."""
        known = parent and self.code.sha(parent)
        if not known and not self.code.sha(f"refs/heads/{branch}"):
            known = self.code.sha("refs/heads/main")
        sha = self.code.commit(
            branch,
            files,
            message,
            author=(author, f"{author}@users.example.org"),
            committer=GITHUB if by_github else None,
            parent=known or None,
            modes=modes,
        )
        self.hub.follow_heads(self)
        return sha

    def protect(self, branch: str, why: str = "Changes must be made through a pull request.") -> None:
        """Guard a branch by its own settings: who commits to it is told ``why`` not."""
        self.protected[branch] = why

    def rule(self, kind: str, pattern: str = "*") -> None:
        """Guard branches by a rule of a ruleset: a type of GitHub's, as ``pull_request``."""
        self.rules.append(Rule(kind, pattern))

    def rules_of(self, branch: str) -> list[str]:
        """The kinds of the rules that hold for a branch."""
        return [rule.kind for rule in self.rules if fnmatchcase(branch, rule.pattern)]

    def git_text(self, sha: str, path: str) -> str:
        """A file at a commit."""
        content = self.code.blob(sha, path)
        assert content is not None, f"no {path} at {sha}"
        return content.decode()

    def pull(
        self,
        title: str,
        head: str,
        base: str = "main",
        *,
        author: str = "octocat",
        head_repository: Repository | None = None,
        draft: bool = False,
        body: str = "",
    ) -> Pull:
        """Open a pull request; ``head`` is a branch of ``head_repository`` (else of this one)."""
        now = self.hub.now()
        opened = Pull(
            self.hub.next_id(),
            self.next_number(),
            self,
            self.hub.user(author),
            title,
            body,
            head,
            base,
            head_repository or self,
            now,
            now,
            draft,
        )
        self.pulls_by_number[opened.number] = opened
        self.hub.follow_heads(opened.head_repository or self)
        assert opened.head_sha, f"no branch {head}"
        assert opened.base_sha, f"no branch {base}"
        return opened

    def issue(self, title: str, body: str = "", *, author: str = "octocat", labels: tuple[str, ...] = ()) -> Issue:
        made = Issue(
            self.hub.next_id(), self.next_number(), self, self.hub.user(author), title, body, self.hub.now(), labels=list(labels)
        )
        self.issues_by_number[made.number] = made
        return made

    def next_number(self) -> int:
        self.numbers += 1
        return self.numbers

    def allow(self, login: str, role: str) -> None:
        """What somebody may do: none, read, triage, write, maintain, admin."""
        assert role in ROLES
        self.hub.user(login)
        self.roles[login.lower()] = role

    def role(self, login: str) -> str:
        if login.lower() == self.owner.lower():
            return "admin"
        return self.roles.get(login.lower(), "none" if self.private else "read")

    def fork(self, full_name: str) -> Repository:
        """A copy with all branches."""
        made = self.hub.repository(full_name, private=self.private)
        shutil.rmtree(made.git / "objects")
        shutil.copytree(self.git / "objects", made.git / "objects")
        for line in self.code.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads").splitlines():
            sha, ref = line.split(" ", 1)
            made.code.git("update-ref", ref, sha)
        made.parent = self
        return made

    def check(self, sha: str, name: str, conclusion: str | None = "success", *, app: str = "ci", summary: str = "") -> CheckRun:
        """A check that some other app made; ``None`` leaves it running."""
        now = self.hub.now()
        made = CheckRun(self.hub.next_check(), name, sha, app, self, "completed" if conclusion else "in_progress", conclusion)
        made.started_at, made.completed_at = now, now if conclusion else None
        made.output = {"title": None, "summary": summary or None, "text": None}
        self.all_check_runs.append(made)
        return made

    def status(self, sha: str, context: str, state: str = "success", *, author: str = "octocat", description: str = "") -> Status:
        made = Status(self.hub.next_id(), self.hub.user(author), sha, context, state, description or None, None, self.hub.now())
        self.statuses.append(made)
        return made

    def run(self, name: str, *, pull: Pull, event: str = "pull_request", conclusion: str | None = "success") -> Run:
        """A finished run of a workflow for a pull request."""
        made = Run(
            self.hub.next_id(),
            name,
            self,
            event,
            pull.head_ref,
            pull.head_sha,
            pull.head_repository,
            pull.user,
            self.hub.now(),
            conclusion=conclusion,
        )
        made.pulls = [] if pull.head_repository is not self else [pull]
        self.runs.append(made)
        return made

    def artifact(self, run: Run, name: str, content: bytes) -> Artifact:
        """``content`` is the bytes of a zip."""
        made = Artifact(self.hub.next_id(), name, content, run, self.hub.now())
        run.artifacts.append(made)
        return made
