"""Bedrock through the real boto3, against a fake server on loopback."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import threading
from urllib.parse import quote

import pytest

from reviewbot.adapters.panel.bedrock import Bedrock
from reviewbot.adapters.panel.schema_dialects import plain
from reviewbot.errors import ConfigError
from reviewbot.ports import Account, Completion, Fault, Stop
from tests.fakes import Answer, Decoy, Models, Tokens, faults, queue, said
from tests.fakes.faults import Canned
from tests.fakes.http import Reply, Request
from tests.fakes.server import Server
from tests.fakes.transport import Line
from tests.panel.aws import CLAUDE, GOOD, LLAMA, SECRET, SIGNED, account, claude, complains, forget_aws, refused, with_token
from tests.panel.probing import KEY, SCHEMA, a_call, ask, cancelled, failure, never_taken, run

pytestmark = pytest.mark.matrix(parts=1)


@pytest.fixture(autouse=True)
def _nobodys_aws(monkeypatch, tmp_path):
    forget_aws(monkeypatch, tmp_path)


def one(script: object, **changes) -> Completion:
    with Models(script=queue([script])) as models:
        (answer,) = ask(Bedrock, account(models), claude(**changes))
    return answer


def test_a_call_carries_system_cached_prefix_and_schema_and_is_signed():
    with Models(script=said(GOOD)) as models:
        (answer,) = ask(Bedrock, account(models), claude())
        (seen,) = models.calls
    assert (answer.stop, answer.text, answer.request_id) == (Stop.END, GOOD, "req-000001")
    assert seen.system == "You review code."
    assert seen.body["messages"] == [
        {
            "role": "user",
            "content": [{"text": "the shared part\n"}, {"cachePoint": {"type": "default"}}, {"text": "the question"}],
        }
    ]
    assert seen.schema == plain(SCHEMA)
    assert seen.max_output == 500
    assert seen.body["outputConfig"]["effort"] == "medium"
    authorization = seen.headers["authorization"]
    assert authorization.startswith("AWS4-HMAC-SHA256 Credential=AKIAEXAMPLEEXAMPLE12/")
    assert "/eu-central-1/bedrock/" in authorization
    assert SECRET not in str(dict(seen.headers))


def test_what_arrives_is_what_was_signed():
    """The signature, made again from the request as it arrived (Signature Version 4, as AWS documents it)."""
    with Models(script=said(GOOD)) as models:
        ask(Bedrock, account(models, AWS_SESSION_TOKEN="session-token"), a_call(model=LLAMA))
        (seen,) = models.calls
    assert seen.headers["x-amz-security-token"] == "session-token"
    credential, names, signature = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=(\S+)", seen.headers["authorization"]
    ).groups()
    scope = credential.partition("/")[2]
    # The path is quoted on the wire and quoted again for the signature.
    path = quote(quote(seen.path, safe="/"), safe="/")
    lines = [f"{name}:{seen.headers[name]}\n" for name in names.split(";")]
    canonical = f"POST\n{path}\n\n{''.join(lines)}\n{names}\n{hashlib.sha256(seen.raw).hexdigest()}"
    text = f"AWS4-HMAC-SHA256\n{seen.headers['x-amz-date']}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{SECRET}".encode()
    for word in [*scope.split("/"), text]:
        key = hmac.digest(key, word.encode(), "sha256")
    assert key.hex() == signature


def test_the_name_of_a_model_arrives_as_it_was_signed():
    with Models(script=said(GOOD)) as models:
        ask(Bedrock, account(models), a_call(model=LLAMA))
        assert models.requests[0].path in (f"/model/{LLAMA}/converse", f"/model/{LLAMA.replace(':', '%3A')}/converse")
        assert models.calls[0].model == LLAMA


def test_tokens_are_counted_with_what_the_cache_read_and_wrote():
    tokens = one(Answer(GOOD, usage=Tokens(input=900, cached=700, output=60, cache_written=100))).tokens
    assert (tokens.input, tokens.cached, tokens.cache_written, tokens.output, tokens.known) == (900, 700, 100, 60, True)


def test_missing_counts_are_said_to_be_missing():
    assert not one(faults.no_usage()).tokens.known


STOPS = [
    ("end_turn", Stop.END),
    ("max_tokens", Stop.LENGTH),
    ("model_context_window_exceeded", Stop.LENGTH),
    ("guardrail_intervened", Stop.REFUSED),
    ("content_filtered", Stop.REFUSED),
    ("stop_sequence", Stop.OTHER),
    ("malformed_model_output", Stop.OTHER),
    ("malformed_tool_use", Stop.OTHER),
    ("tool_use", Stop.OTHER),
    ("a_word_of_next_year", Stop.OTHER),
]


def test_only_the_end_of_the_turn_is_an_end():
    with Models(script=queue([Answer(GOOD, stop=reason) for reason, _stop in STOPS])) as models:
        answers = ask(Bedrock, account(models), *[claude()] * len(STOPS))
    assert [answer.stop for answer in answers] == [stop for _reason, stop in STOPS]
    assert all((answer.reason == "") is (answer.stop is Stop.END) for answer in answers)


FAILURES = [
    (faults.L1(), Fault.OVERLOADED),
    (faults.L2(), Fault.RATE_LIMITED),
    (faults.L3(), Fault.SPENT),
    (faults.L4("spend_400"), Fault.SPENT),
    (faults.L4("denied"), Fault.DENIED),
    (faults.L4("billing"), Fault.DENIED),
    (faults.L4("forbidden"), Fault.NO_MODEL),
    (faults.L4("no_model"), Fault.NO_MODEL),
    (faults.L4("too_large"), Fault.TOO_LONG),
    (faults.L4("server"), Fault.SERVER),
    (faults.L4("gateway"), Fault.TIMEOUT),
    (faults.L7(), Fault.TOO_LONG),
    (complains("The provided model identifier is invalid."), Fault.NO_MODEL),
    (complains("Value 'x' at 'modelId' failed to satisfy constraint"), Fault.INVALID),
    (refused(429, "ThrottlingException", "Too many tokens per day, please wait before trying again."), Fault.SPENT),
    (refused(429, "ModelNotReadyException", "Not ready."), Fault.OVERLOADED),
    (refused(424, "ModelErrorException", "The model failed."), Fault.SERVER),
    (refused(403, "ExpiredTokenException", "The security token included in the request is expired"), Fault.DENIED),
    (faults.null_content(), Fault.UNREADABLE),
    (faults.html_page(), Fault.UNREADABLE),
    (faults.html_page(502), Fault.SERVER),
    (faults.not_json(), Fault.UNREADABLE),
    (faults.empty_body(), Fault.UNREADABLE),
    (faults.deep(), Fault.UNREADABLE),
    (Canned("deep", Reply(500, (b"[" * 100_000,))), Fault.UNREADABLE),
    (faults.gzip_bomb(), Fault.UNREADABLE),
    (faults.huge(), Fault.UNREADABLE),
    (faults.connection_reset(), Fault.NETWORK),
    (faults.content_length_lie(20), Fault.NETWORK),
    (faults.content_length_lie(-20), Fault.UNREADABLE),
]


def test_every_failure_has_its_fault():
    with Models() as models:

        def spoil(number: int) -> None:
            models.script = queue([FAILURES[number][0]])

        found = never_taken(Bedrock, account(models), len(FAILURES), spoil, model=CLAUDE)
        assert len(models.calls) == len(FAILURES), "retries are somebody else's business"
    assert found == [fault for _script, fault in FAILURES]


def test_a_throttled_call_says_when_to_come_back():
    with Models(script=queue([faults.L2(retry_after=7)])) as models:
        assert failure(Bedrock, account(models), claude()).retry_after == 7


def test_where_nobody_listens_it_is_the_network():
    with Models() as models, models.refuse():
        assert failure(Bedrock, account(models), claude()).fault is Fault.NETWORK


@pytest.mark.parametrize(
    "script", [faults.hang(), faults.hang("headers"), faults.hang(40), faults.trickle(), faults.endless_chunks(16, 0.01)]
)
def test_no_answer_takes_longer_than_its_time(script):
    with Models(script=queue([script])) as models:
        assert failure(Bedrock, account(models), claude(timeout_seconds=0.6)).fault is Fault.TIMEOUT


@pytest.mark.ci
@pytest.mark.parametrize("way", [faults.truncated, faults.truncated_chunked, faults.truncated_unframed])
def test_an_answer_cut_at_any_byte_is_never_taken(way):
    good = Answer(GOOD, usage=Tokens(30, 0, 12))
    with Models(script=queue([good])) as models:
        ask(Bedrock, account(models), a_call())
        length = models.calls[0].reply_bytes

        def spoil(at: int) -> None:
            models.script = queue([way(at, of=good)])

        found = never_taken(Bedrock, account(models), length, spoil)
    assert length > 200
    assert set(found) <= {Fault.NETWORK, Fault.UNREADABLE}


def test_a_redirect_is_not_followed_and_takes_no_key_along():
    with Decoy() as decoy, Models(script=queue([faults.redirect(307, decoy.url)])) as models:
        error = failure(Bedrock, with_token(models), claude())
        assert not decoy.requests
    assert error.fault is Fault.UNREADABLE


def test_a_bedrock_key_is_the_only_credential_that_travels():
    with Models(script=said(GOOD)) as models:
        ask(Bedrock, with_token(models), claude())
        ask(Bedrock, account(models, AWS_BEARER_TOKEN_BEDROCK=KEY), claude())
        assert {value for _name, value in models.keys} == {f"Bearer {KEY}"}


def test_a_server_that_repeats_the_key_does_not_get_it_into_the_message():
    with Models(script=queue([refused(500, "InternalServerException", f"bad key {KEY}\nnext")])) as models:
        assert "bad key" in failure(Bedrock, with_token(models), claude()).message


def test_a_key_in_clear_text_beyond_this_machine_is_refused_when_the_provider_is_made():
    with pytest.raises(ConfigError):
        Bedrock(Account("bedrock", "http://10.255.0.1", KEY, allow_plain_http=True))


def test_without_credentials_it_is_denied_and_no_machine_is_asked_for_its_role(monkeypatch):
    with Decoy() as metadata, Models() as models:
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", metadata.url)
        error = failure(Bedrock, Account("bedrock", models.url), claude())
        assert not metadata.requests
        assert not models.requests
        wanted = Account("bedrock", models.url, environment={"AWS_EC2_METADATA_DISABLED": "false"})
        assert failure(Bedrock, wanted, claude()).fault is Fault.DENIED
        assert metadata.requests, "who asks for it gets it"
    assert error.fault is Fault.DENIED
    assert "AWS_BEARER_TOKEN_BEDROCK" in error.message


def test_without_a_region_the_message_names_the_variable():
    error = failure(
        Bedrock, Account("bedrock", environment={name: SIGNED[name] for name in SIGNED if name != "AWS_REGION"}), claude()
    )
    assert error.fault is Fault.DENIED
    assert "AWS_REGION" in error.message


def test_credentials_and_region_of_a_profile_are_found(tmp_path):
    (tmp_path / "credentials").write_text("[work]\naws_access_key_id = AKIAWORKWORKWORK1234\naws_secret_access_key = x\n")
    (tmp_path / "config").write_text("[profile work]\nregion = ap-south-1\n")
    environment = {
        "AWS_PROFILE": "work",
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "credentials"),
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
    }
    with Models(script=said(GOOD)) as models:
        ask(Bedrock, Account("bedrock", models.url, environment=environment), claude())
        assert "AKIAWORKWORKWORK1234/" in models.calls[0].headers["authorization"]
        assert "/ap-south-1/bedrock/" in models.calls[0].headers["authorization"]


def test_a_cancelled_call_leaves_at_once_and_so_does_its_thread():
    before = threading.active_count()
    with Models(script=queue([faults.hang()])) as models:
        assert cancelled(Bedrock, account(models), lambda: models.wait_for(1)) < 5
        models.wait_idle()
        assert models.calls[0].outcome == "left"
    for thread in threading.enumerate():
        if thread.name.startswith("bedrock"):
            thread.join(10)
    assert threading.active_count() <= before


def test_many_calls_are_under_way_at_once():
    async def asked(models: Models) -> None:
        provider = Bedrock(account(models))
        try:
            await asyncio.gather(*[provider.complete(claude(), lambda: None) for _ in range(12)])
        finally:
            await provider.close()

    with Models(seconds=0.3, script=said(GOOD)) as models:
        run(asked(models))
        assert models.most_in_flight == 12


class Region(Server):
    """Lists what a region has."""

    async def handle(self, request: Request, line: Line) -> bool:
        """Whatever was asked."""
        models = [{"modelId": name, "modelArn": f"arn:aws:bedrock:::{name}"} for name in ("b.two", "a.one")]
        await line.give(Reply(200, (json.dumps({"modelSummaries": models}).encode(),)))
        return True


def test_the_models_of_the_region_are_listed():
    async def listed(region: Region) -> tuple[str, ...]:
        provider = Bedrock(Account("bedrock", region.url, environment=SIGNED))
        try:
            return await provider.models()
        finally:
            await provider.close()

    with Region() as region:
        assert run(listed(region)) == ("a.one", "b.two")
        assert region.requests[0].path == "/foundation-models"
