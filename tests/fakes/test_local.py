"""The fake local server takes its time, and counts as its versions did."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fakes import Answer, Models, Speed
from tests.fakes.dialects import ask_ollama, post

LONG = "def f(x):\n    return x\n" * 400
PARTS = ("the change\n", "the question")


def test_a_local_machine_takes_as_long_as_its_counters_say():
    answer = Answer("x" * 200)
    with Models(script=answer, speed=Speed(prompt=5_000, output=500, load=0.1)) as models:
        told = [ask_ollama(models.url, ("p" * 2_000, "")).raw for _ in range(2)]
    assert [one["load_duration"] for one in told] == [100_000_000, 0]
    assert told[0]["eval_duration"] == pytest.approx(0.1e9)
    assert told[0]["prompt_eval_duration"] == pytest.approx(0.1e9, rel=0.1)
    assert models.calls[0].seconds >= 0.3


def test_a_machine_that_becomes_faster_in_the_midst_is_faster_at_once():
    with Models(script=Answer("x" * 400), speed=Speed(output=1)) as models, ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(ask_ollama, models.url, PARTS)
        models.wait_for(1)
        models.speed = Speed(output=2_000)
        assert under_way.result().raw["eval_duration"] < 50e9


def test_a_machine_with_one_place_answers_one_after_the_other():
    with Models(script=Answer("x" * 40), speed=Speed(output=100), parallel=1) as models, ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: ask_ollama(models.url, PARTS), range(3)))
        calls = models.calls
    assert max(seen.ended or 0 for seen in calls) - min(seen.began for seen in calls) >= 0.3


@pytest.mark.parametrize(
    ("counts", "whole", "cached"), [("cached", 2_300, 2_176), ("whole", 2_300, None), ("computed", 124, None)]
)
def test_versions_of_a_local_server_count_prompts_differently(counts: str, whole: int, cached: int | None):
    with Models(counts=counts) as models:
        told = [ask_ollama(models.url, (LONG, "?")).raw for _ in range(2)]
    assert told[1]["prompt_eval_count"] == pytest.approx(whole, abs=60)
    assert told[1].get("prompt_eval_cached_count") == (None if cached is None else pytest.approx(cached, abs=128))


def test_a_local_server_cuts_a_prompt_that_is_too_long_without_a_word():
    body = {"model": "m", "stream": False, "options": {"num_ctx": 100}, "messages": [{"role": "user", "content": LONG}]}
    with Models() as models:
        assert post(models.url + "/api/chat", body).json()["prompt_eval_count"] == 100
