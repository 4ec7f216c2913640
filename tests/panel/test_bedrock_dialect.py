"""What is asked of which model on Bedrock, and what is left out where one complains."""

from __future__ import annotations

import json

import botocore.session
import pytest
from botocore.validate import ParamValidator
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.panel.bedrock import Bedrock
from reviewbot.adapters.panel.bedrock_dialect import Feature, completion, fault_of, leave_out, request
from reviewbot.adapters.panel.schema_dialects import plain
from reviewbot.ports import Fault, Stop
from tests.fakes import Answer, Models, Wish, queue, said
from tests.fakes.faults import Canned
from tests.fakes.http import Reply
from tests.panel.aws import GOOD, LLAMA, account, claude, complains, forget_aws
from tests.panel.probing import READ, SCHEMA, a_call, ask, used
from tests.rings import examples

pytestmark = pytest.mark.matrix(parts=1)


@pytest.fixture(scope="module")
def converse():
    """What boto3 checks arguments against."""
    return botocore.session.Session().get_service_model("bedrock-runtime").operation_model("Converse").input_shape


@pytest.fixture(autouse=True)
def _nobodys_aws(monkeypatch, tmp_path):
    forget_aws(monkeypatch, tmp_path)


def test_a_model_that_knows_no_cache_points_gets_none():
    assert "cachePoint" not in str(request(a_call(model=LLAMA), frozenset()))
    assert "cachePoint" in str(request(a_call(model="eu.amazon.nova-pro-v1:0"), frozenset()))


@pytest.mark.parametrize(
    ("words", "feature"),
    [
        ("The model does not support cachePoint.", Feature.CACHE),
        ("You invoked an unsupported model or your request did not allow prompt caching.", Feature.CACHE),
        ("output_config.effort: this model does not support the effort parameter", Feature.EFFORT),
        ("outputConfig.textFormat is not supported by this model", Feature.SCHEMA),
        ("#/additionalModelRequestFields: extraneous key [output_config] is not permitted", Feature.SCHEMA),
        ("Malformed input request, please reformat your input and try again.", Feature.SCHEMA),
        ("This model doesn't support system messages.", Feature.SYSTEM),
    ],
)
def test_what_a_model_complains_about_is_left_out_from_then_on(words, feature):
    with Models(script=queue([complains(words), GOOD])) as models:
        ask(Bedrock, account(models), claude(), claude())
        bodies = [seen.body for seen in models.calls]
    assert len(bodies) == 3
    marks = {
        Feature.CACHE: "cachePoint",
        Feature.EFFORT: "effort",
        Feature.SCHEMA: "outputConfig.textFormat",
        Feature.SYSTEM: "system",
    }

    def holds(body: object) -> bool:
        text = json.dumps(body)
        return "textFormat" in text if feature is Feature.SCHEMA else f'"{marks[feature]}"' in text

    assert [holds(body) for body in bodies] == [True, False, False]


def test_without_a_schema_mode_the_answer_is_a_forced_tool_and_then_only_words():
    script = queue(
        [
            complains("outputConfig.textFormat is not supported"),
            GOOD,
            complains("The toolConfig.toolChoice.tool field is not supported by this model"),
            GOOD,
        ]
    )
    with Models(script=script) as models:
        (answer,) = ask(Bedrock, account(models), a_call(model=LLAMA))
        assert (answer.stop, json.loads(answer.text), answer.tool_calls) == (Stop.END, json.loads(GOOD), ())
        assert models.calls[1].body["toolConfig"]["toolChoice"] == {"tool": {"name": "answer"}}
        assert models.calls[1].schema == plain(SCHEMA)
        models.script = queue(
            [complains("outputConfig.textFormat is not supported"), complains("no toolChoice here, not supported"), GOOD]
        )
        (answer,) = ask(Bedrock, account(models), a_call(model=LLAMA))
        assert (answer.stop, answer.text) == (Stop.END, GOOD)
        assert "toolConfig" not in models.calls[-1].body
        assert "outputConfig" not in models.calls[-1].body


def test_where_there_is_no_system_role_its_words_open_the_turn():
    body = request(a_call(model=LLAMA), frozenset({Feature.SYSTEM}))
    assert "system" not in body
    assert body["messages"][0]["content"][0]["text"] == "You review code.\n\nthe shared part\n"


def test_a_mistake_that_nothing_can_be_left_out_for_is_a_fault():
    body = request(claude(), frozenset(Feature))
    assert leave_out("Malformed input request, please reformat your input", body) is None
    body = request(claude(), frozenset())
    assert leave_out("Invocation with on-demand throughput isn't supported. Use an inference profile.", body) is None


def test_tools_are_wished_and_the_models_own_turn_goes_back_unchanged():
    wish = Answer(tool_calls=(Wish("read", {"path": "a.py"}),), thinking="why not")
    with Models(script=queue([wish, GOOD])) as models:
        (first,) = ask(Bedrock, account(models), claude(tools=(READ,)))
        (made,) = first.tool_calls
        assert (first.stop, made.name, json.loads(made.arguments)) == (Stop.TOOLS, "read", {"path": "a.py"})
        (second,) = ask(
            Bedrock, account(models), claude(tools=(READ,), exchanges=(used(made.id, opaque=first.opaque, error=True),))
        )
        asked, again = models.calls
    assert second.stop is Stop.END
    assert asked.tools == {"read": dict(READ.parameters)}
    assert asked.schema is None
    _question, own, results = again.body["messages"]
    assert own["content"][0] == {"reasoningContent": {"reasoningText": {"text": "why not", "signature": "sig1=="}}}
    assert own["content"][1]["toolUse"] == {"toolUseId": made.id, "name": "read", "input": {"path": "a.py"}}
    assert results["content"] == [{"toolResult": {"toolUseId": made.id, "content": [{"text": "1 | x"}], "status": "error"}}]


def test_encrypted_thoughts_survive_a_turn():
    content = [
        {"reasoningContent": {"redactedContent": "/+8="}},
        {"toolUse": {"toolUseId": "t1", "name": "read", "input": {}}},
        {"novelty": {"x": 1}},
    ]
    answer = {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"}
    with Models(script=queue([Canned("own", Reply(200, (json.dumps(answer).encode(),))), GOOD])) as models:
        (first,) = ask(Bedrock, account(models), claude(tools=(READ,)))
        ask(Bedrock, account(models), claude(tools=(READ,), exchanges=(used("t1", opaque=first.opaque),)))
        assert models.calls[1].body["messages"][1]["content"] == content[:2]


def test_after_tools_the_last_question_still_names_them():
    with Models(script=said(GOOD)) as models:
        (answer,) = ask(Bedrock, account(models), claude(exchanges=(used("t1"),)))
        (seen,) = models.calls
    assert answer.text == GOOD
    assert [tool["toolSpec"]["name"] for tool in seen.body["toolConfig"]["tools"]] == ["read"]
    assert seen.exchanges[0].calls == (Wish("read", {"path": "a.py"}, "t1"),)


@settings(max_examples=examples(200), derandomize=True)
@given(st.text(max_size=40), st.sampled_from([400, 403, 404, 408, 424, 429, 500, 503, 0]), st.text(max_size=40))
def test_any_error_has_a_fault(code, status, words):
    assert isinstance(fault_of(code, status, words), Fault)
    leave_out(words, request(claude(), frozenset()))


@settings(max_examples=examples(200), derandomize=True)
@given(without=st.sets(st.sampled_from(list(Feature))), tools=st.booleans(), exchanged=st.booleans())
def test_whatever_is_left_out_boto3_accepts_the_rest(converse, without, tools, exchanged):
    body = request(claude(tools=(READ,) if tools else (), exchanges=(used("t1"),) if exchanged else ()), without)
    assert not ParamValidator().validate(body, converse).has_errors()
    assert body["messages"][0]["content"]
    assert not exchanged or "toolConfig" in body
    assert Feature.CACHE not in without or "cachePoint" not in str(body)


@settings(max_examples=examples(100), derandomize=True)
@given(st.text(max_size=50), st.sampled_from(["end_turn", "tool_use", "max_tokens", ""]), st.booleans())
def test_an_answer_is_an_end_only_by_its_stop_reason(text, reason, forced):
    answer = {"output": {"message": {"role": "assistant", "content": [{"text": text}]}}, "stopReason": reason}
    assert (completion(answer, forced=forced).stop is Stop.END) is (reason == "end_turn")
