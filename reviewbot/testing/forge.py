"""A forge in memory, with one pull request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reviewbot.domain.action import (
    Action,
    AddLabels,
    DeleteBranch,
    DeletePendingReview,
    DismissReview,
    Done,
    EditComment,
    EditIssue,
    InlineComment,
    MakeBranch,
    MakeCommit,
    MinimizeComment,
    OpenIssue,
    OpenPull,
    PostCheck,
    PostComment,
    PostReview,
    React,
    RemoveLabel,
    ReplyThread,
    ResolveThread,
    ReviewEvent,
)
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    CheckState,
    Comment,
    Commit,
    Permission,
    PostedReview,
    PullRequest,
    PullState,
    Standing,
    Thread,
    Touched,
)
from reviewbot.domain.repair import Edit
from reviewbot.errors import ForgeError, GoneError, InvalidError
from reviewbot.testing.code import MemoryCode


class MemoryForge:
    """A forge with one pull request: what is done changes ``now``, what stands there, and is kept in ``done``.

    ``troubles`` are used up in order, and more may be added: each is a kind of action, the error that it meets, and whether it
    was done nevertheless (its answer was lost). ``allowed`` are permissions by login. ``code`` has the branches and commits;
    ``files`` are those of the pull request's base and of its head. ``opened`` are pull requests that were opened, by number.
    """

    def __init__(
        self,
        now: Standing,
        *,
        troubles: Iterable[tuple[type[Action], ForgeError, bool]] = (),
        allowed: Mapping[str, Permission] | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> None:
        self.now = now
        self.done: list[Action] = []
        self.reads = 0
        self.issues: list[OpenIssue | EditIssue] = []
        self.reactions: list[React] = []
        self.code = _code(now.pull, files or {})
        self.opened: dict[int, OpenPull] = {}
        self.troubles = list(troubles)
        self._allowed = dict(allowed or {})
        self._last = max((0, *(said.id for said in self._every_comment()), *(review.id for review in now.reviews)))

    def standing(self, number: int) -> Standing:
        """What stands there now. Raises GoneError for any other number."""
        self.reads += 1
        if number != self.now.pull.number:
            raise GoneError(f"there is no pull request {number}")
        return self.now

    def permission(self, login: str) -> Permission:
        """What was laid out for the login, else nothing."""
        return self._allowed.get(login, Permission.NONE)

    def pull_of(self, head_repository: str, head_ref: str, head_sha: str) -> int | None:
        """The pull request, where it is open and this is its head."""
        pull = self.now.pull
        is_it = (pull.head_repository, pull.head_ref, pull.head_sha) == (head_repository, head_ref, head_sha)
        return pull.number if is_it and pull.state is PullState.OPEN else None

    def head(self, branch: str) -> Commit | None:
        """The commit at which a branch stands."""
        return self.code.head(branch)

    def is_protected(self, branch: str) -> bool | None:
        """Whether ``code.protected`` holds it; ``None`` where there is no such branch."""
        return branch in self.code.protected if branch in self.code.branches else None

    def touched(self, sha: str, head: str) -> tuple[Touched, ...]:
        """What a commit changed."""
        return self.code.touched(sha, head)

    def blob(self, object_id: str) -> bytes:
        """A file by its id."""
        return self.code.blob(object_id)

    def push(self, branch: str, edits: tuple[Edit, ...], *, message: str, author: str) -> Commit:
        """Somebody puts a commit on a branch: a test plays them."""
        made = self.code.put(branch, edits, message=message, author=author)
        self._follow(branch, made)
        return made

    def do(self, action: Action) -> Done:
        """Do it, or meet the trouble that was laid out for it."""
        trouble = next((one for one in self.troubles if isinstance(action, one[0])), None)
        if trouble is None:
            return self._do(action)
        self.troubles.remove(trouble)
        if trouble[2]:
            self._do(action)
        raise trouble[1]

    def _do(self, action: Action) -> Done:
        done = self._made(action) if isinstance(action, MakeBranch | DeleteBranch | MakeCommit | OpenPull) else self._said(action)
        self.done.append(action)
        return done

    def _made(self, action: MakeBranch | DeleteBranch | MakeCommit | OpenPull) -> Done:
        match action:
            case MakeBranch():
                return self.code.branch(action)
            case DeleteBranch():
                return self.code.delete(action)
            case MakeCommit():
                return self._commit(action)
            case OpenPull():
                return self._open(action)

    def _commit(self, action: MakeCommit) -> Done:
        made = self.code.make(action, self.now.me.login)
        self._follow(action.branch, made)
        return Done(url=f"https://forge.example/commit/{made.sha}", sha=made.sha)

    def _follow(self, branch: str, made: Commit) -> None:
        """The pull request has what was put on its head."""
        pull = self.now.pull
        if branch == pull.head_ref and not pull.is_fork:
            self.now = replace(self.now, pull=replace(pull, head_sha=made.sha), commits=(*self.now.commits, made))

    def _open(self, action: OpenPull) -> Done:
        if self.code.branches.get(action.head) in (None, self.code.branches.get(action.base)):
            words = f"No commits between {action.base} and {action.head}"
            raise InvalidError(words, reasons=(words,))
        if any((one.head, one.base) == (action.head, action.base) for one in self.opened.values()):
            words = f"A pull request already exists for {action.head}."
            raise InvalidError(words, reasons=(words,))
        number = self.now.pull.number + len(self.opened) + 1
        self.opened[number] = action
        return Done(number, f"https://forge.example/pull/{number}")

    def _said(self, action: Action) -> Done:
        match action:
            case PostComment():
                return self._post(action)
            case PostReview():
                return self._review(action)
            case PostCheck():
                return self._check(action)
            case EditComment() | MinimizeComment():
                self._change(action)
            case ResolveThread() | ReplyThread():
                self._thread(action)
            case DeletePendingReview() | DismissReview():
                self._withdraw(action)
            case AddLabels() | RemoveLabel():
                self._label(action)
            case React():
                self.reactions.append(action)
            case OpenIssue() | EditIssue():
                self.issues.append(action)
        return Done()

    def _comment(self, body: str) -> Comment:
        self._last += 1
        number = self._last
        return Comment(number, f"C{number}", self.now.me, is_own=True, body=body, url=f"https://forge.example/c/{number}")

    def _post(self, action: PostComment) -> Done:
        made = self._comment(action.body)
        self.now = replace(self.now, comments=(*self.now.comments, made))
        return Done(made.id, made.url)

    def _review(self, action: PostReview) -> Done:
        self._last += 1
        number = self._last
        words = {ReviewEvent.APPROVE: "APPROVED", ReviewEvent.REQUEST_CHANGES: "CHANGES_REQUESTED"}
        posted = PostedReview(number, f"R{number}", is_own=True, state=words.get(action.event, "COMMENTED"), body=action.body)
        begun = tuple(map(self._begun, action.comments))
        self.now = replace(self.now, reviews=(*self.now.reviews, posted), threads=(*self.now.threads, *begun))
        return Done(number)

    def _begun(self, said: InlineComment) -> Thread:
        first = self._comment(said.body)
        return Thread(
            f"T{first.id}",
            said.path,
            said.line,
            said.start_line,
            said.side,
            is_resolved=False,
            is_outdated=False,
            comments=(first,),
        )

    def _check(self, action: PostCheck) -> Done:
        kept = tuple(check for check in self.now.checks if not action.check_id or check.id != action.check_id)
        self._last += 1
        number = action.check_id or self._last
        app = self.now.me.login.removesuffix("[bot]")
        made = CheckState(action.name, action.conclusion.value, number, action.external_id, app, action.title)
        self.now = replace(self.now, checks=(*kept, made))
        return Done(number)

    def _change(self, action: EditComment | MinimizeComment) -> None:
        def changed(said: Comment) -> Comment:
            if isinstance(action, EditComment):
                return replace(said, body=action.body) if said.id == action.comment_id else said
            return replace(said, is_minimized=True) if said.node_id == action.node_id else said

        threads = (replace(thread, comments=tuple(map(changed, thread.comments))) for thread in self.now.threads)
        self.now = replace(self.now, comments=tuple(map(changed, self.now.comments)), threads=tuple(threads))

    def _thread(self, action: ResolveThread | ReplyThread) -> None:
        def changed(thread: Thread) -> Thread:
            if isinstance(action, ResolveThread):
                return replace(thread, is_resolved=True) if thread.node_id == action.node_id else thread
            meant = thread.comments[0].id == action.comment_id
            return replace(thread, comments=(*thread.comments, self._comment(action.body))) if meant else thread

        self.now = replace(self.now, threads=tuple(map(changed, self.now.threads)))

    def _withdraw(self, action: DeletePendingReview | DismissReview) -> None:
        kept = [review for review in self.now.reviews if review.id != action.review_id]
        if isinstance(action, DismissReview):
            meant = (review for review in self.now.reviews if review.id == action.review_id)
            kept += [replace(review, state="DISMISSED") for review in meant]
            kept.sort(key=lambda review: review.id)
        self.now = replace(self.now, reviews=tuple(kept))

    def _label(self, action: AddLabels | RemoveLabel) -> None:
        worn = self.now.pull.labels
        if isinstance(action, AddLabels):
            worn = (*worn, *action.labels)
        else:
            worn = tuple(label for label in worn if label != action.label)
        self.now = replace(self.now, pull=replace(self.now.pull, labels=worn))

    def _every_comment(self) -> list[Comment]:
        return [*self.now.comments, *(said for thread in self.now.threads for said in thread.comments)]


def _code(pull: PullRequest, files: Mapping[str, bytes]) -> MemoryCode:
    """The code of a pull request: its base, and one commit on it. The head of a fork is no branch of the repository."""
    author = pull.author.login if pull.author else ""
    base = Commit(pull.base_sha, "The base", author)
    head = Commit(pull.head_sha, pull.title, author, (pull.base_sha,))
    branches = {pull.base_ref: base.sha} | ({} if pull.is_fork else {pull.head_ref: head.sha})
    return MemoryCode((base, head), branches, files)


def a_standing(head_sha: str, **changes: object) -> Standing:
    """An open pull request, number 12, of a person in the repository itself, read by a bot; nothing stands under it. Further
    words override fields of the pull request."""
    fields: dict[str, object] = {
        "repository": "acme/shop",
        "number": 12,
        "title": "A change",
        "body": "",
        "author": Author("alice", 7),
        "state": PullState.OPEN,
        "is_draft": False,
        "is_locked": False,
        "labels": (),
        "base_ref": "main",
        "base_sha": "b" * 40,
        "head_ref": "topic",
        "head_sha": head_sha,
        "head_repository": "acme/shop",
        "changed_files": 1,
    }
    fields.update(changes)
    return Standing(PullRequest(**fields), Author("reviewbot[bot]", 99, AuthorKind.BOT))  # type: ignore[arg-type]
