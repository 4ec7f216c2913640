"""Gemini through the real SDK, against a fake server on loopback."""

from __future__ import annotations

import json
import warnings

import pytest

from reviewbot.adapters.panel.gemini import Gemini
from reviewbot.adapters.panel.gemini_dialect import schema_for
from reviewbot.ports import Account, Completion, Fault, Stop
from tests.fakes import Answer, Decoy, Models, Tokens, Wish, faults, queue, said, uses
from tests.fakes.faults import Canned
from tests.fakes.http import Reply
from tests.panel.probing import KEY, READ, SCHEMA, a_call, ask, cancelled, failure, never_taken, run, told, used

pytestmark = pytest.mark.matrix(parts=1)

GOOD = '{"verdict": "good", "rule": null, "check": null}'


@pytest.fixture(autouse=True)
def _an_environment_that_points_elsewhere(monkeypatch):
    """None of it may matter: an account says where to go and with which key."""
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "key-of-somebody-else")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v9")


def account(models: Models) -> Account:
    return Account("gemini", models.url, KEY)


def refused(status: int, body: object) -> Canned:
    return Canned("refused", Reply(status, (json.dumps(body).encode(),)))


def one(script: object, **changes) -> Completion:
    with Models(script=queue([script])) as models:
        (answer,) = ask(Gemini, account(models), a_call(model="gemini-fake-1", **changes))
    return answer


def test_a_call_carries_system_both_parts_of_the_turn_and_the_schema():
    with Models(script=said(GOOD)) as models:
        (answer,) = ask(Gemini, account(models), a_call(model="gemini-fake-1"))
        (seen,) = models.calls
        assert models.keys == [("x-goog-api-key", KEY)]
    assert (answer.stop, answer.text, answer.request_id) == (Stop.END, GOOD, "resp000001")
    assert seen.path == "/v1beta/models/gemini-fake-1:generateContent"
    assert seen.system == "You review code."
    assert seen.parts == ("the shared part\n", "the question")
    assert seen.max_output == 500
    assert seen.schema == schema_for(SCHEMA)
    assert seen.body["generationConfig"]["responseMimeType"] == "application/json"


def test_tokens_are_counted_with_what_was_cached_and_thought():
    answer = Answer(GOOD, usage=Tokens(input=900, cached=700, output=60), thinking="hm, " * 20)
    tokens = one(answer).tokens
    assert (tokens.input, tokens.cached, tokens.output, tokens.known) == (900, 700, 60, True)


def test_thoughts_are_no_part_of_the_text():
    assert one(Answer(GOOD, thinking="hm")).text == GOOD


def test_a_text_in_several_parts_is_one_text():
    assert one(faults.content_parts()).stop is Stop.END


def test_missing_counts_are_said_to_be_missing():
    assert not one(faults.no_usage()).tokens.known


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("STOP", Stop.END),
        ("MAX_TOKENS", Stop.LENGTH),
        ("CONTINUATION", Stop.LENGTH),
        *(
            (word, Stop.REFUSED)
            for word in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "ESCALATION")
        ),
        *(
            (word, Stop.OTHER)
            for word in ("LANGUAGE", "OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS")
        ),
        ("FINISH_REASON_UNSPECIFIED", Stop.OTHER),
        ("A_WORD_OF_NEXT_YEAR", Stop.OTHER),
    ],
)
def test_only_stop_is_an_end(finish, stop):
    answer = one(faults.L13(finish, text=GOOD))
    assert answer.stop is stop
    assert (answer.reason == "") is (stop is Stop.END)
    assert finish in answer.reason or stop is Stop.END


@pytest.mark.parametrize("block", ["SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "MODEL_ARMOR", "JAILBREAK", "NEW_ONE"])
def test_a_blocked_prompt_is_a_refusal_that_was_paid_for(block):
    answer = one(faults.L13(block=block))
    assert answer.stop is Stop.REFUSED
    assert block in answer.reason
    assert answer.tokens.known


@pytest.mark.parametrize("text", ["", "not json at all", '{"verdict": "go'])
def test_a_text_that_is_no_answer_is_for_the_reader_to_judge(text):
    answer = one(Answer(text))
    assert (answer.stop, answer.text) == (Stop.END, text)


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (faults.L12("object"), Fault.OVERLOADED),
        (faults.L12("list"), Fault.OVERLOADED),
        (faults.L12("nested"), Fault.OVERLOADED),
        (faults.L12("quota_minute"), Fault.RATE_LIMITED),
        (faults.L12("quota_day"), Fault.SPENT),
        (faults.L4("denied"), Fault.DENIED),
        (faults.L4("forbidden"), Fault.DENIED),
        (faults.L4("spend_400"), Fault.DENIED),
        (faults.L4("no_model"), Fault.NO_MODEL),
        (faults.L4("too_large"), Fault.TOO_LONG),
        (faults.L4("server"), Fault.SERVER),
        (faults.L4("gateway"), Fault.SERVER),
        (faults.L4("bad_request"), Fault.INVALID),
        (faults.L7(), Fault.TOO_LONG),
        (faults.empty_choices(), Fault.UNREADABLE),
        (faults.html_page(), Fault.UNREADABLE),
        (faults.html_page(502), Fault.SERVER),
        (faults.not_json(), Fault.UNREADABLE),
        (faults.empty_body(), Fault.UNREADABLE),
        (faults.deep(), Fault.UNREADABLE),
        (faults.gzip_bomb(), Fault.UNREADABLE),
        (faults.huge(), Fault.UNREADABLE),
        (faults.connection_reset(), Fault.NETWORK),
        (faults.content_length_lie(20), Fault.NETWORK),
        (faults.content_length_lie(-20), Fault.UNREADABLE),
        (refused(200, {"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}}), Fault.SERVER),
        (refused(200, [1]), Fault.UNREADABLE),
        (Canned("deep", Reply(500, (b"[" * 100_000,))), Fault.UNREADABLE),
        (refused(400, []), Fault.INVALID),
        (refused(400, "text"), Fault.INVALID),
        (refused(500, {"error": "text"}), Fault.SERVER),
        (refused(503, [[{"error": {"message": 7}}]]), Fault.OVERLOADED),
        (refused(429, {"error": {"message": "Quota exceeded for metric: free_tier_requests, limit: 0"}}), Fault.SPENT),
        (
            refused(429, {"error": {"message": "You exceeded your current quota, please check your plan and billing details."}}),
            Fault.RATE_LIMITED,
        ),
    ],
)
def test_every_failure_has_its_fault(script, fault):
    with Models(script=queue([script])) as models:
        error = failure(Gemini, account(models), a_call())
        assert len(models.calls) == 1, "retries are somebody else's business"
    assert error.fault is fault


def test_where_nobody_listens_it_is_the_network():
    with Models() as models, models.refuse():
        assert failure(Gemini, account(models), a_call()).fault is Fault.NETWORK


def test_a_spent_day_has_no_delay():
    with Models(script=queue([faults.L12("quota_day")])) as models:
        assert failure(Gemini, account(models), a_call()).retry_after is None


def test_the_delay_of_a_quota_of_a_minute_arrives():
    with Models(script=queue([faults.L12("quota_minute")])) as models:
        assert failure(Gemini, account(models), a_call()).retry_after == 7


def test_an_error_that_is_text_within_text_is_read_to_its_end():
    with Models(script=queue([faults.L12("nested")])) as models:
        message = failure(Gemini, account(models), a_call()).message
    assert "The model is overloaded" in message
    assert "{" not in message


def test_a_model_that_refuses_the_schema_is_asked_without_from_then_on():
    script = queue(
        [refused(400, {"error": {"message": "The specified schema produces a constraint that has too many states"}}), GOOD]
    )
    with Models(script=script) as models:
        ask(Gemini, account(models), a_call(), a_call())
        first, *later = models.calls
    assert first.schema is not None
    assert [seen.schema for seen in later] == [None, None]
    assert all(seen.body["generationConfig"]["responseMimeType"] == "application/json" for seen in later)


def test_tools_come_without_schema_and_the_models_own_turn_goes_back_unchanged():
    wishes = [Answer(tool_calls=(Wish("read", {"path": "a.py"}),), thinking="why not"), GOOD]
    with Models(script=queue(wishes)) as models:
        (first,) = ask(Gemini, account(models), a_call(tools=(READ,)))
        (made,) = first.tool_calls
        assert (first.stop, made.name, json.loads(made.arguments)) == (Stop.TOOLS, "read", {"path": "a.py"})
        exchange = used(made.id, opaque=first.opaque)
        (second,) = ask(Gemini, account(models), a_call(tools=(READ,), exchanges=(exchange,)))
        asked, again = models.calls
    assert second.stop is Stop.END
    assert asked.tools == {"read": dict(READ.parameters)}
    assert asked.schema is None
    assert "responseMimeType" not in asked.body["generationConfig"]
    question, own, results = again.body["contents"]
    assert question["parts"] == [{"text": "the shared part\n"}, {"text": "the question"}]
    assert own == json.loads(first.opaque)["content"]
    assert own["parts"][1]["thoughtSignature"] == "c2lnbmF0dXJl"
    response = {"functionResponse": {"name": "read", "id": made.id, "response": {"output": "1 | x"}}}
    assert results == {"role": "user", "parts": [response]}


def test_signatures_and_fields_that_the_sdk_does_not_know_survive_a_turn():
    content = {
        "role": "model",
        "parts": [{"functionCall": {"name": "read", "args": {}}, "thoughtSignature": "//79/w==", "news": 1}],
    }
    answer = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    with Models(script=queue([refused(200, answer), GOOD])) as models:
        (first,) = ask(Gemini, account(models), a_call(tools=(READ,)))
        assert [made.id for made in first.tool_calls] == ["call_0_0"]
        ask(Gemini, account(models), a_call(tools=(READ,), exchanges=(used("call_0_0", opaque=first.opaque),)))
        _question, own, results = models.calls[1].body["contents"]
    assert own == content
    assert "id" not in results["parts"][0]["functionResponse"], "an id of our making means nothing to Gemini"


def test_the_models_turn_is_rebuilt_and_a_failed_tool_says_error():
    with Models(script=said(GOOD)) as models:
        ask(Gemini, account(models), a_call(exchanges=(used("call_0_0", error=True),)))
        (step,) = models.calls[0].exchanges
    assert step.calls == (Wish("read", {"path": "a.py"}),)
    assert step.results[0][2]


@pytest.mark.parametrize(
    "script", [faults.hang(), faults.hang("headers"), faults.hang(40), faults.trickle(), faults.endless_chunks(16, 0.01)]
)
def test_no_answer_takes_longer_than_its_time(script):
    with Models(script=queue([script])) as models:
        assert failure(Gemini, account(models), a_call(timeout_seconds=0.3)).fault is Fault.TIMEOUT


@pytest.mark.parametrize("way", [faults.truncated, faults.truncated_chunked, faults.truncated_unframed])
def test_an_answer_cut_at_any_byte_is_never_taken(way):
    good = Answer(GOOD, usage=Tokens(30, 0, 12))
    with Models(script=queue([good])) as models:
        ask(Gemini, account(models), a_call())
        length = models.calls[0].reply_bytes

        def spoil(at: int) -> None:
            models.script = queue([way(at, of=good)])

        found = never_taken(Gemini, account(models), length, spoil)
    assert length > 200
    assert set(found) <= {Fault.NETWORK, Fault.UNREADABLE}


def test_a_redirect_is_not_followed_and_takes_no_key_along():
    with Decoy() as decoy, Models(script=queue([faults.redirect(307, decoy.url)])) as models:
        error = failure(Gemini, account(models), a_call())
        assert not decoy.requests
    assert error.fault is Fault.UNREADABLE


def test_a_server_that_repeats_the_key_does_not_get_it_into_the_message():
    with Models(
        script=queue([refused(500, {"error": {"code": 500, "message": f"bad key {KEY}\nnext", "status": KEY}})])
    ) as models:
        error = failure(Gemini, account(models), a_call())
    assert "bad key" in error.message
    assert KEY not in "".join(told(error))


def test_a_cancelled_call_leaves_at_once():
    with Models(script=queue([faults.hang()])) as models:
        assert cancelled(Gemini, account(models), lambda: models.wait_for(1)) < 5
        models.wait_idle()
        assert models.calls[0].outcome == "left"


def test_the_models_of_the_account_are_listed():
    async def listed(models: Models) -> tuple[str, ...]:
        provider = Gemini(account(models))
        try:
            return await provider.models()
        finally:
            await provider.close()

    with Models(names=("gemini-b", "gemini-a")) as models:
        assert run(listed(models)) == ("gemini-a", "gemini-b")


def test_a_provider_is_made_and_closed_without_a_request():
    async def made(models: Models) -> None:
        await Gemini(account(models)).close()

    with Models() as models, warnings.catch_warnings():
        warnings.simplefilter("error")
        run(made(models))
        assert not models.requests


def test_tools_are_used_step_by_step():
    with Models(script=uses([[Wish("read", {"path": "a"})]], then=said(GOOD))) as models:
        (first,) = ask(Gemini, account(models), a_call(tools=(READ,)))
        exchange = used(first.tool_calls[0].id, opaque=first.opaque)
        (last,) = ask(Gemini, account(models), a_call(exchanges=(exchange,)))
        assert models.calls[1].schema is not None
    assert last.text == GOOD
