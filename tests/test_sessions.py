"""Past reviews with models: listed, shown, replayed, exported and removed."""

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
import test_paid
from conftest import Project
from msgspec.structs import replace
from test_calibration import review_of
from test_paid import configuration, configure, debate, run

from reviewbot.cli.sessions import chat_lines, preference_lines, transcript
from reviewbot.llm.provider import ToolCall, ToolTurn
from reviewbot.store.sessions import Record, Session, Subject, Turn
from tests.vendor_server import Received, Sent, VendorServer

TOKEN = "ghp_" + "a1B2" * 9
cart = test_paid.cart  # a fixture


def with_secrets(received: Received) -> Sent:
    return debate(received, f"\x1b[31m\u202e it is {TOKEN}")


@pytest.fixture
def server(cart: Project) -> Iterator[VendorServer]:  # noqa: ARG001
    with VendorServer(with_secrets).running() as running:
        configure(configuration(running.url, effort="medium"))
        yield running


def lines_of(*arguments: str) -> list[Any]:
    return [json.loads(line) for line in run("sessions", "export", *arguments).stdout.splitlines()]


@pytest.mark.usefixtures("server")
def test_reviews_with_and_without_models_are_one_list_and_can_be_pruned(project: Project) -> None:
    run("review", "HEAD")
    project.commit("Words", {"notes.txt": f"{TOKEN}\n"})
    run("review", "HEAD", "--replay", str(_empty_recording(project.folder)))
    kept = max(Path(".git/reviewbot/reviews").iterdir())
    kept.with_name(f"{kept.stem} (copy).json").write_bytes(kept.read_bytes())
    newest, oldest = run("sessions").stdout.splitlines()
    assert re.match(r"\d{8}-\d{6}-\d+  .*: 1 finding.*  HEAD Words", newest)
    assert re.match(r"1  [\d-]+ [\d:]+  Reviewed: 2 findings  HEAD A fee", oldest)
    assert json.loads(run("sessions", "show", "1", "--format", "json").stdout)["title"] == "A fee"
    assert "Not committed" not in run("sessions", "show").stdout
    result = run("sessions", "show", "2")
    assert result.exit_code == 2
    assert "there is no review 2 that can be read" in result.stderr
    result = run("sessions", "replay", newest.split()[0])
    assert result.exit_code == 2
    assert "is no review with recorded answers of models" in result.stderr
    assert "removed reviews: 2, and recorded results, from " in run("sessions", "prune").stderr
    assert run("sessions").stdout == ""
    assert "0 calls" not in run("review", "HEAD").stdout


def _empty_recording(folder: Path) -> Path:
    file = folder / ".git/recording.json"
    file.write_text('{"entries": []}')
    return file


@pytest.mark.usefixtures("server")
def test_show_prints_every_question_and_answer_once_and_neutralised() -> None:
    run("review", "HEAD")
    shown = run("sessions", "show", "-v").stdout  # the newest, which is in the ledger as well
    assert shown == run("sessions", "show", "1", "-v").stdout
    assert shown.count("│ # What the author says") == 1
    for line in (
        *("── critic/first_pass asks gpu:a", "── gpu:b answers reviewer/cross_examination_1"),
        "── moderator/ruling asks gpu:c",
    ):
        assert shown.count(f"{line}\n") == 1
    assert "│ # Task: find defects in this change" in shown
    assert "it is «secret:github-token»" in shown
    assert not [text for text in ("\x1b", "\u202e", TOKEN) if text in shown]
    assert "──" not in run("sessions", "show", "1").stdout


def test_replay_makes_the_same_review_asking_nobody(server: VendorServer, project: Project) -> None:
    reviewed = json.loads(run("review", "HEAD", "--format", "json").stdout)
    asked = len(server.received)
    run("review", "HEAD")
    for id in ("1", "2"):
        result = run("sessions", "replay", id, "--format", "json")
        replayed = json.loads(result.stdout)
        assert result.stderr == ""
        for name in ("target", "title", "head_commit", "findings", "absences", "verdict", "panel"):
            assert replayed[name] == reviewed[name], name
        usage, then = replayed["usage"], reviewed["usage"]
        assert (usage["calls"], usage["recorded_calls"]) == (0, asked)
        for name in ("input_tokens", "cached_input_tokens", "output_tokens"):
            assert usage[name] == then[name]
        assert usage["cost_usd"] == pytest.approx(then["cost_usd"])
    assert len(server.received) == asked
    assert len(run("sessions").stdout.splitlines()) == 2
    (project.folder / "cart.lua").write_text("return sum + 2\n")
    run("review", "--worktree")
    result = run("sessions", "replay", "3")
    assert result.exit_code == 2
    assert "review 3 is about changes that were not committed" in result.stderr


@pytest.mark.usefixtures("server")
def test_conversations_and_preferences_are_exported_without_secrets(tmp_path: Path) -> None:
    run("review", "HEAD")
    run("review", "HEAD")  # the same answers, which are exported once
    chats = lines_of("1", "--format", "chat")
    assert len(lines_of()) == len(chats)
    roles = {tuple(message["role"] for message in line["messages"]) for line in chats}
    assert roles == {("user", "assistant")}
    assert len(chats) == run("sessions", "show", "1", "-v").stdout.count(" asks gpu:") == 8
    pairs = lines_of("--format", "preferences")
    names = ("rejected", "chosen")
    wrong, right = ([json.loads(pair[n])["judgements"][0] for pair in pairs] for n in names)
    assert [each["stance"] for each in wrong] == ["not_real"] * 2
    assert {(each["stance"], each["reason"][0]) for each in right} == {("real", "c")}
    assert "# What the author says" in pairs[0]["prompt"]
    assert "# Task: judge 1 claim" in pairs[0]["prompt"]
    assert TOKEN not in json.dumps([chats, pairs])
    file = tmp_path / "lines.jsonl"
    result = run("sessions", "export", "--format", "preferences", "-o", str(file))
    assert result.stderr == "reviewbot: exported lines: 2\n"
    assert len(file.read_text().splitlines()) == 2
    assert run("sessions", "export", "9").exit_code == 2
    run("dismiss", "F1", "--reason", "It is meant so")  # who denied it was right
    for file in (".git/reviewbot/dismissed.yml", ".reviewbot/dismissed.yml"):
        pairs = lines_of("--format", "preferences")
        chosen = [json.loads(pair["chosen"])["judgements"][0]["stance"] for pair in pairs]
        assert sorted(chosen) == ["not_real", "real"]
        Path(file).unlink()  # of a person, then that of all
    assert lines_of("--format", "preferences") != pairs


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("column", ["reply", "request"])
def test_what_another_version_wrote_or_is_damaged_is_said(column: str) -> None:
    run("review", "HEAD")
    with closing(sqlite3.connect(".git/reviewbot/ledger.db")) as ledger, ledger:
        ledger.execute(f"""UPDATE calls SET {column} = '{{"text": 5}}'""")
        ledger.execute("UPDATE sessions SET review = '{torn', state = 'another'")
    assert re.search(r"^1  .*  Review another  HEAD A fee$", run("sessions").stdout, re.MULTILINE)
    for words in ("show 1 -v", "replay 1", "export"):
        result = run("sessions", *words.split())
        assert result.exit_code == 3, words
        assert re.match(r"reviewbot: \w+/first_pass of session 1 cannot be read: ", result.stderr)
        assert "\nanother version of reviewbot wrote it, or the ledger is dam" in result.stderr
    result = run("sessions", "show", "1")
    assert (result.exit_code, "did not end, or cannot be read" in result.stderr) == (2, True)
    assert run("review", "HEAD").exit_code == 0


def test_steps_with_tools_are_part_of_a_conversation() -> None:
    call = ToolCall(id="c1", name="search", arguments=f'{{"text": "{TOKEN}"}}')
    who, label = {"provider": "gpu", "model": "a"}, "critic/first_pass"
    tool = {"name": "search", "description": "Find text.", "parameters": {"type": "object"}}
    first = {**who, "prefix": "P", "question": "Q", "schema": {}, "label": label, "tools": [tool]}
    step = msgspec.to_builtins(ToolTurn(calls=(call,), results=("found \ud800",)))
    none: Any = {"fault": "", "message": "", "was_recorded": False, "cost": 0, "seconds": 0}
    said = json.dumps({"calls": [msgspec.to_builtins(call)], "usage": None})
    asked = {"request": json.dumps(first), "reply": said}
    turn = Turn(agent="critic", phase=label, **who, **asked, **none)
    after = json.dumps({**first, "turns": [step]})
    last = replace(turn, request=after, reply='{"text": "no", "usage": null}')
    unusable = replace(last, state="rejected")
    turns = (turn, last, unusable, replace(turn, reply="", message="it refused"))
    review = msgspec.json.encode(review_of(ruling="not_real", status="recorded")).decode()
    subject = Subject(project="", target="", version="")
    session = Session(id=1, subject=subject, started="", review=review)
    record = Record(session=session, agents=(), turns=turns)
    assert [*preference_lines(record, ())] == []  # who is unsure is not wrong
    lines = [json.loads(line) for line in chat_lines(record)]
    assert [line["tools"] for line in lines] == [[{"type": "function", "function": tool}]] * 2
    wish, end = (line["messages"] for line in lines)
    assert wish[1]["tool_calls"][0]["function"]["arguments"] == '{"text": "«secret:github-token»"}'
    assert [message["role"] for message in end] == ["user", "assistant", "tool", "assistant"]
    assert end[2] == {"role": "tool", "content": "found \ud800", "tool_call_id": "c1"}
    shown = "\n".join(transcript(record))
    assert "│ calls search {" in shown
    assert '│ search {"text": "«secret:github-token»"} returns\n│ found' in shown
    assert "── gpu:a gives critic/first_pass no answer\n│ it refused" in shown
