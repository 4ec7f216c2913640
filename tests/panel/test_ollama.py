"""Ollama's own API, against a fake server on loopback."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.panel.ollama import Ollama
from reviewbot.adapters.panel.ollama_dialect import check_whole, refusal
from reviewbot.adapters.panel.ollama_host import address
from reviewbot.errors import ConfigError
from reviewbot.ports import Account, Fault, ProviderError, Stop
from tests.fakes import Answer, Decoy, Models, Speed, Tokens, Wish, faults, queue, said, uses
from tests.fakes.faults import Canned
from tests.fakes.http import Reply
from tests.panel.probing import KEY, READ, SCHEMA, a_call, ask, cancelled, failure, never_taken, run, told, used
from tests.rings import examples

pytestmark = pytest.mark.matrix(parts=1)

GOOD = '{"verdict": "good", "rule": null, "check": null}'


def account(models: Models, **changes) -> Account:
    return Account("ollama", models.url, **changes)


def refused(status: int, error: object) -> Canned:
    return Canned("refused", Reply(status, (json.dumps({"error": error}).encode(),)))


def unfinished() -> Canned:
    body = {"message": {"role": "assistant", "content": GOOD}, "done": False}
    return Canned("unfinished", Reply(200, (json.dumps(body).encode(),)))


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  'box' ", "http://box:11434"),
        ("box:8080", "http://box:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:11435", "http://127.0.0.1:11435"),
        ("[::]:11435", "http://[::1]:11435"),
        ("::1", "http://[::1]:11434"),
        ("http://box", "http://box:80"),
        ("https://box.example/ollama/", "https://box.example:443/ollama"),
        ("HTTPS://box.example:8443", "https://box.example:8443"),
    ],
)
def test_ollama_host_is_understood_as_ollama_does(host, origin):
    assert address(host) == origin


@pytest.mark.parametrize(
    "host",
    [
        "ftp://box",
        "box:port",
        "http://user:secret-word@box",
        "http://:secret-word@box",
        "secret-word@box:99999",
        "box:99999",
        "http://box?x=1",
    ],
)
def test_what_is_no_address_is_an_error_with_advice(host):
    with pytest.raises(ConfigError) as caught:
        address(host)
    assert "http://HOST:PORT" in str(caught.value)
    assert "secret-word" not in "".join(told(caught.value))


@settings(max_examples=examples(200), derandomize=True)
@given(st.text(max_size=30))
def test_any_text_is_an_address_or_an_error_and_an_address_is_stable(text):
    try:
        found = address(text)
    except ConfigError:
        return
    assert found.startswith(("http://", "https://"))
    assert address(found) == found


def test_a_call_carries_schema_options_and_one_user_turn():
    with Models(script=said(GOOD)) as models:
        (answer,) = ask(Ollama, account(models), a_call())
        (seen,) = models.calls
    assert (answer.stop, answer.text) == (Stop.END, GOOD)
    assert seen.schema == SCHEMA
    assert seen.system == "You review code."
    assert seen.parts == ("the shared part\nthe question",)
    body = dict(seen.body)
    assert body["stream"] is False
    assert body["keep_alive"] == "10m"
    assert body["truncate"] is False
    assert body["shift"] is False
    assert body["options"] == {"num_ctx": 1024, "num_predict": 500, "temperature": 0, "seed": 0}
    assert "think" not in body


def test_half_a_surrogate_pair_in_a_prompt_is_sent():
    with Models(script=said(GOOD)) as models:
        ask(Ollama, account(models), a_call(prefix="name\udc80.py"))
        assert models.calls[0].parts[0].startswith("name?.py")


def test_low_effort_asks_a_thinking_model_not_to_think():
    with Models(script=said(GOOD)) as models:
        ask(Ollama, account(models), a_call(effort="low"))
        assert models.calls[0].body["think"] is False


def test_the_window_grows_in_steps_and_never_shrinks():
    with Models(script=said(GOOD)) as models:
        sizes = [100, 5_000, 5_500, 200, 40_000, 41_000]
        ask(Ollama, account(models), *(a_call(prefix="word " * (size // 5)) for size in sizes))
        windows = [seen.body["options"]["num_ctx"] for seen in models.calls]
    assert all(window % 1024 == 0 for window in windows)
    assert windows == sorted(windows)
    assert windows[3] == windows[2], "a small prompt after a large one loads nothing again"
    assert windows[4] >= 40_000 / 3.2 + 500
    assert len(set(windows)) == 3


def test_the_window_stays_below_what_the_model_takes():
    with Models(script=said(GOOD)) as models:
        ask(Ollama, account(models), a_call(prefix="word " * 2_000, context_window=3_500))
        assert models.calls[0].body["options"]["num_ctx"] == 3_500


def test_what_cannot_fit_at_all_is_not_even_asked():
    with Models(script=said(GOOD)) as models:
        error = failure(Ollama, account(models), a_call(prefix="word " * 20_000, context_window=4_096))
        assert not models.calls
    assert error.fault is Fault.TOO_LONG


def test_the_servers_clock_is_kept_in_seconds():
    speed = Speed(prompt=400, output=50, load=0.5, scale=0.01)
    answer = Answer(GOOD, usage=Tokens(input=200, output=20))
    with Models(script=queue([answer]), speed=speed) as models:
        (got,) = ask(Ollama, account(models), a_call())
    assert got.tokens.input == 200
    assert got.tokens.output == 20
    assert got.tokens.known
    assert got.timings is not None
    assert got.timings.load_seconds == pytest.approx(0.5)
    assert got.timings.prompt_seconds == pytest.approx(0.5)
    assert got.timings.output_seconds == pytest.approx(0.4)
    assert (got.timings.prompt_tokens, got.timings.output_tokens) == (200, 20)


def test_missing_counters_are_said_to_be_missing():
    with Models(script=queue([faults.no_usage()])) as models:
        (got,) = ask(Ollama, account(models), a_call())
    assert not got.tokens.known
    assert got.timings is not None
    assert got.timings.prompt_tokens == 0


@pytest.mark.parametrize(
    ("done_reason", "stop"), [("stop", Stop.END), ("length", Stop.LENGTH), ("load", Stop.OTHER), ("unload", Stop.OTHER)]
)
def test_only_a_stop_is_an_end(done_reason, stop):
    with Models(script=queue([Answer(GOOD, stop=done_reason)])) as models:
        (got,) = ask(Ollama, account(models), a_call())
    assert got.stop is stop
    assert (got.reason == "") is (stop is Stop.END)


def test_an_answer_without_content_is_an_empty_text():
    with Models(script=queue([faults.null_content()])) as models:
        (got,) = ask(Ollama, account(models), a_call())
    assert (got.stop, got.text) == (Stop.END, "")


def test_tools_are_wished_by_name_and_come_back_with_the_models_own_turn():
    wishes = uses([[Wish("read", {"path": "a.py"}), Wish("read", {"path": "b.py"})]], then=said(GOOD))
    with Models(script=wishes) as models:
        (first,) = ask(Ollama, account(models), a_call(tools=(READ,)))
        assert first.stop is Stop.TOOLS
        assert [made.id for made in first.tool_calls] == ["call_0_0", "call_0_1"]
        assert json.loads(first.tool_calls[1].arguments) == {"path": "b.py"}
        exchange = used("call_0_0", opaque=first.opaque)
        (second,) = ask(Ollama, account(models), a_call(tools=(READ,), exchanges=(exchange,)))
        asked, again = models.calls
    assert second.stop is Stop.END
    assert asked.schema is None, "a grammar would keep the model from using tools"
    assert asked.tools == {"read": dict(READ.parameters)}
    _system, _user, own, result = again.body["messages"]
    assert own == json.loads(first.opaque)
    assert result == {"role": "tool", "tool_name": "read", "tool_call_id": "call_0_0", "content": "1 | x"}


def test_the_models_turn_is_rebuilt_where_no_record_of_it_is_kept():
    with Models(script=said(GOOD)) as models:
        ask(Ollama, account(models), a_call(exchanges=(used("call_0_0"),)))
        (seen,) = models.calls
    assert seen.exchanges[0].calls[0] == Wish("read", {"path": "a.py"})
    assert seen.schema == SCHEMA


def test_a_model_that_cannot_use_tools_is_asked_without_from_then_on():
    no_tools = refused(400, "registry.ollama.ai/library/fake:1b does not support tools")
    with Models(script=queue([no_tools, GOOD])) as models:
        answers = ask(Ollama, account(models), a_call(tools=(READ,)), a_call(tools=(READ,)))
        first, *later = models.calls
    assert [answer.stop for answer in answers] == [Stop.END, Stop.END]
    assert first.tools
    assert [(seen.tools, seen.schema) for seen in later] == [({}, SCHEMA)] * 2


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        (faults.L1(), Fault.OVERLOADED),
        (faults.L2(retry_after=7), Fault.RATE_LIMITED),
        (faults.L3(), Fault.SPENT),
        (faults.L4("denied"), Fault.DENIED),
        (faults.L4("forbidden"), Fault.DENIED),
        (faults.L4("billing"), Fault.SPENT),
        (faults.L4("no_model"), Fault.NO_MODEL),
        (faults.L4("too_large"), Fault.TOO_LONG),
        (faults.L4("server"), Fault.SERVER),
        (faults.L4("gateway"), Fault.SERVER),
        (faults.L4("bad_request"), Fault.INVALID),
        (faults.L7(), Fault.TOO_LONG),
        (faults.html_page(), Fault.UNREADABLE),
        (faults.html_page(502), Fault.SERVER),
        (faults.not_json(), Fault.UNREADABLE),
        (faults.deep(), Fault.UNREADABLE),
        (faults.empty_body(), Fault.UNREADABLE),
        (faults.empty_choices(), Fault.UNREADABLE),
        (refused(200, None), Fault.SERVER),
        (unfinished(), Fault.NETWORK),
        (faults.gzip_bomb(), Fault.UNREADABLE),
        (faults.huge(), Fault.UNREADABLE),
        (faults.connection_reset(), Fault.NETWORK),
        (faults.content_length_lie(20), Fault.NETWORK),
        (faults.content_length_lie(-20), Fault.UNREADABLE),
        (faults.error_in_200(), Fault.SERVER),
        (refused(200, "model runner stopped"), Fault.SERVER),
        (refused(500, "model requires more system memory (40 GiB) than is available (8 GiB)"), Fault.NO_MODEL),
        (refused(400, json.dumps({"error": {"code": 400, "type": "exceed_context_size_error", "n_ctx": 512}})), Fault.TOO_LONG),
    ],
)
def test_every_failure_has_its_fault(script, fault):
    with Models(script=queue([script])) as models:
        error = failure(Ollama, account(models), a_call())
    assert error.fault is fault


def test_a_server_that_is_busy_says_when_to_come_back():
    with Models(script=queue([faults.L2(retry_after=7)])) as models:
        assert failure(Ollama, account(models), a_call()).retry_after == 7


def test_a_missing_model_comes_with_the_command_that_fetches_it():
    with Models(script=queue([faults.L4("no_model")])) as models:
        assert "ollama pull fake:1b" in failure(Ollama, account(models), a_call()).message


def test_another_server_at_the_address_is_not_taken_for_a_missing_model():
    assert refusal(404, "404 page not found", "fake:1b").fault is Fault.INVALID


def test_where_nobody_listens_the_message_names_the_variable():
    with Models() as models, models.refuse():
        error = failure(Ollama, account(models), a_call())
    assert error.fault is Fault.NETWORK
    assert "OLLAMA_HOST" in error.message


@pytest.mark.parametrize(
    "script", [faults.hang(), faults.hang("headers"), faults.hang(40), faults.trickle(), faults.endless_chunks(16, 0.01)]
)
def test_no_answer_takes_longer_than_its_time(script):
    with Models(script=queue([script])) as models:
        error = failure(Ollama, account(models), a_call(timeout_seconds=0.3))
    assert error.fault is Fault.TIMEOUT


@pytest.mark.parametrize("way", [faults.truncated, faults.truncated_chunked, faults.truncated_unframed])
def test_an_answer_cut_at_any_byte_is_never_taken(way):
    good = Answer(GOOD, usage=Tokens(30, 0, 12))
    with Models(script=queue([good])) as models:
        ask(Ollama, account(models), a_call())
        length = models.calls[0].reply_bytes

        def spoil(at: int) -> None:
            models.script = queue([way(at, of=good)])

        found = never_taken(Ollama, account(models), length, spoil)
        assert len(models.calls) == length + 1
    assert length > 200
    assert set(found) <= {Fault.NETWORK, Fault.UNREADABLE}


def test_a_proxy_that_ends_a_cut_answer_in_good_order_is_not_believed():
    good = Answer(GOOD)
    with Models(script=said(GOOD)) as models:

        def spoil(at: int) -> None:
            models.script = queue([faults.truncated_chunked(at, of=good, ended=True)])

        assert set(never_taken(Ollama, account(models), 150, spoil)) <= {Fault.UNREADABLE, Fault.NETWORK}


def test_a_redirect_is_not_followed_and_takes_no_key_along():
    with Decoy() as decoy, Models(script=queue([faults.redirect(307, decoy.url)])) as models:
        error = failure(Ollama, account(models, key=KEY), a_call())
        assert not decoy.requests
        assert [value for _name, value in models.keys] == [f"Bearer {KEY}"]
    assert error.fault is Fault.UNREADABLE


def test_a_server_that_repeats_the_key_does_not_get_it_into_the_message():
    with Models(script=queue([refused(500, f"bad key {KEY}\nnext line")])) as models:
        assert "bad key" in failure(Ollama, account(models, key=KEY), a_call()).message


def test_a_cancelled_call_leaves_at_once():
    with Models(script=queue([faults.hang()])) as models:
        assert cancelled(Ollama, account(models), lambda: models.wait_for(1)) < 5
        models.wait_idle()
        assert models.calls[0].outcome == "left"


def test_the_models_of_the_server_are_listed():
    async def listed(models: Models) -> tuple[str, ...]:
        provider = Ollama(account(models))
        try:
            return await provider.models()
        finally:
            await provider.close()

    with Models(names=("qwen3:8b", "gemma3:4b")) as models:
        assert run(listed(models)) == ("gemma3:4b", "qwen3:8b")


def test_a_prompt_that_an_old_server_cut_to_its_window_is_too_long():
    # The fake cuts as Ollama 0.12.5 does: to num_ctx, without a word.
    with Models(script=queue([Answer(GOOD, usage=Tokens(input=5_000, output=10))])) as models:
        error = failure(Ollama, account(models), a_call(prefix="word " * 600, context_window=2_048))
    assert error.fault is Fault.TOO_LONG


@pytest.mark.parametrize(
    ("size", "read", "written", "reason", "cached", "whole"),
    [
        (1_600, 512, 11, "stop", False, False),  # 0.12.5: cut to exactly num_ctx
        (1_600, 512, 0, "length", True, False),
        (1_600, 496, 30, "stop", False, False),  # 0.12.6 without shift: the prompt's beginning was pushed out
        (10_000, 61, 451, "length", False, False),  # the window is full, but of 10,000 bytes only 61 tokens were read
        (10_000, 300, 20, "stop", False, False),  # far less than any tokenizer makes of 10,000 bytes
        (10_000, 300, 20, "stop", True, True),
        (10_000, 0, 20, "stop", False, True),  # not said
        (3_000, 300, 20, "stop", False, True),  # too little to judge by
    ],
)
def test_the_counters_give_a_cut_prompt_away(size, read, written, reason, cached, whole):
    answer = {"prompt_eval_count": read, "eval_count": written, "done_reason": reason}
    with nullcontext() if whole else pytest.raises(ProviderError, match="cut the prompt"):
        check_whole(answer, 512, size, cached=cached)


def test_a_window_filled_by_the_answer_is_only_too_short_an_answer():
    check_whole({"prompt_eval_count": 400, "eval_count": 112, "done_reason": "length"}, 512, 1_600, cached=False)


def test_a_prefix_that_was_read_before_may_count_little():
    script = queue([Answer(GOOD, usage=Tokens(2_000, 0, 10)), Answer(GOOD, usage=Tokens(20, 0, 10))])
    with Models(script=script) as models:
        first, second = ask(Ollama, account(models), *[a_call(prefix="word " * 2_000)] * 2)
    assert (first.tokens.input, second.tokens.input) == (2_000, 20)
