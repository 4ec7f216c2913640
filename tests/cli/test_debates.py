"""The commands about models and past debates, over a wiring that is played: what they ask of it, and how they tell it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest

from reviewbot import cli, wiring
from reviewbot.cli import sessions
from reviewbot.cli.options import ReviewArguments
from reviewbot.config import Configuration
from reviewbot.domain.change import Revisions
from reviewbot.domain.money import Usage
from reviewbot.domain.review import Conclusion, Review, Verdict
from reviewbot.errors import OutputError, UsageError
from reviewbot.ports import Profile, SessionState
from reviewbot.publish.document import document
from tests.cli.planted import KEY
from tests.cli.test_forecast import FULL
from tests.publish.samples import FULL as SAMPLE


@dataclass(frozen=True, slots=True)
class Status:
    provider: str
    model: str
    seats: tuple[str, ...]
    configured: bool
    reachable: bool | None
    local: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    id: str
    state: SessionState
    title: str = ""
    project: str = "owner/shop"
    base: str = "a" * 40
    head: str = "b" * 40
    verdict: str = ""
    conclusion: str = ""
    usage: Usage = Usage()
    findings: int = 3
    posted: int = 1
    begun_at: float = 1_795_244_400.0


MODELS = (
    Status("anthropic", "claude", ("critic", "moderator"), configured=True, reachable=True, local=False),
    Status("openai", "gpt", (), configured=False, reachable=None, local=False),
    Status("ollama", "q:1b", ("optimizer",), configured=True, reachable=False, local=True, detail=f"refused {KEY}\x1b[2J"),
)
PARTIAL = Review(
    run_id="01RUN", tool_version="0", conclusion=Conclusion.PARTIAL, verdict=Verdict.COMMENT,
    revisions=Revisions("range", "a" * 40, "b" * 40, None, None),
)  # fmt: skip
PAID = Usage(calls=7, cost_usd=0.13, paid_usd=0.03, replayed_calls=5)
DEBATES = (
    Summary("01RUN", SessionState.IN_DEBATE, title="Add a tax"),
    Summary("01CUT", SessionState.INTERRUPTED),
    *(Summary(f"01END{n}", SessionState.CONVERGED, verdict="comment", usage=PAID) for n in range(7)),
)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[tuple[object, ...]]]:
    """Put a value in the place of a function of the wiring, and see with what it was called."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    def answer(name: str, value: object = True) -> list[tuple[object, ...]]:
        asked: list[tuple[object, ...]] = []

        def played(*words: object) -> object:
            asked.append(words)
            if isinstance(value, Exception):
                raise value
            return value

        monkeypatch.setattr(wiring, name, played, raising=False)
        return asked

    return answer


def test_models_are_listed_with_their_seats_and_whether_they_answer(answers, capfd):
    answers("models", MODELS)
    assert cli.main(["models", "list"]) == 0
    said = capfd.readouterr().out
    rows = [line.split("  ") for line in said.splitlines()]
    assert [[cell.strip() for cell in row if cell.strip()] for row in rows[1:3]] == [
        ["anthropic", "claude", "critic, moderator", "yes", "remote", "-"],
        ["openai", "gpt", "-", "no key", "remote", "-"],
    ]
    assert "no" in rows[3]
    assert KEY not in said
    assert "\x1b" not in said


def test_no_models_are_told_with_the_next_step(answers, capfd):
    answers("models", ())
    assert cli.main(["models", "list"]) == 0
    assert "ANTHROPIC_API_KEY" in capfd.readouterr().out


def test_models_as_json_are_alone_on_stdout(answers, capfd):
    answers("models", MODELS)
    assert cli.main(["models", "list", "--format", "json"]) == 0
    held = json.loads(capfd.readouterr().out)
    assert [one["reachable"] for one in held] == [True, None, False]


def test_models_are_listed_for_the_seats_that_are_typed(answers, capfd):
    asked = answers("models", ())
    assert cli.main(["models", "list", "--panel", "big", "--model", "ollama:q", "-q"]) == 0
    assert (asked[0][0].panel, asked[0][0].models) == ("big", ("ollama:q",))


@pytest.mark.parametrize(("words", "measure"), [([], False), (["--measure"], True)])
def test_profiles_are_shown_and_measured_only_when_told_to(answers, capfd, words: list[str], measure: bool):
    asked = answers("profiles", (Profile("127.0.0.1:11434", "q:1b", 1234.5, 56.78, 2.0, 3, ((1.0, 1.5), (2.0, 2.5))),))
    assert cli.main(["models", "profile", *words]) == 0
    assert asked[0][1] is measure
    assert "1,234" in (said := capfd.readouterr().out)
    assert "2.0/2.5" in said


def test_past_debates_are_listed_up_to_a_limit(answers, capfd):
    asked = answers("sessions", DEBATES)
    assert cli.main(["sessions", "list", "--limit", "9"]) == 0
    assert asked[0][1] == 9
    lines = capfd.readouterr().out.splitlines()
    assert "Add a tax" in lines[1]
    assert "aaaaaaaaaa..bbbbbbbbbb" in lines[2]
    assert "1 of 3  7      $0.13 (paid $0.03)  2026-11-21 07:00Z" in lines[3]


def test_status_tells_what_is_open_first_and_then_the_last_five(answers, capfd):
    answers("sessions", DEBATES)
    assert cli.main(["status"]) == 0
    first, last = capfd.readouterr().out.split("\n\n")
    assert "01RUN" in first
    assert "interrupted" in first
    assert last.count("01END") == 5
    assert cli.main(["status", "--format", "json"]) == 0
    held = json.loads(capfd.readouterr().out)
    assert [len(held["open"]), len(held["last"])] == [2, 5]


def test_an_interrupted_debate_alone_is_told_with_what_to_do_and_nothing_else(answers, capfd):
    answers("sessions", tuple(one for one in DEBATES if one.state.value == "interrupted"))
    assert cli.main(["status"]) == 0
    said = capfd.readouterr().out
    assert "run again" in said
    assert "no debate is remembered" not in said


def test_where_nothing_is_remembered_status_and_sessions_say_so(answers, capfd):
    answers("sessions", ())
    for command in (["status"], ["sessions", "list"]):
        assert cli.main(command) == 0
        assert "no debate is remembered" in capfd.readouterr().out


def test_an_order_carries_the_state_directory_and_the_repository(answers, tmp_path: Path, monkeypatch):
    asked = answers("sessions", ())
    assert cli.main(["status", "--state", str(tmp_path / "kept"), "-C", str(tmp_path)]) == 0
    order = asked[0][0]
    assert isinstance(order, wiring.Order)
    assert (order.directory, order.state) == (tmp_path, tmp_path / "kept")
    assert cli.main(["status", "-C", str(tmp_path)]) == 0
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    assert cli.main(["status", "-C", str(tmp_path)]) == 0
    assert [order.state for order, _ in asked[1:]] == [tmp_path / ".local/state/reviewbot", tmp_path / "xdg" / "reviewbot"]


def test_a_review_is_ordered_as_it_was_typed(answers, tmp_path: Path):
    asked = answers("plan", FULL)
    words = [
        "--panel",
        "big",
        "--model",
        "critic=openai:x",
        "--model",
        "a:b",
        "--effort",
        "high",
        "--max-cost-usd",
        "2",
        "--fresh",
        "--no-exec",
    ]
    assert cli.main(["review", "--dry-run", "-C", str(tmp_path), *words]) == 0
    order = asked[0][0]
    assert (order.panel, order.models, order.fresh, order.execute) == ("big", ("critic=openai:x", "a:b"), True, False)
    assert order.flags == {"debate.effort": ("high", "--effort"), "limits.cost_usd": (2.0, "--max-cost-usd")}
    assert cli.main(["review", "--dry-run", "-C", str(tmp_path)]) == 0
    assert (asked[1][0].panel, asked[1][0].models, asked[1][0].fresh, asked[1][0].execute) == (None, (), False, True)


def test_an_export_is_two_files_of_which_each_is_whole(answers, tmp_path: Path, capfd):
    answers("export", iter([("train", "{1}"), ("validation", "{2}\n"), ("train", "{3}")]))
    assert cli.main(["sessions", "export", "-d", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "train.jsonl").read_text() == "{1}\n{3}\n"
    assert (tmp_path / "out" / "validation.jsonl").read_text() == "{2}\n"
    assert "train.jsonl: 2 lines" in capfd.readouterr().err
    assert (tmp_path / "out" / "train.jsonl").stat().st_mode & 0o777 == 0o600


def test_an_export_that_fails_leaves_nothing(tmp_path: Path):
    def lines():
        yield "train", "{1}"
        raise OutputError("no more")

    with pytest.raises(OutputError):
        sessions.write(lines(), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_an_export_into_a_file_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="name another directory"):
        sessions.write(iter(()), tmp_path / "file")


def test_an_export_without_a_directory_is_lines_on_stdout(answers, capfd):
    answers("export", iter([("train", '{"a":1}'), ("validation", '{"b":2}')]))
    assert cli.main(["sessions", "export"]) == 0
    assert [json.loads(line) for line in capfd.readouterr().out.splitlines()] == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(("words", "code"), [([], 3), (["--format", "json"], 3)])
def test_a_replay_is_reported_like_a_review(answers, capfd, words: list[str], code: int):
    asked = answers("replay", wiring.Outcome(PARTIAL, Configuration()))
    assert cli.main(["sessions", "replay", "01END", *words]) == code
    assert asked[0][1] == "01END"
    said = capfd.readouterr().out
    assert (json.loads(said)["conclusion"] if words else said.lower().count("partial")) in ("partial", 1, 2)


def test_a_dry_run_prints_the_forecast_and_reviews_nothing(answers, tmp_path: Path, capfd):
    answers("review", AssertionError("a dry run reviewed"))
    asked = answers("plan", FULL)
    assert cli.main(["review", "--dry-run", "-C", str(tmp_path)]) == 0
    assert "at most 41 calls" in capfd.readouterr().out
    assert cli.main(["review", "--dry-run", "--format", "json", "-o", str(tmp_path / "plan.json"), "-C", str(tmp_path)]) == 0
    held = json.loads((tmp_path / "plan.json").read_text())
    assert (held["worst_usd"], held["seating"]["seats"][0]["name"]) == (1.239, "critic")
    assert cli.main(["review", "--dry-run", "--format", "sarif", "-C", str(tmp_path)]) == 2
    assert "--dry-run prints text or json" in capfd.readouterr().err
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("words", "panel"),
    [
        ([], "static"),
        (["--panel", "models"], "models"),
        (["--model", "openai:x"], None),
        (["--panel", "big", "--model", "a:b"], "big"),
    ],
)
def test_a_demo_costs_nothing_unless_models_are_asked_for(monkeypatch, capfd, words: list[str], panel: str | None):
    seen: list[ReviewArguments] = []
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setattr("reviewbot.cli.review.run", lambda arguments: seen.append(arguments) or 0)
    monkeypatch.setattr("reviewbot.cli.demo.build", lambda shop, path: shop.mkdir())
    assert cli.main(["demo", "-q", *words]) == 0
    assert (seen[0].panel, seen[0].target) == (panel, "HEAD")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("command", [["sessions", "show", "01X"], ["sessions", "replay", "01X"]])
def test_a_debate_that_is_not_there_is_exit_2(answers, capfd, command: list[str]):
    answers("session", UsageError("no session begins with '01X'", hint="see 'reviewbot sessions list'"))
    answers("replay", UsageError("no session begins with '01X'", hint="see 'reviewbot sessions list'"))
    assert cli.main(command) == 2
    assert "sessions list" in capfd.readouterr().err


def test_keys_of_a_private_file_reach_the_wiring_and_what_is_left_is_said(answers, tmp_path: Path, capfd, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".env").write_text("OPENAI_API_KEY=x\nREVIEWBOT__DEBATE__ROUNDS=1\n")
    asked = answers("models", ())
    answers("is_private_file")
    assert cli.main(["models", "list", "-C", str(tmp_path)]) == 0
    assert asked[0][0].environment["OPENAI_API_KEY"] == "x"
    assert "REVIEWBOT__DEBATE__ROUNDS in .env is not read" in capfd.readouterr().err
    answers("plan", FULL)
    assert cli.main(["review", "--dry-run", "--log-format", "json", "-C", str(tmp_path)]) == 0
    assert json.loads(capfd.readouterr().err)["event"] == "notice"


def test_one_finding_is_told_as_it_stands_in_the_document(answers, capfd):
    answers("last_review", SAMPLE)
    wanted = document(SAMPLE)["findings"][1]
    assert cli.main(["explain", wanted["id"].lower(), "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out) == wanted
    assert cli.main(["explain", "F99"]) == 2
    assert f"it has {SAMPLE.findings[0].id}" in capfd.readouterr().err


def test_a_finding_is_named_by_its_number_or_the_begin_of_its_fingerprint():
    from reviewbot.cli.explain import named

    one, other = (SimpleNamespace(id=f"F{n}", fingerprint=f"abcdef{n}00") for n in (1, 2))
    review = SimpleNamespace(findings=(one, other))
    assert named(review, "f2") is other
    assert named(review, "abcdef1") is one
    for name in ("F3", "abcdef", "abc", ""):
        with pytest.raises(UsageError, match="no single finding"):
            named(review, name)
