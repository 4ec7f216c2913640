"""How long each review of a push may take, and which of an earlier push still holds."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot import wiring
from reviewbot.cli.alarm import TimeUp, alarm
from reviewbot.config import Source
from reviewbot.domain.dismissal import FILE, Dismissal, Dismissals
from reviewbot.domain.review import Conclusion
from reviewbot.errors import IncompleteError
from reviewbot.wiring import pushing_hook
from reviewbot.wiring.outgoing import Range, outgoing
from reviewbot.wiring.pushing_hook import Prospect
from tests.hooks.lab import BROKEN
from tests.hooks.pushing import Pushes

pytestmark = pytest.mark.matrix(parts=1)


@pytest.fixture
def pushes(tmp_path: Path) -> Pushes:
    made = Pushes(tmp_path)
    made.change("second.py", BROKEN)
    return made


def order(pushes: Pushes, **settings: object) -> wiring.Order:
    """A push with this user configuration, in which nothing is run."""
    lines = "".join(f"{name}: {value}\n" for name, value in settings.items())
    made = replace(pushes.order(), user=Source("config.yml", lines.encode()), execute=False)
    return replace(made, state=pushes.folder / "state", panel="static")


def ahead(pushes: Pushes, asked: wiring.Order) -> Prospect:
    (part,) = outgoing(asked, pushes.told("origin", "main"))
    assert isinstance(part, Range)
    return pushing_hook.prospect(asked, part)


def seconds(asked: wiring.Order, known: Prospect, spent: float) -> float:
    """Those of the review that is made."""
    made = pushing_hook.review(asked, known, spent=spent)
    return made.configuration.get("limits.seconds", float)


def test_a_push_has_two_minutes_and_what_of_them_is_left_is_rounded_down(pushes: Pushes):
    asked = order(pushes)
    known = ahead(pushes, asked)
    assert pushing_hook.seconds_of(asked) == known.seconds == 120
    assert [seconds(asked, known, spent) for spent in (0.0, 3.0, 118.0)] == [120, 115, 2]


def test_a_review_of_a_push_has_no_more_time_than_a_review(pushes: Pushes):
    asked = order(pushes, limits="{seconds: 30}")
    assert seconds(asked, ahead(pushes, asked), 0.0) == 30


def test_a_flag_says_how_long_the_whole_push_may_take(pushes: Pushes):
    flags = {"hook.seconds": (200.0, "--timeout"), "limits.seconds": (200.0, "--timeout")}
    asked = replace(order(pushes, limits="{seconds: 30}"), flags=flags)
    known = ahead(pushes, asked)
    assert [seconds(asked, known, spent) for spent in (0.0, 50.0)] == [200, 150]


def test_where_the_time_is_up_no_review_is_begun(pushes: Pushes):
    asked = order(pushes)
    with pytest.raises(IncompleteError, match=r"^the 120 s of this push were up before it was begun; .*hook\.seconds"):
        pushing_hook.review(asked, ahead(pushes, asked), spent=119.5)


@pytest.mark.parametrize(("said", "holds"), [(7, 7), (500, 60)])
def test_a_repository_may_shorten_the_time_by_its_base_and_not_prolong_it(pushes: Pushes, said: int, holds: int):
    pushes.git("reset", "-q", "--hard", "origin/main")
    pushes.change(".reviewbot.yml", f"version: 1\nhook: {{seconds: {said}}}\n")
    pushes.git("push", "-q", "origin", "main")
    pushes.change(".reviewbot.yml", "version: 1\nhook: {seconds: 1}\n")
    asked = order(pushes, hook="{seconds: 60}")
    assert pushing_hook.seconds_of(asked) == 60
    assert ahead(pushes, asked).seconds == holds, "of the base; what is pushed does not count"


def test_a_complete_review_holds_for_an_equal_push(pushes: Pushes):
    asked = order(pushes)
    known = ahead(pushes, asked)
    assert known.finished is None
    made = pushing_hook.review(asked, known, spent=0.0).review
    again = ahead(pushes, asked)
    assert again.finished is not None
    assert again.finished.run_id == made.run_id
    assert [one.fingerprint for one in again.finished.findings] == [one.fingerprint for one in made.findings]
    other = order(pushes, hook="{seconds: 9}", display="{color: never}", review="{fail_on: high}")
    assert ahead(pushes, other).finished is not None, "none of that changes what is found"


def test_a_review_holds_no_longer_where_something_decisive_changed(pushes: Pushes):
    asked = order(pushes)
    known = ahead(pushes, asked)
    pushing_hook.review(asked, known, spent=0.0)
    assert ahead(pushes, asked).finished is not None
    others = (
        replace(asked, fresh=True),
        replace(asked, execute=True),
        replace(asked, state=None),
        order(pushes, review="{min_severity: high}"),
        order(pushes, checks="[{preset: mypy}]"),
    )
    assert [ahead(pushes, other).finished for other in others] == [None] * len(others)
    silenced = replace(asked, dismissals=Dismissals((Dismissal("f" * 64, "second.py", "wanted"),)))
    assert ahead(pushes, silenced).finished is None
    pushes.change("third.py")
    assert ahead(pushes, asked).finished is None


def test_dismissals_that_cannot_be_read_are_said_and_silence_nothing(pushes: Pushes):
    asked = order(pushes)
    assert pushing_hook.heeding(asked) == (asked, ())
    pushes.repo.write(FILE, "{")
    heeding, (note,) = pushing_hook.heeding(asked)
    assert heeding == asked
    assert note.startswith(f"what {FILE} of the work tree dismisses is not known: ")


def kept(pushes: Pushes) -> list[Path]:
    return sorted((pushes.folder / "state" / pushing_hook.PUSHES).rglob("*.json"))


def test_a_review_of_yesterday_or_one_that_cannot_be_read_is_made_again(pushes: Pushes):
    asked = order(pushes)
    pushing_hook.review(asked, ahead(pushes, asked), spent=0.0)
    (file,) = kept(pushes)
    yesterday = time.time() - pushing_hook.HOLDS_SECONDS - 60
    os.utime(file, (yesterday, yesterday))
    assert ahead(pushes, asked).finished is None
    file.write_text("{")
    assert ahead(pushes, asked).finished is None


def test_what_is_not_whole_is_not_kept(pushes: Pushes):
    pushes.change("lib.py", BROKEN * 30)
    asked = order(pushes, limits="{tokens: 1000}")
    made = pushing_hook.review(asked, ahead(pushes, asked), spent=0.0).review
    assert made.conclusion is not Conclusion.COMPLETE
    assert not kept(pushes)


def test_only_so_many_reviews_are_kept(pushes: Pushes):
    asked = order(pushes)
    pushing_hook.review(asked, ahead(pushes, asked), spent=0.0)
    (first,) = kept(pushes)
    for number in range(pushing_hook.MOST_KEPT):
        other = first.with_name(f"{number}.json")
        other.write_bytes(first.read_bytes())
        os.utime(other, (number, number))
    pushes.change("third.py")
    pushing_hook.review(asked, ahead(pushes, asked), spent=0.0)
    assert len(kept(pushes)) == pushing_hook.MOST_KEPT
    assert first in kept(pushes)
    assert first.with_name("0.json") not in kept(pushes)


def test_an_alarm_ends_what_does_not_end_and_leaves_what_does():
    with pytest.raises(TimeUp), alarm(0.02):
        time.sleep(60)
    with alarm(60):
        pass
