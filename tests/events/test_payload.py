"""What a forge tells is read, or refused with the name of the field. The payloads are GitHub's own examples."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.event import Event, FinishedRun, Happening, SaidComment
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    PullRequest,
    PullState,
)
from reviewbot.errors import UsageError
from reviewbot.events import payload
from tests import rings
from tests.events.samples import example, examples

SPOKEN = ("pull_request", "issue_comment", "pull_request_review_comment", "workflow_run", "workflow_dispatch", "push")
CODERTOCAT = Author("Codertocat", 21031067, AuthorKind.USER)
HERE = "Codertocat/Hello-World"


def read(name: str, value: Any, repository: str = "") -> Event:
    return payload.read(name, json.dumps(value).encode(), repository)


def wrong(name: str, value: Any, repository: str = "") -> str:
    with pytest.raises(UsageError) as caught:
        read(name, value, repository)
    assert caught.value.hint
    return str(caught.value)


def changed(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """The same with something else at a path."""
    found = copy.deepcopy(value)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = new
    return found


def without(value: Any, path: tuple[str | int, ...]) -> Any:
    found = copy.deepcopy(value)
    place = found
    for step in path[:-1]:
        place = place[step]
    del place[path[-1]]
    return found


def paths(value: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    steps: Any = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in steps:
        yield (*above, step)
        yield from paths(value[step], (*above, step))


def shown(path: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def test_every_example_of_github_is_read():
    names = set()
    for server, name, told in examples():
        event = read(name, told)
        names.add((server, name))
        assert event.kind.value == (name if name in SPOKEN else "other")
        assert event.action == (told.get("action") or "")
        assert event.repository == (told.get("repository") or {}).get("full_name", "")
        assert (event.sender.login if event.sender else None) == (told.get("sender") or {}).get("login")
        for key in ("pull_request", "issue"):
            if name in SPOKEN and key in told:
                assert event.number == told[key]["number"]
        if "comment" in told and name in SPOKEN:
            assert event.comment is not None
            assert (event.comment.id, event.comment.body) == (told["comment"]["id"], told["comment"]["body"])
    assert len(names) > 150


def test_a_pull_request_is_read_whole():
    assert read("pull_request", example("pull_request", "opened"), HERE) == Event(
        kind=Happening.PULL_REQUEST,
        action="opened",
        repository=HERE,
        number=2,
        sender=CODERTOCAT,
        pull=PullRequest(
            repository=HERE,
            number=2,
            title="Update the README with new information.",
            body="This is a pretty simple change that we need to pull into master.",
            author=CODERTOCAT,
            state=PullState.OPEN,
            is_draft=False,
            is_locked=False,
            labels=(),
            base_ref="master",
            base_sha="f95f852bd8fca8fcc58a9a2d6c842781e32a215e",
            head_ref="changes",
            head_sha="ec26c3e57ca3a959ca5aad62de7213c562f8c821",
            head_repository=HERE,
            changed_files=1,
            node_id="MDExOlB1bGxSZXF1ZXN0Mjc5MTQ3NDM3",
            url="https://github.com/Codertocat/Hello-World/pull/2",
        ),
        default_branch="master",
    )


def test_what_changes_with_the_action_is_read():
    labeled = read("pull_request", example("pull_request", "labeled"))
    assert (labeled.label, labeled.pull and labeled.pull.labels) == ("bug", ("bug",))
    pushed = read("pull_request", example("pull_request", "synchronize"))
    assert pushed.before == "f95f852bd8fca8fcc58a9a2d6c842781e32a215e"
    assert pushed.after
    assert pushed.pull
    draft = read("pull_request", example("pull_request", "converted_to_draft"))
    assert draft.pull is not None
    assert draft.pull.is_draft
    closed = read("pull_request", example("pull_request", "closed"))
    assert closed.pull is not None
    assert closed.pull.state is PullState.CLOSED
    locked = read("pull_request", example("pull_request", "locked"))
    assert locked.pull is not None
    assert locked.pull.is_locked


@pytest.mark.parametrize("mark", [{"merged": True}, {"merged_at": "2026-01-02T03:04:05Z"}])
def test_a_merged_pull_request_is_told_from_a_closed_one(mark: dict[str, Any]):
    told = example("pull_request", "closed")
    told["pull_request"] |= mark
    event = read("pull_request", told)
    assert event.pull is not None
    assert event.pull.state is PullState.MERGED


def test_a_comment_on_an_issue_is_told_from_one_on_a_pull_request():
    told = example("issue_comment", "created")
    assert read("issue_comment", told).on_issue
    told["issue"]["pull_request"] = {"url": "https://api.github.com/repos/Codertocat/Hello-World/pulls/1"}
    event = read("issue_comment", told)
    assert not event.on_issue
    assert (event.number, event.pull) == (1, None)
    assert event.comment == SaidComment(
        492700400,
        "MDEyOklzc3VlQ29tbWVudDQ5MjcwMDQwMA==",
        body="You are totally right! I'll get this fixed right away.",
        author=CODERTOCAT,
    )


def test_a_comment_on_lines_knows_its_thread():
    told = example("pull_request_review_comment", "created")
    told["comment"]["in_reply_to_id"] = 77
    event = read("pull_request_review_comment", told)
    assert event.comment is not None
    assert (event.number, event.on_issue, event.comment.inline, event.comment.replies_to) == (2, False, True, 77)
    assert event.pull is not None


def test_a_finished_run_is_read():
    event = read("workflow_run", example("workflow_run", "completed", 1))
    assert event.run == FinishedRun(
        id=289782451,
        event="repository_dispatch",
        conclusion="success",
        head_repository="octo-org/octo-repo",
        head_ref="master",
        head_sha="3484a3fb816e0859fd6e1cea078d76385ff50625",
    )
    told = changed(example("workflow_run", "completed"), ("workflow_run", "head_repository"), None)
    run = read("workflow_run", told).run
    assert run is not None
    assert (run.conclusion, run.head_repository) == (None, None)


@pytest.mark.parametrize("said", [12, "12", " #12 "])
def test_a_dispatch_may_name_a_pull_request(said: object):
    told = example("workflow_dispatch")
    told["inputs"] = {"pull_request": said, "deep": True, "nothing": None, "empty": ""}
    event = read("workflow_dispatch", told)
    assert (event.number, event.ref) == (12, "refs/heads/main")
    assert event.inputs == (("pull_request", str(said).strip()), ("deep", "true"))


@pytest.mark.parametrize("said", ["twelve", "-1", "0", "1.5", "9" * 19, "²", 0, -3, True])
def test_a_dispatch_that_names_no_number_says_so(said: object):
    told = example("workflow_dispatch") | {"inputs": {"pull_request": said}}
    assert "$.inputs.pull_request" in wrong("workflow_dispatch", told)


def test_inputs_of_a_workflow_without_any_are_null():
    event = read("workflow_dispatch", example("workflow_dispatch") | {"inputs": None})
    assert (event.number, event.inputs) == (None, ())


def test_a_schedule_is_no_webhook_and_is_read():
    event = payload.read("schedule", b'{"schedule": "0 3 * * 1"}', "octo/shop")
    assert event == Event(Happening.SCHEDULE, repository="octo/shop", inputs=(("schedule", "0 3 * * 1"),))


def test_a_push_is_read():
    event = read("push", example("push", index=4))
    assert (event.ref, event.default_branch, event.number) == ("refs/heads/master", "master", None)
    assert (event.before, event.after) == ("0" * 40, "6113728f27ae82c7b1a177c8d03f9e96e0adf246")
    assert read("push", example("push", index=1)).after == "0" * 40


def test_an_event_that_is_not_known_is_another_one():
    event = payload.read("star", {"action": "created"}, "octo/shop")
    assert event == Event(Happening.OTHER, "created", "octo/shop")


def test_a_run_with_secrets_for_strangers_is_refused():
    said = wrong("pull_request_target", example("pull_request"))
    assert "pull_request_target" in said
    assert "workflow_run" in said


def test_an_event_without_a_name_is_refused():
    assert "GITHUB_EVENT_NAME" in wrong("", {})


def test_a_payload_of_another_repository_is_refused():
    told = example("pull_request")
    assert "$.repository.full_name" in wrong("pull_request", told, "octo/shop")
    assert read("pull_request", told, HERE.lower()).repository == HERE


def test_where_it_runs_stands_in_for_a_repository_that_is_not_told():
    assert read("push", {}, "octo/shop").repository == "octo/shop"
    assert "repository" in wrong("push", {}, "no repository")


def test_a_fork_is_one_whatever_it_calls_its_base():
    told = example("pull_request", "opened")
    for end in ("head", "base"):
        told["pull_request"][end]["repo"]["full_name"] = "mallory/Hello-World"
    event = read("pull_request", told)
    assert event.pull is not None
    assert event.pull.is_fork


@pytest.mark.parametrize("repo", [None, {}, {"full_name": None}, {"full_name": ""}])
def test_a_head_whose_repository_is_gone_is_a_forks(repo: object):
    for told in (example("pull_request", "opened"), without(example("pull_request", "opened"), ("repository",))):
        told["pull_request"]["head"]["repo"] = repo
        event = read("pull_request", told)
        assert event.pull is not None
        assert event.pull.head_repository is None
        assert event.pull.is_fork


@pytest.mark.parametrize(
    ("user", "kind"),
    [
        ({"login": "ann", "type": "User"}, AuthorKind.USER),
        ({"login": "ann", "type": "Bot"}, AuthorKind.BOT),
        ({"login": "ann", "type": "Organization"}, AuthorKind.ORGANIZATION),
        ({"login": "ann", "type": "Mannequin"}, AuthorKind.UNKNOWN),
        ({"login": "ann", "type": "unknown"}, AuthorKind.UNKNOWN),
        ({"login": "ann"}, AuthorKind.UNKNOWN),
        ({"login": "ann[bot]", "type": "User"}, AuthorKind.BOT),
        ({"login": "ann[bot]"}, AuthorKind.BOT),
    ],
)
def test_only_githubs_word_makes_a_user(user: dict[str, str], kind: AuthorKind):
    event = payload.read("issue_comment", {"sender": user})
    assert event.sender is not None
    assert event.sender.kind is kind


@pytest.mark.parametrize("user", [None, {}, {"login": ""}, {"id": 3, "type": "User"}])
def test_an_account_without_a_name_is_nobody(user: object):
    assert payload.read("issue_comment", {"sender": user}).sender is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("pull_request", "head", "sha"), "--upload-pack=touch x"),
        (("pull_request", "head", "sha"), "ec26c3e"),
        (("pull_request", "head", "sha"), "EC26C3E57CA3A959CA5AAD62DE7213C562F8C821"),
        (("pull_request", "base", "sha"), "f95f852bd8fca8fcc58a9a2d6c842781e32a215e\n"),
        (("before",), "HEAD"),
        (("pull_request", "head", "repo", "full_name"), "../.."),
        (("pull_request", "head", "repo", "full_name"), "a/b/c"),
        (("pull_request", "head", "repo", "full_name"), "a/.."),
        (("repository", "full_name"), "a/b?c"),
        (("sender", "login"), "ann/../../x"),
        (("sender", "login"), ".."),
        (("sender", "login"), "ann[bot]x"),
        (("pull_request", "number"), 0),
        (("pull_request", "number"), -2),
        (("pull_request", "number"), 2**63),
        (("pull_request", "number"), 2.0),
        (("pull_request", "number"), True),
        (("pull_request", "draft"), "false"),
        (("pull_request", "draft"), 0),
        (("pull_request", "state"), "ajar"),
        (("pull_request", "labels"), {}),
        (("pull_request", "labels"), ["bug"]),
        (("pull_request", "user"), "ann"),
        (("pull_request", "title"), ["a"]),
        (("pull_request",), [1]),
        (("pull_request", "head"), "changes"),
    ],
    ids=lambda item: shown(item) if isinstance(item, tuple) else repr(item)[:20],
)
def test_a_field_of_another_form_is_refused_by_name(path: tuple[str, ...], value: object):
    assert shown(path) in wrong("pull_request", changed(example("pull_request", "synchronize"), path, value))


def test_what_is_missing_is_empty():
    assert payload.read("pull_request", {"pull_request": {"number": 5, "user": {"login": "ann", "id": 0}}}) == Event(
        Happening.PULL_REQUEST,
        number=5,
        pull=PullRequest(
            repository="",
            number=5,
            title="",
            body="",
            author=Author("ann", 0, AuthorKind.UNKNOWN),
            state=PullState.OPEN,
            is_draft=False,
            is_locked=False,
            labels=(),
            base_ref="",
            base_sha="",
            head_ref="",
            head_sha="",
            head_repository=None,
            changed_files=0,
        ),
    )
    for name in SPOKEN:
        event = payload.read(name, {})
        assert (event.number, event.pull, event.comment, event.run, event.sender) == (None,) * 5
    assert payload.read("pull_request", {"number": 5}).number == 5


@pytest.mark.ci
@pytest.mark.matrix
@pytest.mark.parametrize("name", SPOKEN)
def test_every_field_may_be_missing_or_null(name: str):
    told = example(name)
    for path in paths(told):
        assert isinstance(read(name, without(told, path)), Event) or isinstance(path[-1], int)
        if not isinstance(path[-1], int):
            assert isinstance(read(name, changed(told, path, None)), Event)


@pytest.mark.ci
@pytest.mark.matrix
@pytest.mark.parametrize("name", SPOKEN)
def test_a_field_that_is_read_is_never_read_as_another_type(name: str):
    """Whatever stands there: the same event as before, as where it is unread, or an error with this path."""
    told = example(name)
    before = read(name, told)
    for path in paths(told):
        emptied = read(name, changed(told, path, None)) if not isinstance(path[-1], int) else before
        for other in (True, -1, 1.5, "\t", [], {}, [[]], {"a": {}}):
            if type(found_at(told, path)) in (type(other), type(None)):
                continue
            event, error = attempt(name, json.dumps(changed(told, path, other)).encode())
            assert shown(path) in error if error else event in (before, emptied), f"{shown(path)} {other!r} {error}"


def found_at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"{",
        b"\xff\xfe\x00",
        b'{"action": "a", "action": "b"}',
        b'{"number": NaN}',
        b'{"number": 1e999}',
        b'{"number": ' + b"9" * 5000 + b"}",
        b'{"action": "\\ud800"}',
        b'{"action": "\\u0000"}',
        b'{"a":' * 100_000,
        b"[" * 100 + b"]" * 100,
        b" " * (payload.MAX_BYTES + 1),
    ],
    ids=lambda body: repr(body[:24]),
)
def test_what_is_no_json_that_means_one_thing_is_one_error(body: bytes):
    with pytest.raises(UsageError) as caught:
        payload.read("pull_request", body)
    assert caught.value.hint
    assert len(str(caught.value)) < 500


def test_a_mapping_is_read_as_strictly_as_bytes():
    told = example("pull_request", "opened")
    assert payload.read("pull_request", told) == read("pull_request", told)
    endless: dict[str, Any] = {}
    endless["again"] = endless
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for bad in ({"action": "\ud800"}, {"number": 10**5000}, {"number": float("nan")}, {"a": {1}}, {1: 2, "1": 3}, endless, deep):
        with pytest.raises(UsageError):
            payload.read("pull_request", bad)  # type: ignore[arg-type]


def test_a_payload_at_the_cap_is_read():
    told = example("issue_comment")
    told["comment"]["body"] = "x" * (payload.MAX_BYTES - len(json.dumps(told)) - 1)
    event = read("issue_comment", told)
    assert event.comment is not None
    assert len(event.comment.body) > 24_000_000


WORDS = st.text(max_size=8) | st.sampled_from(["open", "/debate", "ann", "User", "a/b", "f" * 40, "pull_request", "\ud800", "\0"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=rings.examples(300))
@given(st.data())
def test_a_mangled_payload_is_an_event_or_one_error(data: st.DataObject):
    name = data.draw(st.sampled_from(SPOKEN))
    told = example(name)
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(list(paths(told))))
        match data.draw(st.sampled_from(["drop", "replace", "nest", "list"])):
            case "drop":
                told = without(told, path)
            case "replace":
                told = changed(told, path, data.draw(JSON))
            case "nest":
                told = changed(told, path, {path[-1]: found_at(told, path)})
            case _:
                told = changed(told, path, [found_at(told, path)])
        if not list(paths(told)):
            break
    expect_one_error_at_most(name, json.dumps(told).encode())


@settings(max_examples=rings.examples(200))
@given(
    st.sampled_from([*SPOKEN, "schedule", "star"]), st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode())
)
def test_any_bytes_are_an_event_or_one_error(name: str, body: bytes):
    expect_one_error_at_most(name, body)


@settings(max_examples=rings.examples(200))
@given(st.sampled_from(SPOKEN), st.dictionaries(WORDS | st.integers(), JSON, max_size=4))
def test_any_mapping_is_an_event_or_one_error(name: str, told: dict[str, Any]):
    expect_one_error_at_most(name, told)


def attempt(name: str, body: bytes | dict[str, Any], here: str = "") -> tuple[Event | None, str]:
    """The event, or the words of the one error that is allowed."""
    try:
        return payload.read(name, body, here), ""
    except UsageError as error:
        return None, error.message


def expect_one_error_at_most(name: str, body: bytes | dict[str, Any]) -> None:
    event, error = attempt(name, body, HERE)
    if event is None:
        assert "wrong at $" in error or "is not valid JSON" in error
        return
    hash(event)
    if event.pull:
        assert event.pull.number > 0
        assert event.pull.head_sha in ("", event.pull.head_sha.lower())
