"""The GitHub adapter against the fake of GitHub: what is read, what is done, and how many requests it takes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from reviewbot.adapters.github import App, Token, artifact, checks
from reviewbot.adapters.github import Hub as Client
from reviewbot.changeset import diff as changeset
from reviewbot.domain.action import (
    AddLabels,
    Annotation,
    CheckConclusion,
    DeletePendingReview,
    DismissReview,
    EditComment,
    InlineComment,
    Level,
    MinimizeComment,
    OpenIssue,
    PostCheck,
    PostComment,
    PostReview,
    React,
    Reaction,
    RemoveLabel,
    ReplyThread,
    ResolveThread,
    ReviewEvent,
)
from reviewbot.domain.change import FileStatus, Revisions
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    CheckState,
    Issue,
    Permission,
    PullState,
)
from reviewbot.errors import ConfigError, ForgeError, GoneError, InvalidError, NotAuthorizedError, NotPermittedError
from tests.forge.hub import Hub, Pull, Repository
from tests.forge.hub import faults as broken
from tests.forge.hub.rules import begun_review
from tests.forge.scripted import Time, opened

NAME = "octo/app"
ME = "github-actions[bot]"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


@pytest.fixture
def repository(hub: Hub) -> Repository:
    repository = hub.repository(NAME)
    repository.commit("main", {"a.py": "".join(f"line {n}\n" for n in range(1, 41)), "gone.py": "x\n"})
    return repository


@pytest.fixture
def pull(repository: Repository) -> Pull:
    changed = "".join(f"line {n}{' new' if n in (5, 6, 7, 30) else ''}\n" for n in range(1, 41))
    repository.commit("topic", {"a.py": changed, "gone.py": None}, "Change lines\n\nAll of them.")
    return repository.pull("Change lines", "topic", body="Closes #1", author="octocat")


@pytest.fixture
def client(hub: Hub) -> Iterator[Client]:
    with opened(hub.api_url, credential=Token(hub.token()), repository=NAME) as client:
        yield client


def test_importing_the_adapter_costs_nothing_until_a_hub_is_opened():
    script = "import sys, reviewbot.adapters.github; print(sorted({'github', 'requests', 'urllib3', 'jwt'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def test_only_one_module_names_the_library():
    folder = Path(__file__).parents[2] / "reviewbot"
    naming = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip().startswith(("import github", "from github", "import requests", "from requests"))
    ]
    assert set(naming) == {"adapters/github/wire.py"}


def test_all_that_stands_is_read_in_one_request(hub: Hub, repository: Repository, pull: Pull, client: Client):
    repository.issue("Lines are old", "Make them new.")
    pull.labels = ["bug", "needs review"]
    pull.body = f"Closes #{repository.issues[0].number}"
    pull.comment("octocat", "please look")
    pull.comment(ME, "<!-- reviewbot:summary v1 -->")
    thread = pull.thread("dependabot[bot]", "a.py", 6, body="hm")
    pull.reply(thread, "octocat", "what?")
    pull.review("alice", "fine", event="APPROVE")
    repository.check(pull.head_sha, "tests", "failure", app="ci")
    repository.status(pull.head_sha, "lint", "pending")

    standing = client.standing(pull.number)

    assert hub.calls() == 1
    told = standing.pull
    assert (told.repository, told.number, told.title, told.body) == (NAME, pull.number, "Change lines", pull.body)
    assert (told.state, told.is_draft, told.is_locked, told.is_fork) == (PullState.OPEN, False, False, False)
    assert (told.base_ref, told.base_sha, told.head_ref, told.head_sha) == ("main", pull.base_sha, "topic", pull.head_sha)
    assert told.labels == ("bug", "needs review")
    assert told.changed_files == 2
    assert told.author == Author("octocat", hub.user("octocat").id, AuthorKind.USER)
    assert standing.me == Author(ME, 41_898_282, AuthorKind.BOT)
    assert [(c.body, c.is_own, c.author and c.author.login) for c in standing.comments] == [
        ("please look", False, "octocat"), ("<!-- reviewbot:summary v1 -->", True, ME),
    ]  # fmt: skip
    assert standing.comments[1].id == pull.comments[1].id > 2**31
    (begun,) = standing.threads
    assert (begun.path, begun.line, begun.start_line, begun.side) == ("a.py", 6, None, "RIGHT")
    assert [(c.author and c.author.login, c.author and c.author.kind) for c in begun.comments] == [
        ("dependabot[bot]", AuthorKind.BOT), ("octocat", AuthorKind.USER),
    ]  # fmt: skip
    assert "APPROVED" in {review.state for review in standing.reviews}
    assert {(c.name, c.conclusion, c.app) for c in standing.checks} == {("tests", "failure", "ci"), ("lint", None, "")}
    assert next(c for c in standing.checks if c.name == "tests").id == repository.check_runs(pull.head_sha)[0].id
    assert [(c.sha, c.message) for c in standing.commits] == [(pull.head_sha, "Change lines\n\nAll of them.")]
    assert standing.issues == (Issue(repository.issues[0].number, "Lines are old", "Make them new."),)
    assert standing.unread == ()


def test_more_than_a_page_is_read_to_its_end(hub: Hub, pull: Pull, client: Client):
    for number in range(230):
        pull.comment("octocat", f"comment {number}")
    for number in range(101):
        pull.thread("alice", "a.py", 5 + number % 3, body=f"thread {number}")
    standing = client.standing(pull.number)
    assert [comment.body for comment in standing.comments] == [f"comment {number}" for number in range(230)]
    assert [thread.comments[0].body for thread in standing.threads] == [f"thread {number}" for number in range(101)]
    assert len(standing.reviews) == len(pull.reviews)
    assert standing.unread == ()
    assert hub.calls() <= 1 + 2 + 1 + 1


def test_what_is_too_much_to_be_read_is_said(pull: Pull, client: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reviewbot.adapters.github.standing.MOST_FURTHER_PAGES", 1)
    for number in range(210):
        pull.comment("octocat", f"comment {number}")
    standing = client.standing(pull.number)
    assert len(standing.comments) == 200
    assert standing.unread == ("comments beyond 1 further pages",)
    assert standing.hides_own


def test_a_thread_with_very_many_comments_is_cut_and_counts_as_answered(pull: Pull, client: Client):
    thread = pull.thread(ME, "a.py", 6, body="mine")
    for _ in range(60):
        pull.reply(thread, ME, "mine, too")
    (told,) = client.standing(pull.number).threads
    assert (told.is_own, told.is_cut, len(told.comments), told.is_answered) == (True, True, 50, True)


def test_what_the_token_may_not_read_is_said_and_no_failure(hub: Hub):
    repository = hub.repository("octo/secret", private=True)
    repository.commit("main", {"a.py": "1\n"})
    repository.commit("topic", {"a.py": "2\n"})
    pull = repository.pull("Two", "topic")
    repository.check(pull.head_sha, "tests", "failure")
    token = Token(hub.token(permissions={"contents": "read", "pull_requests": "read"}))
    with opened(hub.api_url, credential=token, repository="octo/secret") as client:
        standing = client.standing(pull.number)
    assert standing.pull.title == "Two"
    assert standing.checks == ()
    assert any(words.startswith("checks of the head: ") for words in standing.unread), standing.unread


def test_a_fork_whose_repository_and_author_are_gone_is_read(hub: Hub, repository: Repository, client: Client):
    fork = repository.fork("mallory/app")
    fork.commit("topic", {"a.py": "2\n"})
    pull = repository.pull("Two", "topic", head_repository=fork, author="mallory")
    assert client.standing(pull.number).pull.head_repository == "mallory/app"
    pull.lose_head()
    told = client.standing(pull.number).pull
    assert (told.head_repository, told.is_fork, told.head_sha) == (None, True, pull.head_sha)


def test_a_pull_request_that_is_not_there_is_gone(pull: Pull, client: Client):
    with pytest.raises(GoneError):
        client.standing(4711)


def test_a_repository_that_the_token_does_not_see_is_a_missing_permission(hub: Hub):
    with (
        opened(hub.api_url, credential=Token(hub.token()), repository="octo/nowhere") as client,
        pytest.raises(NotPermittedError),
    ):
        client.standing(1)


def test_a_standing_survives_what_passes_and_says_what_does_not(hub: Hub, pull: Pull, client: Client):
    hub.faults += [broken.server_error(html=True), broken.dropped(), broken.graphql_nothing(), broken.graphql_limit()]
    assert client.standing(pull.number).pull.number == pull.number
    hub.faults += [broken.graphql_nothing(times=99)]
    with pytest.raises(ForgeError, match="Something went wrong"):
        client.standing(pull.number)


@pytest.mark.parametrize("role", ["read", "triage", "write", "maintain", "admin"])
def test_a_permission_is_that_of_the_repository(repository: Repository, client: Client, role: str):
    repository.allow("alice", role)
    assert client.permission("alice") is Permission[role.upper()]


def test_whoever_is_no_user_may_nothing(hub: Hub, repository: Repository, client: Client):
    assert client.permission("nobody/at/all") is Permission.NONE
    hub.faults.append(broken.server_error(status=503, times=99))
    assert client.permission("octocat") is Permission.NONE


def test_the_pull_request_of_a_branch_is_found_by_its_head(hub: Hub, repository: Repository, pull: Pull, client: Client):
    fork = repository.fork("mallory/app")
    fork.commit("topic", {"a.py": "2\n"})
    other = repository.pull("Two", "topic", head_repository=fork, author="mallory")
    assert client.pull_of(NAME, "topic", pull.head_sha) == pull.number
    assert client.pull_of("mallory/app", "topic", other.head_sha) == other.number
    assert client.pull_of("mallory/app", "topic", pull.head_sha) is None
    assert client.pull_of("mallory/app", "other", other.head_sha) is None
    assert client.pull_of("x&state=all", "topic", "0" * 40) is None
    other.close()
    assert client.pull_of("mallory/app", "topic", other.head_sha) is None


ODD = {
    "sp ace.py": "x\n", "uni\u00e9.py": "x\n", 'quo"te.py': "x\n", "back\\slash.py": "x\n", "tab\there.py": "x\n", "a b/c d.py": "x\n",
    "empty.py": "", "no end.py": "x", "binary.bin": b"\0\1\2", "new\nline.py": "x\n", " b/x": "x\n",
}  # fmt: skip


def test_a_diff_is_the_same_whole_or_by_files(hub: Hub, repository: Repository, client: Client):
    repository.commit("main", {"old name.py": "".join(f"{n}\n" for n in range(20)), "del ete.py": "y\n"})
    moved = "".join(f"{n}\n" for n in range(19))
    repository.commit("odd", {**ODD, "a.py": "changed\n", "old name.py": None, "new/na me.py": moved, "del ete.py": None})
    pull = repository.pull("Odd names", "odd")
    count = client.standing(pull.number).pull.changed_files
    whole = client.diff(pull.number, count)
    assert whole.left_out == ()

    body = json.dumps({"message": "Sorry, the diff exceeded the maximum number of lines (20000)", "errors": []})
    hub.faults.append(broken.Fault("pulls/get", 406, body))
    by_files = client.diff(pull.number, count)

    def read(patch: bytes) -> dict[str, tuple[object, ...]]:
        change = changeset.read(by_files.diff.__class__(b"", b"", patch), Revisions("patch", "base", "patch", None, None))
        return {
            file.path: (file.status, file.old_path, file.added, file.deleted, [hunk.rows for hunk in file.hunks])
            for file in change.files
        }

    assert read(by_files.diff.patch) == read(whole.diff.patch)
    assert len(read(whole.diff.patch)) == count
    assert "binary.bin: GitHub gives no patch for it, it is binary or only its mode changed" in by_files.left_out
    assert not [words for words in by_files.left_out[1:] if not words.startswith(("binary.bin", "empty.py"))]
    assert read(whole.diff.patch)["new/na me.py"][:2] == (FileStatus.RENAMED, "old name.py")


def test_the_merge_base_is_where_the_head_left(hub: Hub, repository: Repository, pull: Pull, client: Client):
    left = pull.base_sha
    repository.commit("main", {"other.py": "x\n"})
    assert pull.base_sha != left
    assert client.merge_base(pull.base_sha, pull.head_sha) == left
    assert hub.calls() == 1


def test_a_diff_that_is_not_whole_is_said(pull: Pull, client: Client):
    assert client.diff(pull.number, 9).left_out == ("7 of 9 changed files: GitHub left them out",)


def test_a_review_is_posted_with_all_its_comments_at_once(hub: Hub, pull: Pull, client: Client):
    comments = (
        InlineComment("a.py", 7, "three lines", "fp1", start_line=5),
        InlineComment("a.py", 30, "one line", "fp2", start_line=30),
        InlineComment("gone.py", 1, "what was", "fp3", side="LEFT"),
    )
    done = client.do(PostReview(pull.number, pull.head_sha, ReviewEvent.COMMENT, "Look.", comments))
    (review,) = pull.reviews
    assert (done.id, review.body, review.state) == (review.id, "Look.", "COMMENTED")
    assert done.url.endswith(str(review.id))
    assert {(thread.path, thread.line) for thread in pull.threads} == {("a.py", 7), ("a.py", 30), ("gone.py", 1)}
    assert hub.writes() == ["pulls/create-review"]
    standing = client.standing(pull.number)
    assert {(t.path, t.start_line, t.line, t.side, t.is_own) for t in standing.threads} == {
        ("a.py", 5, 7, "RIGHT", True), ("a.py", None, 30, "RIGHT", True), ("gone.py", None, 1, "LEFT", True),
    }  # fmt: skip
    assert standing.reviews[0].is_own


def test_a_line_outside_of_the_diff_is_refused_with_reasons(hub: Hub, pull: Pull, client: Client):
    action = PostReview(pull.number, pull.head_sha, ReviewEvent.COMMENT, "x", (InlineComment("a.py", 20, "x", "fp"),))
    with pytest.raises(InvalidError) as failed:
        client.do(action)
    assert "must be part of the diff" in failed.value.reasons[0]
    assert pull.reviews == []


def test_a_pending_review_is_deleted_and_a_request_for_changes_dismissed(pull: Pull, client: Client):
    pending = begun_review(pull, pull.hub.user(ME), {"body": "begun"})
    client.do(DeletePendingReview(pull.number, pending.id))
    assert pull.reviews == []
    asked = client.do(PostReview(pull.number, pull.head_sha, ReviewEvent.REQUEST_CHANGES, "no"))
    client.do(DismissReview(pull.number, asked.id, "fixed"))
    assert [review.state for review in pull.reviews] == ["DISMISSED"]


def test_comments_are_made_edited_answered_folded_and_reacted_to(hub: Hub, pull: Pull, client: Client):
    made = client.do(PostComment(pull.number, "first \ud83d half"))
    assert pull.comments[0].body == "first ? half"
    client.do(EditComment(made.id, "second"))
    assert [comment.body for comment in pull.comments] == ["second"]
    client.do(React(made.id, Reaction.EYES))
    client.do(React(made.id, Reaction.EYES))
    assert [reaction.content for reaction in pull.comments[0].reactions] == ["eyes"]

    client.do(PostReview(pull.number, pull.head_sha, ReviewEvent.COMMENT, "x", (InlineComment("a.py", 6, "mine", "fp"),)))
    (thread,) = client.standing(pull.number).threads
    client.do(React(thread.comments[0].id, Reaction.ROCKET, inline=True))
    client.do(ReplyThread(pull.number, thread.comments[0].id, "done"))
    client.do(ResolveThread(thread.node_id))
    (now,) = client.standing(pull.number).threads
    assert [comment.body for comment in now.comments] == ["mine", "done"]
    assert now.is_resolved
    client.do(MinimizeComment(client.standing(pull.number).comments[0].node_id))
    assert pull.comments[0].minimized
    assert [comment.is_minimized for comment in client.standing(pull.number).comments] == [True]
    with pytest.raises(GoneError):
        client.do(EditComment(made.id + 500, "x"))


def test_labels_are_put_on_and_taken_away(pull: Pull, client: Client):
    client.do(AddLabels(pull.number, ("reviewed", "effort: 2/5")))
    assert sorted(pull.labels) == ["effort: 2/5", "reviewed"]
    client.do(RemoveLabel(pull.number, "effort: 2/5"))
    assert pull.labels == ["reviewed"]
    with pytest.raises(GoneError):
        client.do(RemoveLabel(pull.number, "effort: 2/5"))


def annotations(count: int) -> tuple[Annotation, ...]:
    return tuple(Annotation("a.py", n, n + 1, Level.WARNING, "t" * 300, "m" * 70_000) for n in range(1, count + 1))


@pytest.mark.parametrize(("count", "calls"), [(0, 1), (50, 1), (51, 2), (120, 3)])
def test_a_check_run_has_all_its_annotations_in_batches(
    hub: Hub, repository: Repository, pull: Pull, client: Client, count: int, calls: int
):
    check = PostCheck("reviewbot", pull.head_sha, "state-1", CheckConclusion.NEUTRAL, "é" * 300, "é" * 70_000, annotations(count))
    done = client.do(check)
    (run,) = repository.check_runs(pull.head_sha)
    assert len(hub.writes()) == calls
    assert (done.id, run.conclusion, run.external_id, len(run.annotations)) == (run.id, "neutral", "state-1", count)
    assert (
        CheckState("reviewbot", "neutral", run.id, "state-1", "github-actions", "é" * 126 + "…")
        in client.standing(pull.number).checks
    )
    again = PostCheck("reviewbot", pull.head_sha, "state-2", CheckConclusion.FAILURE, "t", "s", check_id=done.id)
    assert client.do(again).id == done.id
    assert [(run.conclusion, run.external_id) for run in repository.check_runs(pull.head_sha)] == [("failure", "state-2")]


@pytest.mark.parametrize("text", ["é" * 128, "é" * 200, "x" * 256, "\U0001f600" * 64, "\ud800" * 300])
def test_a_text_of_a_check_run_is_bounded_in_bytes(text: str):
    assert len(checks.bounded(text, 255).encode()) <= 255
    assert checks.bounded(text, 255).endswith("…")
    assert checks.bounded("é" * 127, 255) == "é" * 127


def test_a_check_run_that_was_cut_off_is_not_taken_for_a_whole_one(hub: Hub, repository: Repository, pull: Pull, client: Client):
    hub.faults.append(broken.dropped("checks/update"))
    with pytest.raises(ForgeError):
        client.do(PostCheck("reviewbot", pull.head_sha, "s", CheckConclusion.SUCCESS, "t", "s", annotations(60)))
    assert [check.conclusion for check in client.standing(pull.number).checks] == [None]


def test_an_issue_is_opened(repository: Repository, client: Client):
    done = client.do(OpenIssue("Audit", "All of it.", ("audit",)))
    assert [(issue.title, issue.body) for issue in repository.issues] == [("Audit", "All of it.")]
    assert done.url.endswith(f"/issues/{repository.issues[0].number}")


def test_a_sarif_report_is_handed_over(repository: Repository, pull: Pull, client: Client):
    report = b'{"version": "2.1.0", "runs": []}'
    assert client.upload(report, commit_sha=pull.head_sha, ref=f"refs/pull/{pull.number}/head").url
    (sent,) = repository.sarifs
    assert sent["report"] == json.loads(report)


def zipped(files: dict[str, bytes], twice: tuple[str, ...] = ()) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in files.items():
            archive.writestr(name, content)
        for name in twice:
            archive.writestr(name, b"other")
    return packed.getvalue()


def test_an_artifact_is_fetched_from_elsewhere_without_the_token(hub: Hub, repository: Repository, pull: Pull, client: Client):
    run = repository.run("collect", pull=pull)
    repository.artifact(run, "evidence", zipped({"evidence.json": b"{}", "more/log.txt": b"x" * 10_000}))
    assert client.artifact(run.id, "evidence") == {"evidence.json": b"{}", "more/log.txt": b"x" * 10_000}
    assert [(entry.operation, entry.login) for entry in hub.journal][-1] == ("download", None)
    with pytest.raises(GoneError):
        client.artifact(run.id, "other")


@pytest.mark.parametrize(
    "archive",
    [
        b"", b"PK", b"no archive", zipped({"../up": b""}), zipped({"/etc/passwd": b""}), zipped({"a\\b": b""}), zipped({".hidden": b""}),
        zipped({"bomb": b"0" * 64_000_001}), zipped({f"f{n}": b"" for n in range(201)}), zipped({"a": b"x" * 999})[:-40],
        zipped({"a": b"x" * 999})[:33] + b"\0\0" + zipped({"a": b"x" * 999})[35:], zipped({"a": b"", "A/../a": b""}),
        zipped({"a": b""}, ("a",)),
    ],
    ids=[f"archive{n}" for n in range(13)],
)  # fmt: skip
def test_an_artifact_that_means_no_good_is_one_error(archive: bytes):
    with pytest.raises(ForgeError):
        artifact.unpacked(archive)


def test_a_fork_s_token_may_read_and_not_write(hub: Hub, pull: Pull):
    token = Token(hub.token(permissions={"contents": "read", "pull_requests": "read"}))
    with opened(hub.api_url, credential=token, repository=NAME) as client:
        assert client.standing(pull.number).pull.number == pull.number
        for action in (PostComment(pull.number, "x"), PostReview(pull.number, pull.head_sha, ReviewEvent.COMMENT, "x")):
            with pytest.raises(NotPermittedError, match="not accessible"):
                client.do(action)


def test_resolving_without_the_permission_for_it_is_said(hub: Hub, pull: Pull, client: Client):
    hub.resolving_needs_contents = True
    thread = pull.thread(ME, "a.py", 6, body="mine")
    with pytest.raises(NotPermittedError):
        client.do(ResolveThread(thread.node_id))


def test_a_write_whose_answer_was_lost_is_done_once(hub: Hub, pull: Pull, client: Client):
    hub.faults.append(broken.server_error("write", after=True))
    with pytest.raises(ForgeError):
        client.do(PostComment(pull.number, "once"))
    assert [comment.body for comment in pull.comments] == ["once"]


@pytest.fixture(scope="module")
def keys() -> tuple[str, str]:
    """A private and a public key, PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


TOKENS = "apps/create-installation-access-token"


def test_an_app_gets_itself_a_token_and_another_before_it_ends(hub: Hub, pull: Pull, keys: tuple[str, str]):
    hub.app("reviewbot-app", id=77, key=keys[1])
    time = Time()
    with opened(hub.api_url, credential=App("77", keys[0]), repository=NAME, time=time) as client:
        client.do(PostComment(pull.number, "one"))
        client.do(PostComment(pull.number, "two"))
        assert [entry.operation for entry in hub.journal].count(TOKENS) == 1
        time.now += 3400
        client.do(PostComment(pull.number, "three"))
        assert [entry.operation for entry in hub.journal].count(TOKENS) == 2
        assert client.standing(pull.number).me.login == "reviewbot-app[bot]"
    assert [comment.login for comment in pull.comments] == ["reviewbot-app[bot]"] * 3


def test_a_token_that_ran_out_is_renewed_once_and_the_write_done(hub: Hub, pull: Pull, keys: tuple[str, str]):
    hub.app("reviewbot-app", id=77, key=keys[1])
    with opened(hub.api_url, credential=App("77", keys[0]), repository=NAME) as client:
        client.do(PostComment(pull.number, "one"))
        hub.tokens.clear()
        client.do(PostComment(pull.number, "two"))
        assert [comment.body for comment in pull.comments] == ["one", "two"]
        bad = json.dumps({"message": "Bad credentials"})
        hub.faults.append(broken.Fault("issues/create-comment", 401, bad, times=99))
        with pytest.raises(NotAuthorizedError):
            client.do(PostComment(pull.number, "three"))
    assert [entry.operation for entry in hub.journal].count(TOKENS) == 3


def test_an_app_that_is_not_there_or_has_another_key_is_said(hub: Hub, pull: Pull, keys: tuple[str, str]):
    with opened(hub.api_url, credential=App("78", keys[0]), repository=NAME) as client, pytest.raises(NotAuthorizedError):
        client.standing(pull.number)
    for key in ("", "no key", keys[1], keys[0][:200]):
        with opened(hub.api_url, credential=App("77", key), repository=NAME) as client, pytest.raises(ConfigError) as failed:
            client.standing(pull.number)
        assert not key or key not in str(failed.value)


@pytest.mark.parametrize(
    "url", ["http://github.example.com/api/v3", "ftp://x/", "api.github.com", "https://user:pass@host/", "", "https://"]
)
def test_a_token_goes_to_no_address_in_clear_text(url: str):
    with pytest.raises(ConfigError) as failed, opened(url):
        pass
    assert "pass" not in str(failed.value)


@pytest.mark.parametrize("secret", ["", "se cret", "a\nb", "a\r\nX-Evil: 1", "é", "\x00"])
def test_a_token_that_cannot_stand_in_a_header_is_refused_before_it_is_sent(secret: str):
    with pytest.raises(ConfigError) as failed, opened("https://api.github.com", credential=Token(secret)):
        pass
    assert not secret or secret not in str(failed.value)


@pytest.mark.parametrize("name", ["octo", "octo/", "/app", "octo/../x", "../x", "octo/..", "octo/a b", "octo/a?b", "octo/a\n"])
def test_a_repository_is_named_as_owner_and_name(name: str):
    with pytest.raises(ConfigError), opened("https://api.github.com", repository=name):
        pass


def test_credentials_do_not_show_themselves():
    assert "hush" not in repr(Token("hush")) + repr(App("1", "hush"))
