"""A pull request: what git says about it, and what people wrote on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.fake_github import rules
from tests.fake_github.bare_repository import ChangedFile, Files
from tests.fake_github.records import Anchor, Authored, Comment, Review, ReviewComment, Thread

if TYPE_CHECKING:
    from tests.fake_github.repository import Repository


@dataclass(eq=False)
class Pull(Authored):
    """Tests may set `title`, `body`, `draft`, `locked`, `labels` and `base_ref`.

    Attributes:
        all_threads: with those of pending reviews, which `threads` leaves out.
    """

    prefix = "PR"
    number: int
    title: str
    head_ref: str
    base_ref: str
    head_repository: Repository | None
    draft: bool = False
    updated_at: str = ""
    state: str = "open"
    merged: bool = False
    locked: bool = False
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    all_threads: list[Thread] = field(default_factory=list)
    last_base_sha: str = ""

    @property
    def url(self) -> str:
        return f"{self.repository.url}/pull/{self.number}"

    @property
    def head_sha(self) -> str:
        return self.repository.bare.sha(f"refs/pull/{self.number}/head") or ""

    @property
    def base_sha(self) -> str:
        """The tip of the base branch, or what it was before the branch was deleted (G30)."""
        tip = self.repository.bare.sha(f"refs/heads/{self.base_ref}")
        self.last_base_sha = tip or self.last_base_sha
        return self.last_base_sha

    @property
    def merge_base(self) -> str:
        return self.repository.bare.merge_base(self.base_sha, self.head_sha) or self.base_sha

    @property
    def files(self) -> list[ChangedFile]:
        return self.files_at(self.head_sha)

    def files_at(self, commit: str) -> list[ChangedFile]:
        """What the pull request changed when `commit` was its head."""
        bare, base = self.repository.bare, self.base_sha
        return bare.files(bare.merge_base(base, commit) or base, commit)

    @property
    def commits(self) -> list[str]:
        return self.repository.bare.log(self.base_sha, self.head_sha)

    @property
    def threads(self) -> list[Thread]:
        return [thread for thread in self.all_threads if thread.is_visible_to(None)]

    @property
    def review_comments(self) -> list[ReviewComment]:
        """Every submitted comment of a thread, in the order of ids."""
        comments = [comment for thread in self.all_threads for comment in thread.comments]
        submitted = [comment for comment in comments if not comment.is_pending]
        return sorted(submitted, key=lambda comment: comment.id)

    def current_line(self, anchor: Anchor, line: int) -> int | None:
        """Where a line of an anchor is in the current diff; None where it is outdated."""
        old, new = anchor.commit, self.head_sha
        if anchor.side == "LEFT":
            old, new = anchor.base, self.merge_base
        shift = 0
        for hunk in self.repository.bare.moves(anchor.path, old, new) if old != new else ():
            if line in hunk.left:
                return None
            # A hunk that only adds lines stands after the line that its empty range names.
            if line >= hunk.left.stop + (0 if hunk.left else 1):
                shift += len(hunk.right) - len(hunk.left)
        files = [file for file in self.files if anchor.path in (file.path, file.previous)]
        lines = [hunk.lines(anchor.side) for file in files for hunk in file.hunks]
        return line + shift if any(line + shift in each for each in lines) else None

    def push(self, files: Files, message: str = "Continue") -> str:
        """Commit on top of the head. Return the commit's id."""
        assert self.head_repository, "the head repository is deleted"
        return self.head_repository.commit(self.head_ref, files, message, author=self.login)

    def force_push(self, files: Files) -> str:
        """Make the head one commit on the merge base. Return its id.

        GitHub re-points the `commit_id` of reviews to the new head (G25).
        """
        assert self.head_repository, "the head repository is deleted"
        where = {"author": self.login, "parent": self.merge_base}
        sha = self.head_repository.commit(self.head_ref, files, "Rewrite", **where)
        for review in self.reviews:
            review.commit_id = sha
        return sha

    def comment(self, login: str, body: str) -> Comment:
        return rules.create_comment(self, self.repository.github.user(login), body)

    def edit(self, comment: Comment | ReviewComment, body: str) -> None:
        comment.edit(comment.user, body, self.repository.github.now())

    def reply(self, thread: Thread, login: str, body: str) -> ReviewComment:
        return rules.create_reply(thread, self.repository.github.user(login), body)

    def thread(self, login: str, path: str, line: int, *, body: str = "Why?") -> Thread:
        """Start a thread on a line of the diff, with a review of its own."""
        comment = {"path": path, "line": line, "side": "RIGHT", "body": body}
        request = {"event": "COMMENT", "comments": [comment]}
        review = rules.create_review(self, self.repository.github.user(login), request)
        return review.comments[0].thread

    def review(self, login: str, body: str, *, event: str = "COMMENT") -> Review:
        """A review without comments on lines."""
        request = {"event": event, "body": body}
        return rules.create_review(self, self.repository.github.user(login), request)

    def close(self, *, merged: bool = False) -> None:
        self.state, self.merged = "closed", merged

    def delete_head_repository(self) -> None:
        """G30: `refs/pull/N/head` stays."""
        self.head_repository = None
