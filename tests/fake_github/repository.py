"""A repository: its code, and everything that exists in it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fake_github.bare_repository import BareRepository, Files
from tests.fake_github.pull import Pull
from tests.fake_github.records import Artifact, CheckRun, Comment, Dispatch, Issue, WorkflowRun

if TYPE_CHECKING:
    from tests.fake_github.github import GitHub

ROLES = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(eq=False)
class Repository:
    """`OWNER/NAME`.

    Attributes:
        actions_may_approve: GitHub Actions may approve and open pull requests.
        dispatches: each `workflow_dispatch` that was asked for over REST.
        workflows: names of files that can be dispatched.
        protected: what GitHub says against commits, by branch.
    """

    id: int
    full_name: str
    github: GitHub
    bare: BareRepository
    private: bool = False
    default_branch: str = "main"
    parent: Repository | None = None
    actions_may_approve: bool = False
    roles: dict[str, str] = field(default_factory=dict)
    pulls_by_number: dict[int, Pull] = field(default_factory=dict)
    issues_by_number: dict[int, Issue] = field(default_factory=dict)
    all_check_runs: list[CheckRun] = field(default_factory=list)
    runs: list[WorkflowRun] = field(default_factory=list)
    dispatches: list[Dispatch] = field(default_factory=list)
    workflows: list[str] = field(default_factory=lambda: ["reviewbot.yml"])
    protected: dict[str, str] = field(default_factory=dict)
    branch_rules: list[tuple[str, str]] = field(default_factory=list)
    last_number: int = 0

    @property
    def path(self) -> Path:
        """The bare git repository."""
        return self.bare.path

    @property
    def owner(self) -> str:
        return self.full_name.split("/")[0]

    @property
    def name(self) -> str:
        return self.full_name.split("/")[1]

    @property
    def api_url(self) -> str:
        return f"{self.github.api_url}/repos/{self.full_name}"

    @property
    def url(self) -> str:
        return f"{self.github.server_url}/{self.full_name}"

    @property
    def node_id(self) -> str:
        return f"R_{self.id}"

    @property
    def is_fork(self) -> bool:
        return self.parent is not None

    @property
    def pulls(self) -> list[Pull]:
        return list(self.pulls_by_number.values())

    @property
    def issues(self) -> list[Issue]:
        return list(self.issues_by_number.values())

    @property
    def comments(self) -> list[Comment]:
        """Those of all issues and pull requests, without comments on lines."""
        return [comment for each in (*self.pulls, *self.issues) for comment in each.comments]

    def check_runs(self, sha: str) -> list[CheckRun]:
        return [run for run in self.all_check_runs if run.head_sha == sha]

    def commit(
        self,
        branch: str,
        files: Files,
        message: str = "Change files",
        *,
        author: str = "octocat",
        parent: str | None = None,
        modes: Mapping[str, str] | None = None,
    ) -> str:
        """Commit on a branch, which begins at main where it is new. Return the commit's id.

        Pull requests with that head follow. `files` maps paths to text or bytes, None deletes.
        `modes`: `100755` by path.
        """
        parent = self.bare.sha(parent) if parent else None
        if not parent and not self.bare.sha(f"refs/heads/{branch}"):
            parent = self.bare.sha("refs/heads/main")
        about = {"author": author, "parent": parent, "modes": modes or {}}
        sha = self.bare.commit(branch, files, message, **about)
        self.github.update_heads(self)
        return sha

    def text(self, sha: str, path: str) -> str:
        """A file at a commit or branch."""
        return self.bare.run("cat-file", "blob", f"{sha}:{path}").decode()

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
        """Open a pull request. `head` is a branch of `head_repository`, else of this one."""
        github, now, source = self.github, self.github.now(), head_repository or self
        number, user = self.next_number(), github.user(author)
        fields = (number, title, head, base, source, draft, now)
        pull = Pull(github.next_id(), self, user, body, now, *fields)
        self.pulls_by_number[pull.number] = pull
        github.update_heads(source)
        assert pull.head_sha, f"no branch {head}"
        assert pull.base_sha, f"no branch {base}"
        return pull

    def issue(
        self, title: str, body: str = "", *, author: str = "octocat", labels: tuple[str, ...] = ()
    ) -> Issue:
        github, number = self.github, self.next_number()
        user, now = github.user(author), github.now()
        issue = Issue(github.next_id(), self, user, body, now, number, title, labels=list(labels))
        self.issues_by_number[number] = issue
        return issue

    def next_number(self) -> int:
        self.last_number += 1
        return self.last_number

    def allow(self, login: str, role: str) -> None:
        """Give somebody a role: none, read, triage, write, maintain or admin."""
        assert role in ROLES
        self.github.user(login)
        self.roles[login.lower()] = role

    def role(self, login: str) -> str:
        if login.lower() == self.owner.lower():
            return "admin"
        return self.roles.get(login.lower(), "none" if self.private else "read")

    def fork(self, full_name: str) -> Repository:
        """A copy with all branches."""
        fork = self.github.repository(full_name, private=self.private)
        fork.parent = self
        shutil.rmtree(fork.path / "objects")
        shutil.copytree(self.path / "objects", fork.path / "objects")
        branches = self.bare.git("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
        for line in branches.splitlines():
            sha, ref = line.split(" ", 1)
            fork.bare.git("update-ref", ref, sha)
        return fork

    def check(self, sha: str, name: str, conclusion: str = "success") -> CheckRun:
        """A check run of another app."""
        run = CheckRun(self.github.next_check_id(), name, sha, "ci", self, "completed", conclusion)
        self.all_check_runs.append(run)
        return run

    def run(self, name: str, *, pull: Pull) -> WorkflowRun:
        """A completed run of a workflow for a pull request. A fork's run names no pull request."""
        head, github = pull.head_repository, self.github
        about = (pull.head_ref, pull.head_sha, head, pull.user, github.now())
        pulls = [pull] if head is self else []
        run = WorkflowRun(github.next_id(), name, self, "pull_request", *about, "success", pulls)
        self.runs.append(run)
        return run

    def artifact(self, run: WorkflowRun, name: str, content: bytes) -> Artifact:
        """`content` is a zip."""
        artifact = Artifact(self.github.next_id(), name, content, run, self.github.now())
        run.artifacts.append(artifact)
        return artifact

    def protect(self, branch: str) -> None:
        """Refuse commits on a branch by its own protection."""
        self.protected[branch] = "Changes must be made through a pull request."

    def add_rule(self, kind: str, pattern: str = "*") -> None:
        """Add a rule of a ruleset, of any of GitHub's types, for branches that match."""
        self.branch_rules.append((kind, pattern))

    def rules_of(self, branch: str) -> list[str]:
        return [kind for kind, pattern in self.branch_rules if fnmatchcase(branch, pattern)]
