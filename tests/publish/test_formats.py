"""The table of formats, and what each machine format promises."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from reviewbot.domain.change import CoverageStatus
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome, Proof, SettledBy
from reviewbot.domain.review import Conclusion, FindingStatus, Lifecycle, Suggestion
from reviewbot.publish import phrases
from reviewbot.publish.formats import FORMATS, Rendering, render
from tests.publish import samples

VIEW = Rendering(width=80, color=False, verbose=False)


def text() -> dict[str, Any]:
    return {"type": "string", "minLength": 1}


def strict(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": properties}


def each(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


MESSAGE = strict("text", text=text())
LINE = {"type": "integer", "minimum": 1}
ARTIFACT = strict("uri", "uriBaseId", uri={"type": "string", "pattern": "^[A-Za-z0-9._~/%-]+$"}, uriBaseId={"const": "SRCROOT"})
REGION = strict("startLine", "endLine", startLine=LINE, endLine=LINE, snippet=strict("text", text={"type": "string"}))
PLACE = strict("artifactLocation", "region", artifactLocation=ARTIFACT, region=REGION)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
REPLACEMENT = strict("deletedRegion", deletedRegion=REGION, insertedContent=strict("text", text={"type": "string"}))
RESULT = strict(
    "message",
    "ruleId",
    ruleId=text(),
    ruleIndex={"type": "integer", "minimum": 0},
    kind={"enum": ["fail", "review"]},
    level=LEVEL,
    message=MESSAGE,
    locations=each(strict("physicalLocation", physicalLocation=PLACE)),
    relatedLocations=each(strict("id", "message", id=LINE, message=MESSAGE, physicalLocation=PLACE)),
    partialFingerprints={"type": "object", "additionalProperties": text()},
    baselineState={"enum": ["new", "unchanged", "updated", "absent"]},
    suppressions=each(
        strict("kind", kind={"enum": ["inSource", "external"]}, status={"const": "accepted"}, justification=text())
    ),
    fixes=each(
        strict(
            "artifactChanges",
            description=MESSAGE,
            artifactChanges=each(
                strict(
                    "artifactLocation",
                    "replacements",
                    artifactLocation=ARTIFACT,
                    replacements={**each(REPLACEMENT), "minItems": 1},
                )
            ),
        )
    ),
    properties={"type": "object"},
)
RULE = strict(
    "id",
    id=text(),
    shortDescription=MESSAGE,
    defaultConfiguration=strict(level=LEVEL),
    properties={"type": "object"},
)
INVOCATION = strict(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications=each(strict("message", message=MESSAGE, level=LEVEL)),
)
RUN = strict(
    "tool",
    "results",
    tool=strict(
        "driver", driver=strict("name", name={"const": "reviewbot"}, version=text(), rules={**each(RULE), "uniqueItems": True})
    ),
    automationDetails=strict(id=text()),
    originalUriBaseIds=strict("SRCROOT", SRCROOT=strict(description=MESSAGE)),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    invocations=each(INVOCATION),
    results=each(RESULT),
    properties={"type": "object"},
)
SARIF = Draft202012Validator(strict("version", "runs", **{"$schema": text(), "version": {"const": "2.1.0"}, "runs": each(RUN)}))
"""The part of SARIF 2.1.0 that we write, with the standard's own bounds."""

POSITION = strict("line", line=LINE)
RANGE = strict("start", start=POSITION, end=POSITION)
RDJSON = Draft202012Validator(
    strict(
        "diagnostics",
        source=strict("name", name=text()),
        diagnostics=each(
            strict(
                "message",
                "location",
                message=text(),
                location=strict("path", path=text(), range=RANGE),
                severity={"enum": ["ERROR", "WARNING", "INFO"]},
                code=strict("value", value=text()),
                suggestions=each(strict("range", "text", range=RANGE, text={"type": "string"})),
            )
        ),
    )
)


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_sarif_keeps_to_the_standard(name: str) -> None:
    SARIF.validate(json.loads(render("sarif", samples.REVIEWS[name], VIEW)))


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_rdjson_keeps_to_its_format(name: str) -> None:
    RDJSON.validate(json.loads(render("rdjson", samples.REVIEWS[name], VIEW)))


@pytest.mark.parametrize("name", samples.REVIEWS)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_renders_every_review_as_text_that_can_be_written(kind: str, name: str) -> None:
    written = render(kind, samples.REVIEWS[name], VIEW)
    assert written.endswith("\n")
    written.encode("utf-8")
    assert "##[" not in written
    assert not any(line.lstrip().startswith("::") for line in written.split("\n"))
    assert "a1B2a1B2" not in written or kind == "json"


def run(review: Any) -> dict[str, Any]:
    return json.loads(render("sarif", review, VIEW))["runs"][0]


def test_sarif_tells_what_is_told_and_hides_what_was_dismissed() -> None:
    dismissed = replace(samples.REFUTED, id="F5", status=FindingStatus.DISMISSED)
    results = run(replace(samples.FULL, findings=(*samples.FULL.findings, dismissed)))["results"]
    assert [result["properties"]["id"] for result in results] == ["F1", "F2", "F3", "F5"]
    assert [result["level"] for result in results] == ["error", "none", "note", "note"]
    assert [result["kind"] for result in results] == ["fail", "review", "fail", "fail"]
    assert [result["baselineState"] for result in results] == ["new", "new", "unchanged", "new"]
    assert ["suppressions" in result for result in results] == [False, False, False, True]


def test_sarif_carries_the_fingerprint_votes_and_fix() -> None:
    result = run(samples.FULL)["results"][0]
    assert result["partialFingerprints"] == {"reviewbot/v1": samples.OFF_BY_ONE.fingerprint}
    assert result["properties"]["probability"] == 0.972
    assert result["properties"]["votes"] == {"critic": "support", "reviewer": "support", "optimizer": "support"}
    inserted = result["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"]
    assert inserted == "    for index in range(len(items)):"


def test_sarif_paths_are_relative_and_percent_encoded() -> None:
    finding = replace(samples.OFF_BY_ONE, path="a b/c#d%/caf\udce9:é.py")
    location = run(replace(samples.FULL, findings=(finding,)))["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "a%20b/c%23d%25/caf%E9%3A%C3%A9.py", "uriBaseId": "SRCROOT"}


def test_sarif_says_success_only_of_a_whole_review() -> None:
    outcomes = {
        whole: run(replace(samples.CLEAN, conclusion=whole))["invocations"][0]["executionSuccessful"] for whole in Conclusion
    }
    assert [whole for whole, successful in outcomes.items() if successful] == [Conclusion.COMPLETE]
    warnings = [note for note in run(samples.FULL)["invocations"][0]["toolExecutionNotifications"] if note["level"] == "warning"]
    unseen = [item for item in samples.FULL.coverage if item.status is not CoverageStatus.REVIEWED and not item.ignored]
    assert len(warnings) == len(unseen)


def test_sarif_says_what_is_fixed_and_links_nothing() -> None:
    finding = replace(samples.OFF_BY_ONE, lifecycle=Lifecycle.FIXED, title="[x](https://evil.example)", line=0, start_line=0)
    result = run(replace(samples.FULL, findings=(finding,)))["results"][0]
    assert result["baselineState"] == "absent"
    assert "](" not in result["message"]["text"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 1


@pytest.mark.parametrize("kind", ["sarif", "rdjson"])
@pytest.mark.parametrize("replacement", ["key = «secret:aws-access-key»", "a⟨U+202E⟩b", "a\u202eb", "x\x1b[0m"])
def test_a_screened_replacement_is_not_offered(kind: str, replacement: str) -> None:
    finding = replace(samples.OFF_BY_ONE, suggestion=Suggestion(41, 41, replacement))
    written = render(kind, replace(samples.FULL, findings=(finding,)), VIEW)
    assert '"fixes"' not in written
    assert '"suggestions"' not in written


def test_rdjson_holds_what_is_told_worst_first() -> None:
    told = json.loads(render("rdjson", samples.FULL, VIEW))["diagnostics"]
    assert [found["severity"] for found in told] == ["ERROR", "ERROR", "INFO"]
    assert told[0]["location"] == {"path": "shop/cart.py", "range": {"start": {"line": 41}, "end": {"line": 42}}}
    assert told[1]["code"] == {"value": "S602"}


def test_a_format_loads_no_library_of_another() -> None:
    program = (
        "import sys; from reviewbot.publish.formats import Rendering, render; from tests.publish.samples import FULL;"
        "render('json', FULL, Rendering()); render('sarif', FULL, Rendering()); render('rdjson', FULL, Rendering());"
        "print([name for name in ('rich', 'jinja2', 'markdown_it') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("outcome", CheckOutcome)
def test_every_outcome_of_a_check_has_words(outcome: CheckOutcome) -> None:
    words = phrases.outcome(Check((), outcome=outcome))
    assert words
    assert "_" not in words


def test_a_check_that_ran_and_decided_nothing_is_not_told_as_untested() -> None:
    def told(outcome: CheckOutcome, proof: Proof) -> tuple[str, str]:
        made = replace(samples.QUESTION, check=Check(("pytest",), outcome=outcome), proof=proof, settled_by=SettledBy.EVIDENCE)
        return phrases.proof(made), phrases.proof_word(made)

    assert told(CheckOutcome.NONE_FOUND, Proof.UNTESTED) == ("tested, not decided", "undecided")
    assert told(CheckOutcome.NOT_RUN, Proof.UNTESTED) == ("a tool's own result, see the evidence", "tool result")
    assert told(CheckOutcome.PASSES_WITH_FIX, Proof.PROVEN) == ("proven by a check", "proven")


def test_a_check_without_a_command_is_named_by_its_kind_and_subject() -> None:
    assert phrases.check(Check((), "assert 0", "t.py", kind=CheckKind.SCRIPT)) == "script t.py"
    assert phrases.check(Check(("sh", "a b.sh"))) == "sh 'a b.sh'"
