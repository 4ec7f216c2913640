"""``/debate`` comments: obeyed once, only from who may write, answered in one comment, remembered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.forge.acting import REVIEWER, Actor, Ran, zipped
from tests.forge.hub import Fault, Hub, Pull, Repository
from tests.forge.hub.state import Run

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

STATUS = "<!-- reviewbot:status v1 -->"
FAULTY = "def f(x, y=[]):\n    y.append(x)\n    return y\n"


@pytest.fixture
def repository(hub: Hub) -> Repository:
    made = hub.repository("octo/app")
    made.allow("octocat", "write")
    made.commit("main", {"a.py": "def f(x):\n    return x\n", "b.py": "def g(x):\n    return x\n"}, "Begin")
    return made


@pytest.fixture
def pull(repository: Repository) -> Pull:
    repository.commit("topic", {"a.py": FAULTY, "b.py": FAULTY.replace("def f", "def g")}, "Change")
    return repository.pull("Change", "topic")


@pytest.fixture
def actor(hub: Hub, tmp_path: Path) -> Actor:
    return Actor(hub, tmp_path, hub.token(permissions=REVIEWER))


def review(hub: Hub, actor: Actor, pull: Pull, action: str = "opened") -> Ran:
    return actor.run("pull_request", hub.event("pull_request", action=action, pull=pull))


def say(hub: Hub, actor: Actor, pull: Pull, words: str, login: str = "octocat") -> tuple[Ran, list[str], str]:
    """A comment: the run, the reactions it got, and the answer."""
    comment = pull.comment(login, words)
    ran = actor.run("issue_comment", hub.event("issue_comment", action="created", comment=comment))
    assert ran.exit_code == 0, ran.stderr
    return ran, [reaction.content for reaction in comment.reactions], answer(pull)


def answer(pull: Pull) -> str:
    found = [said.body for said in pull.comments if said.body.startswith(STATUS) and said.login == "github-actions[bot]"]
    assert len(found) <= 1
    return found[0] if found else ""


def test_commands_are_answered_in_one_comment_and_marked(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    for words, told in {
        "/debate status": "2 findings open",
        "/debate cost": "1 review of this pull request",
        "/debate help": "argue against a finding",
        "/debate config": "differs from the defaults",
        "/debate explain F1": "B006",
    }.items():
        _, reactions, text = say(hub, actor, pull, words)
        assert reactions == ["eyes", "rocket"], words
        assert told in text, words
    assert len(pull.comments) == 2 + 5  # the summary, the status, and what the person wrote


def test_what_is_not_understood_or_not_there_is_refused_with_a_reason(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    for words, told in {
        "/debate paus": "/debate pause",
        "/debate fix F1": "made no fixes",
        "/debate dismiss F9": "no finding",
        "/debate explain": "takes one finding",
    }.items():
        _, reactions, text = say(hub, actor, pull, words)
        assert reactions == ["eyes", "confused"], words
        assert told in text, words


@pytest.mark.smoke
def test_who_may_not_write_is_not_obeyed_and_reads_nothing(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.user("passerby")
    ran, reactions, text = say(hub, actor, pull, "/debate full", "passerby")
    assert ran.outputs["skip_reason"] == "missing_permission"
    assert (ran.writes, reactions, text) == ((), [], "")
    assert ran.calls == 1


@pytest.mark.smoke
def test_bots_are_never_obeyed(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    hub.user("helper[bot]", type="Bot")
    repository.allow("helper[bot]", "admin")
    ran, _, _ = say(hub, actor, pull, "/debate full", "helper[bot]")
    assert (ran.outputs["skip_reason"], ran.calls) == ("not_a_user", 0)


@pytest.mark.smoke
def test_an_edited_comment_and_other_words_cost_nothing(hub: Hub, actor: Actor, pull: Pull) -> None:
    ran, _, _ = say(hub, actor, pull, "I would not /debate this")
    assert (ran.outputs["skip_reason"], ran.calls) == ("not_a_command", 0)
    comment = pull.comment("octocat", "/debate full")
    edited = actor.run("issue_comment", hub.event("issue_comment", action="edited", comment=comment))
    assert (edited.outputs["skip_reason"], edited.calls) == ("edited_comment", 0)


def test_the_same_delivery_twice_does_nothing_more(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    comment = pull.comment("octocat", "/debate pause")
    event = hub.event("issue_comment", action="created", comment=comment)
    actor.run("issue_comment", event)
    again = actor.run("issue_comment", event)
    assert again.writes == ()
    assert again.outputs["skip_reason"] == "duplicate_delivery"


def test_paused_stopped_and_resumed(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    say(hub, actor, pull, "/debate pause")
    pull.push({"c.py": FAULTY})
    assert review(hub, actor, pull, "synchronize").outputs["skip_reason"] == "paused"
    ran, _, _ = say(hub, actor, pull, "/debate")
    assert ran.outputs["range_mode"] == "incremental"
    say(hub, actor, pull, "/debate stop")
    ran, _, _ = say(hub, actor, pull, "/debate full")
    assert ran.outputs["skip_reason"] == "stopped"
    say(hub, actor, pull, "/debate resume")
    pull.push({"d.py": FAULTY})
    assert review(hub, actor, pull, "synchronize").outputs["conclusion"] == "complete"


@pytest.mark.smoke
def test_a_dismissed_finding_stays_dismissed(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    _, reactions, text = say(hub, actor, pull, "/debate dismiss F1 on purpose, @octocat knows")
    assert reactions == ["eyes", "rocket"]
    assert "F1" in text
    assert [thread.is_resolved for thread in pull.threads] == [True, False]
    pull.push({"e.py": "x = 1\n"})
    review(hub, actor, pull, "synchronize")
    ran, _, _ = say(hub, actor, pull, "/debate full")
    assert '"F1"' not in ran.outputs["findings_json"]
    assert [thread.is_resolved for thread in pull.threads] == [True, False]
    assert len(pull.threads) == 2
    assert "on purpose" in pull.comments[0].body


def test_threads_are_closed_on_request(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    _, _, text = say(hub, actor, pull, "/debate resolve")
    assert "2 of 2" in text
    assert all(thread.is_resolved for thread in pull.threads)


def test_a_command_before_any_review_is_remembered_too(hub: Hub, actor: Actor, pull: Pull) -> None:
    say(hub, actor, pull, "/debate pause")
    assert review(hub, actor, pull).outputs["skip_reason"] == "paused"
    say(hub, actor, pull, "/debate resume")
    assert review(hub, actor, pull).outputs["conclusion"] == "complete"
    assert len([comment for comment in pull.comments if comment.body.startswith("<!-- reviewbot:summary")]) == 1


@pytest.mark.smoke
def test_a_command_runs_nothing_of_the_change(hub: Hub, actor: Actor, pull: Pull, tmp_path: Path) -> None:
    pull.push({"test_a.py": f"open({str(tmp_path / 'ran')!r}, 'w')\n\ndef test(): pass\n"})
    say(hub, actor, pull, "/debate full")
    assert not (tmp_path / "ran").exists()
    assert "sandbox: none" in pull.comments[1].body


@pytest.mark.smoke
def test_no_more_than_so_many_commands_an_hour(hub: Hub, actor: Actor, pull: Pull) -> None:
    actor.environment["REVIEWBOT__GITHUB__COMMANDS_PER_HOUR"] = "2"
    say(hub, actor, pull, "/debate status")
    say(hub, actor, pull, "/debate status")
    ran, reactions, _ = say(hub, actor, pull, "/debate full")
    assert ran.outputs["skip_reason"] == "too_many_commands"
    assert reactions == ["confused"]


def test_a_question_without_a_model_is_answered_honestly(hub: Hub, actor: Actor, pull: Pull) -> None:
    _, _, text = say(hub, actor, pull, "/debate ask what does f in a.py do?")
    assert "no language model" in text


def test_a_command_on_lines_is_a_command_too(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    comment = pull.reply(pull.threads[0], "octocat", "/debate explain F1")
    ran = actor.run("pull_request_review_comment", hub.event("pull_request_review_comment", action="created", comment=comment))
    assert ran.exit_code == 0, ran.stderr
    assert [reaction.content for reaction in comment.reactions] == ["eyes", "rocket"]
    assert "B006" in answer(pull)


def test_a_foreign_comment_with_our_marker_is_neither_read_nor_edited(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    ours = pull.comments[0].body
    forged = ours.replace("2 findings", "0 findings")
    pull.comment("octocat", forged)
    pull.comment("octocat", f"{STATUS}\nmine")
    pull.push({"c.py": FAULTY})
    review(hub, actor, pull, "synchronize")
    say(hub, actor, pull, "/debate status")
    bodies = [comment.body for comment in pull.comments if comment.login == "octocat"]
    assert bodies[:2] == [forged, f"{STATUS}\nmine"]


def test_reactions_that_are_not_permitted_do_not_stop_a_command(hub: Hub, actor: Actor, pull: Pull) -> None:
    hub.faults.append(
        Fault(
            "reactions/create-for-issue-comment",
            status=403,
            body='{"message": "Resource not accessible by integration"}',
            times=5,
        )
    )
    _, reactions, text = say(hub, actor, pull, "/debate status")
    assert reactions == []
    assert "no review is remembered yet" in text


BROKEN = {
    "shop.py": "def price(n):\n    return n * 3\n",
    "test_shop.py": "import shop\n\ndef test_price():\n    assert shop.price(2) == 6\n",
}


@pytest.mark.parametrize("words", ["/debate full", "/debate mind the price"])
def test_a_command_that_executes_nothing_takes_back_nothing_that_was_proven(
    hub: Hub, actor: Actor, repository: Repository, words: str
) -> None:
    repository.commit("main", BROKEN, "Sell")
    repository.commit("dearer", {"shop.py": BROKEN["shop.py"].replace("3", "4")}, "Charge more")
    pull = repository.pull("Charge more", "dearer")
    assert review(hub, actor, pull).outputs["verdict"] == "request_changes"
    ran, _, _ = say(hub, actor, pull, words)
    assert ran.outputs["verdict"] == "request_changes"
    assert [found["title"].split(":")[0] for found in json.loads(ran.outputs["findings_json"])] == ["`test_price` fails"]
    assert [thread.is_resolved for thread in pull.threads] == [False]
    assert [posted.state for posted in pull.reviews] == ["CHANGES_REQUESTED"]


@pytest.mark.parametrize(("words", "closed"), [("/debate resolve", 2), ("/debate dismiss F1", 1)])
def test_where_threads_may_not_be_resolved_a_command_folds_and_answers_them(
    hub: Hub, actor: Actor, pull: Pull, words: str, closed: int
) -> None:
    hub.resolving_needs_contents = True
    review(hub, actor, pull)
    _, reactions, text = say(hub, actor, pull, words)
    answers = [thread.comments[1].body for thread in pull.threads if len(thread.comments) == 2]
    assert (len(answers), reactions) == (closed, ["eyes", "rocket"]), text
    assert all("by `octocat`" in said for said in answers)
    say(hub, actor, pull, "/debate full")
    assert [len(thread.comments) for thread in pull.threads].count(2) == closed


def test_an_explanation_comes_from_the_artifact_of_the_run_that_argued(
    hub: Hub, actor: Actor, pull: Pull, tmp_path: Path
) -> None:
    """A comment's run has not the state of the pull request's runs; which run argued stands in our own summary."""
    reviewed = hub_run(hub, actor, pull)
    review_json = (actor.documents / "review.json").read_bytes()
    pull.repository.artifact(reviewed, "reviewbot-review", zipped(review=review_json))
    forged = pull.repository.run("other", pull=pull)
    pull.repository.artifact(forged, "reviewbot-review", zipped(review=review_json.replace(b"B006", b"B666")))
    elsewhere = Actor(hub, tmp_path / "elsewhere", hub.token(permissions=REVIEWER | {"actions": "read"}))
    _, reactions, text = say(hub, elsewhere, pull, "/debate explain F1")
    assert reactions == ["eyes", "rocket"]
    assert "B006" in text
    assert "round 1" in text
    gone = '{"message": "Not Found"}'
    hub.faults.append(Fault("actions/list-workflow-run-artifacts", status=404, body=gone, times=5))
    _, _, text = say(hub, Actor(hub, tmp_path / "bare", hub.token(permissions=REVIEWER)), pull, "/debate explain F1")
    assert "did not travel" in text


def hub_run(hub: Hub, actor: Actor, pull: Pull) -> Run:
    """A review in a run that the forge knows."""
    made = pull.repository.run("review", pull=pull)
    actor.environment["GITHUB_RUN_ID"] = str(made.id)
    assert review(hub, actor, pull).exit_code == 0
    return made


def test_a_summary_says_at_once_what_was_dismissed(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    say(hub, actor, pull, "/debate dismiss F1")
    assert "**Since then:** dismissed `F1`." in pull.comments[0].body
    say(hub, actor, pull, "/debate dismiss F2")
    assert pull.comments[0].body.count("Since then") == 1
    assert "dismissed `F1`, `F2`." in pull.comments[0].body


def test_another_branch_to_merge_into_is_another_review(hub: Hub, actor: Actor, pull: Pull, repository: Repository) -> None:
    review(hub, actor, pull)
    repository.commit("release", {"a.py": "def f(x):\n    return 0\n"}, "Release")
    pull.base_ref = "release"
    assert review(hub, actor, pull, "reopened").outputs["skip_reason"] == ""


def test_a_dispute_about_what_is_settled_is_refused(hub: Hub, actor: Actor, pull: Pull) -> None:
    review(hub, actor, pull)
    say(hub, actor, pull, "/debate dismiss F1")
    _, reactions, text = say(hub, actor, pull, "/debate dispute F1 it is fine")
    assert reactions == ["eyes", "confused"]
    assert "dismissed already" in text
