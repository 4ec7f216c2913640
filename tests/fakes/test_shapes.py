"""Successes that are none: how compatible servers, proxies and portals spoil them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.fakes import Answer, Models, Speed, faults
from tests.fakes.dialects import DIALECTS, Dialect, post

COUNTERS = ('"usage":{', "usageMetadata", "eval_count")


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("how", ["empty_choices", "null_content", "content_parts", "no_usage"])
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_spoiled_bodies_of_a_success_are_known_everywhere(dialect: Dialect, how: str, stream: bool):
    path = dialect.path.replace(":generate", ":streamGenerate") if stream else dialect.path
    with Models(script=faults.L14(how)) as models:
        got = post(models.url + path, {**dialect.body, "stream": stream}, headers={"anthropic-version": "1"})
    assert got.status_code == 200
    assert how != "no_usage" or not [word for word in COUNTERS if word in got.text]


def test_spoiled_bodies_look_as_compatible_servers_send_them():
    def body(how: str) -> Any:
        models.script = faults.L14(how)
        return post(models.url + DIALECTS[1].path, DIALECTS[1].body).json()

    with Models() as models:
        assert body("empty_choices")["choices"] == []
        assert body("null_content")["choices"][0]["message"]["content"] is None
        assert [part["type"] for part in body("content_parts")["choices"][0]["message"]["content"]] == ["text", "text"]
        assert "usage" not in body("no_usage")
        models.script = faults.L10("stop", refusal="I cannot")
        message = post(models.url + DIALECTS[1].path, DIALECTS[1].body).json()["choices"][0]["message"]
        assert (message["content"], message["refusal"]) == (None, "I cannot")


def test_one_vendor_wraps_its_errors_in_a_list_or_in_a_text():
    def failed(shape: str) -> Any:
        models.script = faults.L12(shape)
        return post(models.url + DIALECTS[3].path, DIALECTS[3].body).json()

    with Models() as models:
        (wrapped,) = failed("list")
        assert wrapped == failed("object")
        assert json.loads(failed("nested")["error"]["message"]) == wrapped


@pytest.mark.parametrize("word", [{"maxLength": 5}, {"minimum": 1}])
def test_a_schema_with_words_that_one_vendor_does_not_know_is_refused(word: dict[str, int]):
    shape = {"type": "object", "additionalProperties": False, "properties": {"a": {"type": "string", **word}}}
    wanted = {"output_config": {"format": {"type": "json_schema", "schema": shape}}}
    with Models() as models:
        post(models.url + DIALECTS[0].path, {**DIALECTS[0].body, **wanted}, headers={"anthropic-version": "1"})
    assert [next(iter(word)) in why for why in models.refused] == [True]


def test_a_listing_speaks_the_dialect_of_whoever_asks():
    with Models(names=["one"]) as models:
        for headers, key in (({"x-goog-api-key": "k"}, "models"), ({"anthropic-version": "1"}, "has_more"), ({}, "object")):
            assert key in httpx2.get(models.url + "/v1/models", headers=headers, verify=False).json()


def test_an_error_names_its_kind_where_one_vendor_looks_for_it():
    with Models(script=faults.trouble("forbidden")) as models:
        assert post(models.url + DIALECTS[5].path, DIALECTS[5].body).headers["x-amzn-errortype"] == "AccessDeniedException"


def test_who_queues_for_a_local_machine_and_goes_is_missed():
    body, path = DIALECTS[4].body, DIALECTS[4].path
    with Models(script=Answer("x" * 400), speed=Speed(output=1), parallel=1) as models, ThreadPoolExecutor(1) as pool:
        first = pool.submit(post, models.url + path, body)
        models.wait_for(1)
        with pytest.raises(httpx2.ReadTimeout):
            post(models.url + path, body, timeout=httpx2.Timeout(10, read=0.05))
        while models.calls[1].ended is None:
            assert first.running()
        assert models.calls[1].outcome == "left"
        models.speed = Speed()
        assert first.result().status_code == 200


@pytest.mark.parametrize("fault", [faults.empty_body(), faults.not_json(), faults.error_in_200()], ids=lambda fault: fault.name)
def test_a_status_200_proves_nothing(fault: faults.Canned):
    with Models(script=fault) as models:
        got = post(models.url + DIALECTS[4].path, DIALECTS[4].body)
    assert got.status_code == 200
    assert got.content == fault.reply.body
