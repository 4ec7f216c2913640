"""A comment on lines: it hangs where the forge takes it, a button commits only what was checked, and nothing in it is alive."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings

from reviewbot.domain.debate import Check, CheckOutcome
from reviewbot.domain.review import Finding, Suggestion
from reviewbot.publish import inline, markers
from reviewbot.publish.protected import is_protected
from reviewbot.publish.sanitise import LINK_HOSTS
from tests.publish import github, pulls, samples
from tests.publish.test_sanitise import ANYTHING
from tests.rings import examples

VERIFIED = Check(("pytest",), "def test_it(): ...", "test_it", CheckOutcome.PASSES_WITH_FIX)
FIXED = pulls.a_finding(
    1, start_line=41, line=42, check=VERIFIED, suggestion=Suggestion(41, 42, "    good = 1\n    better = 2\n")
)


def hung(finding: Finding) -> str:
    place = inline.place(finding, pulls.CHANGE)
    assert place is not None
    return inline.comment(finding, place, pulls.a_review(finding)).body


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"start_line": 41, "line": 42}, (42, 41, "RIGHT")),
        ({"start_line": 42, "line": 42}, (42, None, "RIGHT")),
        ({"start_line": 0, "line": 42}, (42, None, "RIGHT")),
        ({"start_line": 8, "line": 16}, (16, 8, "RIGHT")),
        ({"start_line": 38, "line": 45}, (45, 38, "RIGHT")),
        ({"start_line": 30, "line": 37, "side": "LEFT"}, (37, 30, "LEFT")),
        ({"start_line": 2, "line": 3, "side": "LEFT", "path": "shop/gone.py"}, (3, 2, "LEFT")),
        ({"start_line": 42, "line": 41}, None),
        ({"start_line": 16, "line": 38}, None),
        ({"start_line": 7, "line": 8}, None),
        ({"start_line": 45, "line": 46}, None),
        ({"start_line": 37, "line": 37}, None),
        ({"start_line": 38, "line": 38, "side": "LEFT"}, None),
        ({"start_line": 0, "line": 0}, None),
        ({"start_line": 1, "line": 1, "path": "shop/gone.py"}, None),
        ({"start_line": 41, "line": 41, "path": "shop/other.py"}, None),
        ({"start_line": 41, "line": 41, "path": "../shop/cart.py"}, None),
    ],
)
def test_a_comment_hangs_on_lines_of_one_hunk_or_nowhere(changes: dict[str, object], place: tuple[object, ...] | None) -> None:
    found = inline.place(pulls.a_finding(1, **changes), pulls.CHANGE)
    assert (found and (found.line, found.start_line, found.side)) == place


def test_a_name_that_no_request_can_hold_has_no_lines() -> None:
    change = replace(pulls.CHANGE, files=(pulls.a_file("a\udcff.py", pulls.a_hunk(1, 1, 3)),))
    assert inline.place(pulls.a_finding(1, path="a\udcff.py", line=1, start_line=1), change) is None
    assert inline.place(pulls.a_finding(1, path="a\\xff.py", line=1, start_line=1), change) is None


def test_a_comment_says_what_there_is_to_say_below_its_marker() -> None:
    body = hung(pulls.a_finding(3, start_line=41, line=42, dissent="Optimizer: no"))
    mark = markers.finding_of(body)
    assert mark == markers.FindingMark(pulls.a_finding(3).fingerprint, "F3", pulls.HEAD)
    for words in (
        "**F3** Thing 3 is wrong",
        "high · correctness · 97%",
        "**When:** A cart with one item",
        "**Then:** Customers are charged too little",
        "**Proof:** proven by a check: `pytest tests/test_cart.py::test_total`",
        "**Votes:** critic ● raised",
        "**Dissent:** Optimizer: no",
        "<summary>Evidence and debate</summary>",
    ):
        assert words in body


def test_a_replacement_that_a_check_passed_with_has_a_button() -> None:
    assert "```suggestion\n    good = 1\n    better = 2\n```" in hung(FIXED)


@pytest.mark.parametrize(
    "changes",
    [
        {"check": replace(VERIFIED, outcome=CheckOutcome.FAILS_AT_HEAD)},
        {"check": replace(VERIFIED, outcome=CheckOutcome.NOT_RUN)},
        {"check": None},
        {"suggestion": Suggestion(41, 41, "good = 1\n")},
        {"suggestion": Suggestion(40, 42, "good = 1\n")},
        {"suggestion": Suggestion(41, 42, "x = '«secret:github-token»'\n")},
        {"suggestion": Suggestion(41, 42, "x = '⟨U+202E⟩'\n")},
        {"suggestion": Suggestion(41, 42, "x = '\u202e'\n")},
        {"suggestion": Suggestion(41, 42, "x = 'ghp_" + "a1B2" * 9 + "'\n")},
        {"suggestion": Suggestion(41, 42, "/debate fix\n")},
        {"suggestion": Suggestion(41, 42, "::error::x\n")},
        {"suggestion": Suggestion(41, 42, "x = '##[error]'\n")},
        {"suggestion": Suggestion(41, 42, "a\r\nb\r\n")},
        {"suggestion": Suggestion(41, 42, "\nx = 1\n")},
        {"suggestion": Suggestion(41, 42, "x = 1\n\n")},
        {"suggestion": Suggestion(41, 42, "")},
        {"suggestion": Suggestion(41, 42, "\n")},
        {"suggestion": Suggestion(41, 42, "x\n" * 9_000)},
        {"path": ".github/workflows/ci.yml"},
    ],
)
def test_every_other_replacement_has_none(changes: dict[str, object]) -> None:
    body = hung(replace(FIXED, **changes))
    assert "```suggestion" not in body
    assert "````suggestion" not in body


def test_a_replacement_on_the_old_side_has_no_button() -> None:
    assert "```suggestion" not in hung(replace(FIXED, side="LEFT", start_line=36, line=37, suggestion=Suggestion(36, 37, "x\n")))


def test_a_replacement_with_backticks_stays_in_its_fence() -> None:
    body = hung(replace(FIXED, suggestion=Suggestion(41, 42, '"""\n````\n@everyone\n````\n"""\n')))
    assert '`````suggestion\n"""\n````\n@everyone\n````\n"""\n`````' in body
    assert github.dangers(body.split("\n", 1)[1], LINK_HOSTS, own_html=True) == []


def test_a_draft_is_shown_as_a_diff_that_nobody_verified() -> None:
    body = hung(replace(FIXED, check=None))
    assert "**Suggestion (not verified)** instead of lines 41–42" in body
    assert "```diff" in body


def test_a_button_s_bytes_are_those_that_were_checked() -> None:
    words = '\tif a < b:  # "x" & <y> @z #1\n\t\treturn `q`  \n'
    block = re.search(r"(?s)(`{3,})suggestion\n(.*?)\n\1", hung(replace(FIXED, suggestion=Suggestion(41, 42, words))))
    assert block is not None
    assert block[2] + "\n" == words


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/x.yml",
        ".GitHub/x",
        "a/.gitattributes",
        ".gitmodules",
        ".git/config",
        "Dockerfile",
        "ops/Dockerfile.dev",
        "uv.lock",
        "web/package.json",
        "web/package-lock.json",
        "go.sum",
        "tests/conftest.py",
        "pyproject.toml",
        "requirements-dev.txt",
        ".pre-commit-config.yaml",
        ".husky/pre-commit",
        ".vscode/tasks.json",
        "CODEOWNERS",
        ".reviewbot.yml",
        ".reviewbot/dismissed.yml",
        "AGENTS.md",
        "docs/CLAUDE.md",
        "run.sh",
        "vite.config.ts",
        ".cargo/config.toml",
        "settings.gradle",
        "tools/CMakeLists.txt",
        "gradle/libs.versions.toml",
        "tox.toml",
        "a\u200b.py",
        "cafe\u0301.py",
        "a\n.py",
    ],
)
def test_a_file_that_decides_what_runs_is_protected(path: str) -> None:
    assert is_protected(path)


@pytest.mark.parametrize("path", ["shop/cart.py", "src/index.ts", "café.py", "docs/readme.md", "shop/github.py", "config.py"])
def test_code_is_not_protected(path: str) -> None:
    assert not is_protected(path)


@settings(max_examples=examples(80))
@given(ANYTHING)
def test_no_field_is_a_way_into_a_comment(text: str) -> None:
    finding = replace(
        FIXED,
        id=text,
        fingerprint=text,
        title=text,
        body=text,
        failure_scenario=text,
        quote=text,
        dissent=text,
        raised_by=(text,),
        stop_reason=text,
        positions=samples.HOSTILE.findings[0].positions,
        check=Check((text,), text, text, CheckOutcome.PASSES_WITH_FIX, output=text),
        suggestion=Suggestion(41, 42, text),
    )
    body = hung(finding)
    first, rest = body.split("\n", 1)
    assert markers.finding_of(first) is not None
    assert github.dangers(rest, LINK_HOSTS, own_html=True) == []


def test_a_long_comment_leaves_out_its_record_and_nothing_before_it() -> None:
    body = hung(replace(FIXED, positions=samples.OFF_BY_ONE.positions * 400))
    assert len(body) < 13_000
    assert "**Then:**" in body
    assert "```suggestion" in body
