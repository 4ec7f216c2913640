"""A pull request of the fake: its code by git, what was said under it, and where old threads stand now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.forge.hub.code import ChangedFile
from tests.forge.hub.rules import begun_review
from tests.forge.hub.state import CLOSES, Anchor, Comment, Issue, Reaction, Review, ReviewComment, Thread, User

if TYPE_CHECKING:
    from tests.forge.hub.hub import Hub
    from tests.forge.hub.repository import Repository

FILES_SHOWN = 3000


@dataclass
class Pull:
    """Its public part is described in :mod:`tests.forge.hub`."""

    id: int
    number: int
    repository: Repository
    user: User
    title: str
    body: str
    head_ref: str
    base_ref: str
    head_repository: Repository | None
    created_at: str
    updated_at: str
    draft: bool = False
    state: str = "open"
    merged: bool = False
    locked: bool = False
    deleted: bool = False
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    reviews: list[Review] = field(default_factory=list)
    all_threads: list[Thread] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    base_known: str = ""

    @property
    def hub(self) -> Hub:
        return self.repository.hub

    @property
    def node_id(self) -> str:
        return f"PR_{self.id}"

    @property
    def head_sha(self) -> str:
        return self.repository.code.sha(f"refs/pull/{self.number}/head") or ""

    @property
    def base_sha(self) -> str:
        self.base_known = self.repository.code.sha(f"refs/heads/{self.base_ref}") or self.base_known
        return self.base_known

    @property
    def merge_base(self) -> str:
        return self.repository.code.merge_base(self.base_sha, self.head_sha) or self.base_sha

    @property
    def files(self) -> list[ChangedFile]:
        return self.files_at(self.head_sha)

    def files_at(self, commit: str) -> list[ChangedFile]:
        """What the pull request changed when ``commit`` was its head."""
        code, base = self.repository.code, self.base_sha
        return code.files(code.merge_base(base, commit) or base, commit)

    @property
    def commits(self) -> list[str]:
        return self.repository.code.log(self.base_sha, self.head_sha)

    @property
    def threads(self) -> list[Thread]:
        """What anybody sees: threads of pending reviews are left out."""
        return [thread for thread in self.all_threads if any(not comment.is_pending for comment in thread.comments)]

    @property
    def review_comments(self) -> list[ReviewComment]:
        """Every submitted comment in a thread, in the order of their ids."""
        found = [comment for thread in self.all_threads for comment in thread.comments if not comment.is_pending]
        return sorted(found, key=lambda comment: comment.id)

    @property
    def closes(self) -> list[Issue]:
        return [
            self.repository.issues_by_number[int(n)]
            for n in CLOSES.findall(self.body)
            if int(n) in self.repository.issues_by_number
        ]

    def line_now(self, anchor: Anchor, line: int | None) -> int | None:
        """Where a line of an anchor is in the diff of today, ``None`` where it is not any more."""
        if line is None:
            return None
        old, new = (anchor.base, self.merge_base) if anchor.side == "LEFT" else (anchor.commit, self.head_sha)
        shift = 0
        for hunk in self.repository.code.moved(anchor.path, old=old, new=new) if old != new else ():
            if line in hunk.left:
                return None
            if line >= hunk.left.stop + (0 if hunk.left else 1):
                shift += len(hunk.right) - len(hunk.left)
        shown = (
            hunk.lines(anchor.side) for file in self.files if anchor.path in (file.path, file.previous) for hunk in file.hunks
        )
        return line + shift if any(line + shift in lines for lines in shown) else None

    def push(self, files: Mapping[str, str | bytes | None], message: str = "More", *, author: str | None = None) -> str:
        """A commit on top of the head; its id."""
        home = self.head_repository
        assert home, "the head repository is gone"
        return home.commit(self.head_ref, files, message, author=author or self.user.login)

    def force_push(self, files: Mapping[str, str | bytes | None], message: str = "Again", *, parent: str | None = None) -> str:
        """The head becomes one commit on ``parent`` (else the merge base); its id. Old reviews are re-pointed to it (G25)."""
        home = self.head_repository
        assert home, "the head repository is gone"
        made = home.commit(self.head_ref, files, message, author=self.user.login, parent=parent or self.merge_base)
        for review in self.reviews:
            review.commit_id = made
        return made

    def comment(self, login: str, body: str) -> Comment:
        """Somebody says something under the pull request."""
        now = self.hub.now()
        said = Comment(self.hub.next_id(), self.hub.user(login), body, self, now, now)
        self.comments.append(said)
        return said

    def reply(self, thread: Thread, login: str, body: str) -> ReviewComment:
        """Somebody answers in a thread: a review of its own holds the answer, as on GitHub."""
        user = self.hub.user(login)
        now = self.hub.now()
        review = Review(self.hub.next_id(), user, self, "COMMENTED", "", self.head_sha, self.head_sha, now)
        said = ReviewComment(self.hub.next_id(), user, body, thread, review, now, now, thread.comments[0].id)
        review.comments.append(said)
        thread.comments.append(said)
        self.reviews.append(review)
        return said

    def thread(
        self, login: str, path: str, line: int, *, body: str = "Why?", start_line: int | None = None, side: str = "RIGHT"
    ) -> Thread:
        """Somebody begins a thread on lines of the diff."""
        comment = {"path": path, "line": line, "side": side, "body": body, **({"start_line": start_line} if start_line else {})}
        review = begun_review(self, self.hub.user(login), {"event": "COMMENT", "body": "", "comments": [comment]})
        return review.comments[0].thread

    def review(self, login: str, body: str, *, event: str = "COMMENT") -> Review:
        """Somebody reviews without inline comments."""
        return begun_review(self, self.hub.user(login), {"event": event, "body": body})

    def close(self, *, merged: bool = False) -> None:
        self.state, self.merged = "closed", merged

    def reopen(self) -> None:
        self.state = "open"

    def lose_head(self) -> None:
        """The head repository is deleted (G30); ``refs/pull/N/head`` stays."""
        self.head_repository = None
