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
from benchmarks import figures, page
from benchmarks.__main__ import SCRIPTS
from benchmarks.figures import Figure
from reviewbot.adapters.till.prices import published
from tests.fakes import Models, reviewer

pytestmark = pytest.mark.matrix

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


def figure(**other: Any) -> Figure:
    """A figure that is told."""
    plain: dict[str, Any] = {
        "script": "hook",
        "part": "hook, 5 files",
        "what": "a / b",
        "middle": 0.5,
        "lowest": 0.4,
        "highest": 0.6,
    }
    return Figure(**{**plain, "unit": "×", **other})


def test_a_figure_is_held_against_its_bar():
    assert (figure(most=0.5).word, figure(most=0.49).word, figure(least=0.5).word, figure(least=0.6).word) == (
        "pass", "FAIL", "pass", "FAIL",
    )  # fmt: skip
    assert (figure().word, figure(most=3).bar, figure(least=75).bar) == ("", "<= 3", ">= 75")


def test_what_can_be_compared_is_a_ratio_or_has_a_bar():
    assert figure().is_comparable
    assert figure(unit="%").is_comparable
    assert figure(unit="s", most=0.8).is_comparable
    assert not figure(unit="s").is_comparable


def test_figures_are_recorded_as_they_are_told(tmp_path: Path):
    record = tmp_path / "figures"
    program = "import figures; figures.begin('part', 'of it'); figures.tell('one / other', [3.0, 1.0, 2.0], '×', most=1)"
    environment = {"PYTHONPATH": str(TOP / "benchmarks"), figures.RECORD: str(record)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert re.search(r"^  one / other +2 × +\(1 to 3\) +<= 1 +FAIL$", done.stdout, re.MULTILINE)
    assert figures.recorded(record) == [Figure("-c", "part", "one / other", 2.0, 1.0, 3.0, "×", most=1)]
    assert figures.recorded(tmp_path / "none") == []


def test_the_page_has_a_place_for_the_table_and_a_word_on_each_script():
    text = page.PAGE.read_text(encoding="utf-8")
    assert text.index(page.BEGIN) < text.index(page.END)
    how_to_read = text.split(page.END)[1]
    for name, script in SCRIPTS.items():
        assert f"### {script.about}\n" in how_to_read
        assert f"`benchmarks/{name}.py`" in how_to_read


def test_a_table_stands_in_the_place_of_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    page.PAGE.write_text(f"before\n{page.BEGIN}old\n{page.END}after\n", encoding="utf-8")
    told = page.rendered([figure(most=1.0), figure(unit="s")], {"hook": "The hook"}, [("system", "Linux")])
    page.write(told)
    page.write(told)
    written = page.PAGE.read_text(encoding="utf-8")
    assert written.startswith("before\n")
    assert written.endswith("after\n")
    assert "old" not in written
    assert written.count("| hook, 5 files: a / b | 0.5 × | 0.4 to 0.6 | ≤ 1 | pass |") == 1
    assert "### The hook\n" in written
    page.PAGE.write_text("nothing\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has lost the lines"):
        page.write(told)


@pytest.mark.ci
def test_one_command_prints_every_ratio():
    command = [sys.executable, "-m", "benchmarks", "--quick", "--only", "diff", "command"]
    done = subprocess.run(command, cwd=TOP, capture_output=True, text=True, timeout=MOST_SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    head, _, table = done.stdout.partition("=== all ratios and bars")
    assert re.search(r"^processor: .*cores", head, re.MULTILINE)
    assert re.search(r"^diff parser: times as fast as unidiff +\S+ × .*>= 2 +(?:pass|FAIL)$", table, re.MULTILINE)
    assert re.search(r"^command: reviewbot --version / bare Python +\S+ × .*<= 4 +(?:pass|FAIL)$", table, re.MULTILINE)
    assert "unidiff reads the patch" not in table


@pytest.mark.ci
def test_the_debate_is_measured():
    said = run(
        "debate.py", "--seconds=0.05", "--runs=1", "--imports=1", "--small=100", "--large=900", "--slow=1000", "--round-seconds=6"
    )
    assert "not the debate that was meant" not in said
    assert "too few asks" not in said
    assert [float(number) for number in re.findall(r"second run: calls +(\S+)", said)] == [0, 0]
    assert len(re.findall(r"own: wall - open - import .*<= (?:0.8|1.5) +(?:pass|FAIL)$", said, re.MULTILINE)) == 2
    assert re.search(r"the wait / the import .*%", said)
    assert re.search(r"^  first slow .* answered$", said, re.MULTILINE)
    assert re.search(r"prompt of the next ask / median before .* pass$", said, re.MULTILINE)


@pytest.mark.ci
def test_the_command_is_measured():
    said = run("command.py", "--lines=600", "--rounds=1")
    assert re.search(r"^  planted secrets that it names +100 % +>= 100 +pass$", said, re.MULTILINE)


@pytest.mark.ci
def test_the_diff_parser_is_measured():
    assert re.search(r"^  times as fast as unidiff +\S+ × ", run("diff.py", "--lines=600"), re.MULTILINE)


@pytest.mark.ci
def test_checks_are_measured():
    said = run("proof.py", "--rounds=1")
    assert re.search(r"^  reviewbot, nothing kept / by hand +\S+ ×$", said, re.MULTILINE)


@pytest.mark.ci
def test_a_fix_is_measured():
    said = run("fixes.py", "--rounds=1", "--seconds=0")
    assert "not what was meant" not in said
    assert re.search(r"^  fix, less models / its tests by hand as often +\S+ ×$", said, re.MULTILINE)


@pytest.mark.ci
def test_the_hook_is_measured():
    said = run("hook.py", "--rounds=1", "--files=20")
    assert "not what was meant" not in said
    assert len(re.findall(r"^  a file, warm / no-op pre-commit run +\S+ × .*(?:pass|FAIL)$", said, re.MULTILINE)) == 2
    assert re.search(r"^  a file, cold: large / small +\S+ × +<= 1.1 +(?:pass|FAIL)$", said, re.MULTILINE)


@pytest.mark.ci
def test_a_review_on_github_is_measured():
    said = run("pull_requests.py", "--rounds=1", "--delay=0", "--only=S")
    assert "not what was meant" not in said
    assert re.search(r"^pull request S: 63 changed lines in 3 files, 3 findings$", said, re.MULTILINE)
    calls = {what: float(count) for what, count in re.findall(r"^  (.*?: calls(?: that write)?) +(\d+)", said, re.MULTILINE)}
    assert calls["a floor of three calls: calls"] == 3
    assert calls["a floor of three calls: calls that write"] == 2
    assert calls["first review: calls"] <= 8
    assert calls["the same head again: calls that write"] == 0
    assert re.search(r"^  a run with nothing to do / bare Python +\S+ ×", said, re.MULTILINE)
