"""The benchmarks: what they compute is right, and each script runs to its end on something tiny. No figure is asserted."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import debate_journal as journal
from reviewbot.adapters.till.prices import published
from tests.fakes import Models, reviewer

TOP = Path(__file__).parents[1]
MOST_SECONDS = 240


def call(began: float, ended: float, **more: Any) -> dict[str, Any]:
    """A call of the journal."""
    plain = {"protocol": "openai", "model": "m", "system": "", "prompt": "", "in_flight": 1, "input": 0, "cached": 0}
    return {**plain, "began": began, "ended": ended, **more}


def run(script: str, *options: str) -> str:
    """What a benchmark prints."""
    command = [sys.executable, str(TOP / "benchmarks" / script), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_open_time_is_the_union_of_all_calls():
    calls = [call(10, 11), call(0, 4), call(1, 2), call(3, 5), call(5, 6)]
    assert journal.open_seconds(calls) == 7
    assert journal.open_seconds([]) == 0


def test_waves_are_the_longest_chain_of_calls_after_one_another():
    assert journal.waves([call(0, 1), call(1.1, 2), call(1.2, 2.1), call(2.2, 3), call(2.0, 9)]) == 3
    assert journal.waves([call(0, 9), call(1, 2), call(3, 4)]) == 2
    assert journal.waves([]) == 0


def test_calls_in_flight_are_those_that_the_server_counted():
    assert journal.most_in_flight([call(0, 1, in_flight=3), call(0, 1, in_flight=2)]) == 3
    assert journal.most_in_flight([]) == 0


def test_bytes_are_shared_with_any_earlier_call_of_the_same_model():
    calls = [call(0, 1, system="äb", prompt="cd"), call(0, 1, prompt="other"), call(0, 1, system="äb", prompt="cX")]
    assert journal.share_of_bytes(calls) == 4 / 15
    assert journal.share_of_bytes([calls[0], calls[2] | {"model": "n"}]) == 0
    assert journal.share_of_bytes([]) == 0


def test_the_share_of_bytes_is_the_one_that_the_server_counts():
    with Models(script=reviewer()) as models:
        for text in ("one prefix, first", "one prefix, second", "one prefix, second and more", "another"):
            link = http.client.HTTPConnection("127.0.0.1", models.port)
            body = {"model": "m", "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": text}]}
            link.request("POST", "/v1/chat/completions", json.dumps(body))
            link.getresponse().read()
            link.close()
        assert journal.share_of_bytes([seen.document() for seen in models.calls]) == pytest.approx(models.bytes_shared())
        assert models.bytes_shared() > 0.4


def test_the_first_question_waits_for_what_its_call_did_not_take():
    events = ("asked", "critic", 2.0), ("asked", "reviewer", 2.1), ("answered", "reviewer", 3.0), ("answered", "critic", 3.5)
    lines = "\n".join(json.dumps({"event": event, "seat": seat, "at": at}) for event, seat, at in events)
    assert journal.first_wait([call(7, 8), call(9, 19)], f"a line of text\n{lines}\n") == pytest.approx(0.5)
    assert journal.first_wait([], lines) == 0


def test_dollars_are_those_of_the_price_table():
    price = next(one for one in published() if one.model == "openai:gpt-5.4")
    calls = [call(0, 1, input=1_000_000), call(0, 1, input=1_000_000, cached=900_000)]
    small = [call(0, 1, input=100_000), call(0, 1, input=100_000, cached=90_000)]
    with_prefix, without = journal.dollars(small, 10_000, "openai:gpt-5.4")
    written = price.output / 100
    assert without == pytest.approx(price.input * 0.2 + written)
    assert with_prefix == pytest.approx(price.input * 0.11 + price.cached_input * 0.09 + written)
    assert journal.dollars(calls, 0, "openai:gpt-5.4")[1] > 2 * price.input


def test_a_price_that_nobody_published_is_not_computed_with():
    with pytest.raises(ValueError, match="no price is published"):
        journal.dollars([], 0, "openai:no-such-model")


@pytest.mark.slow
def test_the_debate_is_measured():
    said = run(
        "debate.py", "--seconds=0.05", "--runs=1", "--imports=1", "--small=100", "--large=900", "--slow=1000", "--round-seconds=6"
    )
    assert "not the debate that was meant" not in said
    assert "too few asks" not in said
    assert [float(number) for number in re.findall(r"second run: calls +(\S+)", said)] == [0, 0]
    assert len(re.findall(r"own: wall - open - import .*<= (?:0.8|1.5) +(?:pass|FAIL)$", said, re.MULTILINE)) == 2
    assert re.search(r"that / import .*%", said)
    assert re.search(r"^  first slow .* answered$", said, re.MULTILINE)
    assert re.search(r"prompt of the next ask / median before .* pass$", said, re.MULTILINE)


@pytest.mark.slow
def test_the_command_is_measured():
    said = run("command.py", "--lines=600", "--rounds=1")
    assert "planted secrets found: 2 of 2" in said


@pytest.mark.slow
def test_the_diff_parser_is_measured():
    assert re.search(r"^generated +\d+ +\d+ +\d+ ", run("diff.py", "--lines=600"), re.MULTILINE)


@pytest.mark.slow
def test_a_review_on_github_is_measured():
    said = run("pull_requests.py", "--rounds=1", "--delay=0", "--only=S")
    assert "not what was meant" not in said
    assert re.search(r"^S: 63 changed lines in 3 files, 3 findings$", said, re.MULTILINE)
    calls = {line[2:29].strip(): (int(line[29:35]), int(line[35:42])) for line in said.splitlines() if " to " in line}
    assert calls["a floor of three calls"] == (3, 2)
    assert calls["reviewbot review, no forge"] == (0, 0)
    assert calls["first review"][0] <= 8
    assert calls["the same head again"][1] == 0
    assert re.search(r"^a draft, which is skipped, after 0 calls: .*×$", said, re.MULTILINE)
