"""Dismissals on pull requests: the file of the base commit, in one process, in zones, and beside `/debate dismiss`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.config.dismissed_text import added, taken
from reviewbot.consensus import dismissed
from reviewbot.domain.dismissal import FILE, Dismissal, Dismissals
from reviewbot.domain.history import Fate
from reviewbot.domain.review import FindingStatus, Lifecycle, RangeMode, Review
from reviewbot.publish.document_request import request_document
from reviewbot.publish.load_request import Request
from tests.forge.acting import REVIEWER, Actor
from tests.forge.hub import Hub
from tests.models.pulls import Pull
from tests.zones.commands import Zones

FAULTY = "def f(x):\n    breakpoint()\n    return x\n"
WORSE = "def g(x):\n    y = x\n    breakpoint()\n    return y\n"
PLAIN = "def f(x):\n    return x\n"


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A fake GitHub, which fails where anything is sent that GitHub does not describe."""
    with Hub() as made:
        yield made


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dismissal]:
    """What a review of both files finds, as `reviewbot dismiss` would write it down."""
    pull = Pull(tmp_path_factory.mktemp("known"))
    pull.push({"a.py": FAULTY, "b.py": WORSE})
    found = pull.review().findings
    assert [one.path for one in found] == ["a.py", "b.py"]
    return {one.path: dismissed.remembered(one, f"{one.path} is meant so", "2026-01-02") for one in found}


def fates(review: Review) -> dict[str, FindingStatus]:
    return {finding.path: finding.status for finding in review.findings if finding.lifecycle is not Lifecycle.FIXED}


@pytest.mark.ci
def test_what_the_base_dismisses_is_not_told_and_what_the_change_dismisses_is(
    hub: Hub, tmp_path: Path, known: dict[str, Dismissal]
) -> None:
    home = hub.repository("octo/app")
    home.allow("octocat", "write")
    held = added(None, [known["a.py"]], FILE)
    home.commit("main", {"README.md": "An app.\n", FILE: held.decode()}, "Begin")
    brought = added(held, [replace(known["b.py"], reason="trust <b>me</b> @octocat")], FILE)
    home.commit("topic", {"a.py": FAULTY, "b.py": WORSE, FILE: brought.decode()}, "Change it")
    pull = home.pull("Change it", "topic")
    actor = Actor(hub, tmp_path, hub.token(permissions=REVIEWER))
    ran = actor.run("pull_request", hub.event("pull_request", action="opened", pull=pull), fail_on="low")
    assert ran.exit_code == 1, ran.stderr
    assert [thread.path for thread in pull.threads] == ["b.py"]
    (thread,) = pull.threads
    assert "the change itself dismisses it: trust" in thread.comments[0].body
    assert "trust \\<b>me\\</b> `@octocat`" in thread.comments[0].body, "as words, and nobody is called"
    (summary,) = pull.comments
    assert f"in `{FILE}`: a.py is meant so" in summary.body
    assert "1 finding" in summary.body


def test_a_dismissal_is_read_anew_each_time_and_that_of_a_command_stays(tmp_path: Path, known: dict[str, Dismissal]) -> None:
    pull = Pull(tmp_path)
    pull.push({"a.py": FAULTY, "b.py": WORSE})
    assert fates(pull.review()) == {"a.py": FindingStatus.ACCEPTED, "b.py": FindingStatus.ACCEPTED}
    by_hand = [
        replace(one, fate=Fate.DISMISSED, by="ada", reason="mine") if one.path == "b.py" else one for one in pull.history.findings
    ]
    pull.history = replace(pull.history, findings=tuple(by_hand))

    text = added(None, list(known.values()), FILE)
    pull.rebase({FILE: text.decode()})
    spared = pull.review()
    assert spared.range_mode is RangeMode.UNCHANGED
    assert {one.path: (one.id, one.status, one.stop_reason) for one in spared.findings} == {
        "a.py": ("F1", FindingStatus.DISMISSED, f"dismissed in {FILE}: a.py is meant so"),
        "b.py": ("F2", FindingStatus.DISMISSED, "dismissed by ada: mine"),
    }
    assert {one.path: one.by for one in pull.history.findings} == {"a.py": FILE, "b.py": "ada"}

    pull.push({"c.py": PLAIN})
    assert set(fates(pull.review()).values()) == {FindingStatus.DISMISSED}

    pull.rebase({FILE: taken(text, [one.fingerprint for one in known.values()], FILE).decode()})
    again = pull.review()
    assert fates(again) == {"a.py": FindingStatus.ACCEPTED, "b.py": FindingStatus.DISMISSED}
    assert next(one.id for one in again.findings if one.path == "a.py") == "F1"


def test_what_was_never_told_keeps_its_number_and_is_told_when_its_dismissal_goes(
    tmp_path: Path, known: dict[str, Dismissal]
) -> None:
    pull = Pull(tmp_path)
    text = added(None, [known["a.py"]], FILE)
    pull.rebase({FILE: text.decode()})
    pull.push({"a.py": FAULTY, "b.py": WORSE})
    assert fates(pull.review()) == {"a.py": FindingStatus.DISMISSED, "b.py": FindingStatus.ACCEPTED}
    pull.rebase({FILE: taken(text, [known["a.py"].fingerprint], FILE).decode()})
    told = pull.review()
    assert {one.path: one.id for one in told.posted()} == {"a.py": "F1", "b.py": "F2"}


def test_a_broken_file_of_the_change_is_said_and_spares_nothing(tmp_path: Path, known: dict[str, Dismissal]) -> None:
    pull = Pull(tmp_path)
    pull.rebase({FILE: added(None, [known["a.py"]], FILE).decode()})
    pull.push({"a.py": FAULTY, "b.py": WORSE, FILE: "dismissed: *all\n"})
    review = pull.review()
    assert fates(review) == {"a.py": FindingStatus.DISMISSED, "b.py": FindingStatus.ACCEPTED}
    assert any("dismissals of the change is not read" in note for note in review.notes)


def told(zones: Zones, *words: str) -> dict[str, str]:
    """What a debate over the documents makes of each file's finding."""
    debated = zones.debate(*words)
    assert debated.code in (0, 3), debated.err
    return {one["path"]: one["status"] for one in zones.read("review.json")["findings"]}


def test_zones_hand_dismissals_on_and_those_of_an_author_are_not_believed(tmp_path: Path, known: dict[str, Dismissal]) -> None:
    pull = Pull(tmp_path)
    pull.rebase({FILE: added(None, [known["a.py"]], FILE).decode()})
    pull.push({"a.py": FAULTY, "b.py": WORSE})
    zones = Zones(tmp_path / "zones", pull.repo.home)
    collected = zones.collect(pull.repo, "main..topic", "--no-exec")
    assert collected.code == 0, collected.err
    assert told(zones) == {"a.py": "dismissed", "b.py": "accepted"}
    assert "dismissed" not in told(zones, "--evidence-origin", "author").values(), "it is their word"
    request = Request(dismissals=Dismissals((known["b.py"],)))
    zones.write("request.json", request_document(request))
    assert told(zones, "--request", "request.json") == {"a.py": "accepted", "b.py": "dismissed"}
