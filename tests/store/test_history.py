"""Reading the past."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.adapters.store.opening import Store
from reviewbot.errors import UsageError
from reviewbot.ports import SessionState
from tests.store.samples import FINDING, answered, plan, review, wanted

pytestmark = pytest.mark.matrix(parts=1)


def run(store: Store, name: str, *findings, **changes) -> None:
    with store.begin(plan(name, **changes)) as opened:
        opened.session.close(review(*findings), SessionState.CONVERGED)


def test_sessions_are_listed_newest_first(store: Store):
    for name in ("A", "B", "C"):
        run(store, name, project="one" if name != "C" else "two")
    assert [summary.id for summary in store.history.sessions()] == ["C", "B", "A"]
    assert [summary.id for summary in store.history.sessions(limit=2)] == ["C", "B"]
    assert [summary.id for summary in store.history.sessions("one")] == ["B", "A"]
    assert store.history.sessions("none") == ()
    assert store.history.running() == ()


def test_a_session_is_found_by_the_beginning_of_its_name(store: Store):
    for name in ("01AB", "01AC", "01A"):
        run(store, name)
    assert store.history.session("01AB").summary.id == "01AB"
    assert store.history.session("01A").summary.id == "01A", "a whole name beats a beginning"
    with pytest.raises(UsageError, match="several sessions begin with '01'"):
        store.history.session("01")
    for odd in ("zz", "%", "_"):
        with pytest.raises(UsageError, match="there is no session"):
            store.history.session(odd)


@pytest.mark.ci
def test_a_session_shows_every_call_whole(store: Store):
    with store.begin(plan("A")) as opened:
        for number in (1, 2):
            opened.calls.claim(wanted(number))
        for number in (2, 1):
            opened.calls.settle(wanted(number), answered(f"answer {number}"))
    shown = store.history.session("A")
    assert [(call.number, call.suffix, call.document) for call in shown.calls] == [
        (1, "question 2", answered("answer 2").document),
        (2, "question 1", answered("answer 1").document),
    ]
    call = shown.calls[0]
    assert (call.system, call.prefix, call.parameters) == (wanted().system, wanted().prefix, wanted().parameters)
    assert (call.usage, call.seconds, call.outcome, call.replayed) == (answered().usage, 1.5, "ok", False)
    assert shown.summary.usage.cost_usd == 0.5


def test_the_latest_finding_comes_back_with_all_that_was_said(store: Store):
    run(store, "A", replace(FINDING, title="an older one"), replace(FINDING, id="F2"))
    run(store, "B", FINDING)
    run(store, "C", replace(FINDING, title="elsewhere"), project="another")
    found = store.history.latest_finding("owner/name", "f1")
    assert found is not None
    assert found.session == "B"
    for name in ("id", "fingerprint", "path", "start_line", "line", "title", "body", "failure_scenario", "quote", "probability"):
        assert getattr(found, name) == getattr(FINDING, name)
    for name in ("stop_reason", "dissent", "rule", "raised_by", "evidence", "positions", "versions", "check"):
        assert getattr(found, name) == getattr(FINDING, name)
    assert (found.severity, found.category, found.status, found.proof) == ("high", "correctness", "accepted", "proven")
    assert found.replacement == FINDING.suggestion.replacement
    older = store.history.latest_finding("owner/name", "F2")
    assert older is not None
    assert older.session == "A"
    assert store.history.latest_finding(None, "F1").title == "elsewhere"
    assert store.history.latest_finding("owner/name", "F9") is None


def test_a_finding_may_be_bare(store: Store):
    bare = replace(FINDING, positions=(), versions=(), evidence=(), dissent=None, check=None, suggestion=None, path="\udc80\x00")
    run(store, "A", bare)
    found = store.history.latest_finding(None, "F1")
    assert (found.check, found.replacement, found.positions) == (None, None, ())
    assert found.path == "\\udc80\\u0000"


def test_a_document_is_read_by_the_beginning_of_its_sessions_name(store: Store):
    with store.begin(plan("01AB")) as opened:
        opened.session.keep("review", {"a": [1]})
    assert store.history.document("01", "review") == {"a": [1]}
    assert store.history.document("01", "other") is None
