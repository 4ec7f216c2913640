"""A package outside of this repository, installed by pip, adds a provider, a tool, a parser and a pattern. All four are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.extension.conftest import KEY, Workplace, seated
from tests.extension.gateway import Gateway
from tests.extension.stock import lay
from tests.fakes import Answer, Seen, Wish, reviewer
from tests.models.stage import role_of

pytestmark = pytest.mark.ci

LINTER = """\
import sys
for name in sys.argv[1:]:
    for number, line in enumerate(open(name), 1):
        if "value * 3" in line:
            print(f'level=error file={name} line={number} rule=H1 msg="three is not a house number"')
"""
CHECK = {"name": "house", "run": ["{python}", "lint/house.py", "{files}"], "parser": "logfmt", "files": ["*.py"]}


def ready(place: Workplace, example: Path, gateway: Gateway, **other: Any) -> None:
    place.packages = (example,)
    place.configure(seated(gateway, **other))


def owned(place: Workplace) -> None:
    """A change after a commit with a linter and with CODEOWNERS."""
    place.repo.write("lint/house.py", LINTER)
    place.repo.write("CODEOWNERS", "* @everyone\n/shop/ @ada # with a key AKIA" + "Q5TZ7WXN3J2KDVB4\n")
    place.repo.commit("Lint the shop")
    place.repo.write("shop/more.py", place.text)
    place.repo.commit("Add more")


def test_a_review_is_held_with_the_provider_the_tool_and_the_parser(
    place: Workplace, example: Path, gateway: Gateway, bubblewrap: None
) -> None:
    owned(place)
    ready(place, example, gateway, tools={"extra": ["owners"]}, checks=[CHECK])
    gateway.script = reviewer(wishes=[[Wish("owners", {"path": "shop/more.py"})]])
    ran = place.run("review", "HEAD", "--format", "json")
    assert ran.code == 0, ran.err
    found = ran.document
    assert {seat["model"] for seat in found["panel"]} == {"gateway:house-1"}
    assert {seat["status"] for seat in found["panel"]} == {"ok"}
    assert gateway.keys == {f"Bearer {KEY}"}
    assert KEY not in ran.said
    answers = [one["text"] for body in gateway.bodies for step in body["looked_up"] for one in step["results"]]
    assert answers
    assert {json.dumps(json.loads(text), sort_keys=True) for text in answers} == {
        '{"owners": ["@ada"], "path": "shop/more.py", "said_in": "CODEOWNERS"}'
    }
    (item,) = [one for one in found["evidence"] if one["tool"] == "house"]
    assert (item["path"], item["rule"], item["status"]) == ("shop/more.py", "H1", "new")


def test_a_question_is_talked_over_by_the_pattern(place: Workplace, example: Path, gateway: Gateway) -> None:
    ready(place, example, gateway)

    def script(seen: Seen) -> Answer:
        said = {
            "answer": f"The {role_of(seen)} says so.",
            "citations": ["shop/work.py:5", "E99"],
            "caveats": [],
            "confidence": 0.7,
        }
        return Answer(json.dumps(said))

    gateway.script = script
    ran = place.run("ask", "Does the limit count?", "HEAD", "--pattern", "relay", "--format", "json")
    assert ran.code == 0, ran.err
    found = ran.document
    assert (found["answer"], found["by"]) == ("The optimizer says so.", "optimizer")
    assert (found["citations"], found["dropped_citations"]) == (["shop/work.py:5"], ["E99"])
    assert [one["panelist"] for one in found["opinions"]] == ["critic", "reviewer", "optimizer"]
    assert found["usage"]["calls"] == len(gateway.bodies) == 3
    assert "The reviewer says so." in gateway.bodies[2]["question"]
    again = place.run("ask", "Does the limit count?", "HEAD", "--pattern", "relay", "--format", "json")
    assert (again.document["answer"], len(gateway.bodies)) == (found["answer"], 3), "paid for once"


def test_a_report_that_a_parser_chokes_on_leaves_a_review_that_says_so(
    place: Workplace, tmp_path: Path, bubblewrap: None
) -> None:
    source = (
        "from reviewbot.evidence.parsers.outside import RemarkParser\n"
        "def read(data): raise KeyError('level')\n"
        "P = RemarkParser(read)\n"
    )
    place.packages = (lay(tmp_path / "bad", "bad-package", source, {"parser": {"bad": "P"}}),)
    place.configure({"checks": [CHECK | {"run": ["{python}", "-c", "print(1)"], "parser": "bad", "required": True}]})
    ran = place.run("review", "HEAD", "--panel", "static", "--format", "json")
    assert ran.code == 3, ran.err
    assert ran.document["conclusion"] == "partial"
    said = "house: not run: at head: the parser 'bad' of bad-package 1.0: KeyError: 'level'"
    assert any(note.startswith(said) for note in ran.document["notes"])


@pytest.mark.smoke
def test_doctor_names_what_is_installed(place: Workplace, example: Path) -> None:
    place.packages = (example,)
    ran = place.run("doctor")
    assert "reviewbot-example 1.0 adds the parser logfmt, the pattern relay, the provider gateway, the tool owners" in ran.out
