"""What the fakes bill."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes import Models
from tests.fakes.dialects import post
from tests.fakes.meter import common_prefix
from tests.rings import examples

LONG = "def f(x):\n    return x\n" * 400


def test_without_a_breakpoint_one_vendor_caches_nothing():
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": LONG}]}
    with Models() as models:
        usages = [post(models.url + "/v1/messages", body, headers={"anthropic-version": "1"}).json()["usage"] for _ in range(2)]
    assert [usage["cache_read_input_tokens"] for usage in usages] == [0, 0]


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
@settings(derandomize=True, max_examples=examples(60))
def test_a_common_prefix_is_the_longest(start: bytes, one: bytes, other: bytes):
    found = common_prefix(start + one, start + other)
    assert (start + one)[:found] == (start + other)[:found]
    assert found == min(len(one), len(other)) + len(start) or (start + one)[found] != (start + other)[found]
