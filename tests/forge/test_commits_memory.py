"""The forge in memory and the client of GitHub answer the same to who writes code: one conversation with both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from reviewbot.adapters.github import Hub as Client
from reviewbot.adapters.github import Token
from reviewbot.domain.action import DeleteBranch, MakeBranch, MakeCommit, OpenPull
from reviewbot.domain.repair import Edit
from reviewbot.errors import ForgeError, GoneError, InvalidError, NotPermittedError, StaleError, UnsureError
from reviewbot.ports import Branches, Desk, Forge, History
from reviewbot.testing import MemoryForge, a_standing
from tests.forge.hub import Hub, Pull, faults
from tests.forge.scripted import opened

pytestmark = pytest.mark.matrix(parts=1)

WRITER = {"contents": "write", "pull_requests": "write", "metadata": "read"}


@dataclass
class Place:
    """A forge by its ports, and what somebody else does there: push to the head, guard a branch, lose an answer."""

    branches: Branches
    history: History
    desk: Desk
    forge: Forge
    number: int
    push: Callable[[str, bytes | None], object]
    guard: Callable[[str], object]
    lose: Callable[[], object]

    @property
    def head(self) -> str:
        return self.desk.standing(self.number).pull.head_sha


def on_github(hub: Hub, pull: Pull, made: Client) -> Place:
    def lose() -> None:
        hub.faults.append(faults.dropped("graphql:createCommitOnBranch", after=True))

    def push(path: str, content: bytes | None) -> None:
        pull.push({path: content})  # type: ignore[dict-item]

    return Place(made, made, made, made, pull.number, push, pull.repository.protect, lose)


def in_memory() -> Place:
    forge = MemoryForge(a_standing("d" * 40), files={"a.py": b"line\n", "b.py": b"x = 1\ny = 2\n"})

    def lose() -> None:
        forge.troubles.append((MakeCommit, UnsureError("no answer"), True))

    def push(path: str, content: bytes | None) -> None:
        forge.push("topic", (Edit(path, content),), message="A change", author="mona")

    return Place(forge, forge, forge, forge, 12, push, forge.code.protected.add, lose)


@pytest.fixture(params=["github", "memory"])
def place(request: pytest.FixtureRequest, hub: Hub, pull: Pull) -> Iterator[Place]:
    if request.param == "memory":
        yield in_memory()
        return
    credential = Token(hub.token(login="reviewbot[bot]", permissions=WRITER))
    with opened(hub.api_url, credential=credential, repository="octo/app") as made:
        yield on_github(hub, pull, made)


def mend(head: str, content: bytes | None = b"x = 2\n", branch: str = "topic") -> MakeCommit:
    return MakeCommit(branch, head, "Mend", "Reviewbot-Finding: f1", (Edit("b.py", content),))


def refused(place: Place, action: MakeCommit | MakeBranch | DeleteBranch | OpenPull, kind: type[ForgeError]) -> None:
    with pytest.raises(ForgeError) as failed:
        place.forge.do(action)
    assert type(failed.value) is kind


def test_a_commit_is_made_once_and_is_seen_everywhere(place: Place):
    old = place.head
    done = place.forge.do(mend(old))
    told = place.branches.head("topic")
    standing = place.desk.standing(place.number)
    assert told is not None
    assert (told.sha, told.parents, told.is_vouched, told.author) == (done.sha, (old,), True, standing.me.login)
    assert told.message == "Mend\n\nReviewbot-Finding: f1"
    assert (standing.pull.head_sha, standing.commits[-1]) == (done.sha, told)
    refused(place, mend(old), StaleError)
    refused(place, mend(done.sha), InvalidError)
    refused(place, mend(done.sha, b"x = 9\n", branch="nowhere"), GoneError)


def test_a_guarded_branch_takes_none(place: Place):
    assert place.branches.is_protected("topic") is False
    assert place.branches.is_protected("nowhere") is None
    place.guard("topic")
    assert place.branches.is_protected("topic") is True
    refused(place, mend(place.head), NotPermittedError)
    refused(place, DeleteBranch("topic", place.head), NotPermittedError)


def test_a_stack_is_opened_once_and_its_branch_goes_while_nobody_wrote_to_it(place: Place):
    head = place.head
    stack = OpenPull("Mend", "For the other", "mend", "topic")
    place.forge.do(MakeBranch("mend", head))
    refused(place, MakeBranch("mend", head), InvalidError)
    refused(place, MakeBranch("other", "f" * 40), InvalidError)
    refused(place, stack, InvalidError)
    done = place.forge.do(mend(head, branch="mend"))
    assert place.head == head, "the stack is not the pull request"
    opened_now = place.forge.do(stack)
    assert opened_now.id == place.number + 1
    refused(place, stack, InvalidError)
    refused(place, DeleteBranch("mend", head), StaleError)
    place.forge.do(DeleteBranch("mend", done.sha))
    assert place.branches.head("mend") is None


def test_a_commit_whose_answer_was_lost_is_found(place: Place):
    old = place.head
    place.lose()
    refused(place, mend(old), UnsureError)
    told = place.branches.head("topic")
    assert told is not None
    assert (told.parents, told.is_vouched) == ((old,), True)


@pytest.mark.parametrize(
    ("content", "intact", "taken_back"), [(b"x = 3\n", False, False), (b"x = 1\ny = 2\n", False, True), (None, False, False)]
)
def test_what_became_of_a_commit_is_told_by_the_files(place: Place, content: bytes | None, intact: bool, taken_back: bool):
    ours = place.forge.do(mend(place.head)).sha
    place.push("README.md", b"else\n")
    (told,) = place.history.touched(ours, place.head)
    assert (told.path, told.is_intact, told.is_taken_back) == ("b.py", True, False)
    assert place.history.blob(told.before or "") == b"x = 1\ny = 2\n"
    assert place.history.blob(told.after or "") == b"x = 2\n"
    place.push("b.py", content)
    (told,) = place.history.touched(ours, place.head)
    assert (told.is_intact, told.is_taken_back) == (intact, taken_back)
    told_head = place.branches.head("topic")
    assert told_head is not None
    assert not told_head.is_vouched, "who pushes is not vouched for"


def test_a_file_that_went_comes_back(place: Place):
    ours = place.forge.do(mend(place.head, None)).sha
    (told,) = place.history.touched(ours, ours)
    assert (told.after, told.is_intact) == (None, True)
    back = place.forge.do(mend(ours, place.history.blob(told.before or ""))).sha
    assert place.history.touched(ours, back)[0].is_taken_back
    with pytest.raises(StaleError):
        place.history.touched(ours, "f" * 40)


def test_the_head_of_a_fork_is_no_branch_of_the_repository():
    standing = a_standing("d" * 40)
    forge = MemoryForge(replace(standing, pull=replace(standing.pull, head_repository="mona/shop")))
    assert forge.head("topic") is None
    with pytest.raises(GoneError):
        forge.do(mend("d" * 40))
