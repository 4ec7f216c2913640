"""``.env`` files."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.config.dotenv import IMPLICIT, parse
from reviewbot.config.node import MAX_BYTES
from reviewbot.errors import ConfigError
from tests.rings import examples


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("# A=1\n\n  \t\n", {}),
        ("A=1", {"A": "1"}),
        ("A=1\r\nB=2\r\n", {"A": "1", "B": "2"}),
        ("\ufeffA=1", {"A": "1"}),
        ("export A=1\nexport\tB = 2", {"A": "1", "B": "2"}),
        ("A=", {"A": ""}),
        ("A=''", {"A": ""}),
        ("A = b c  # note", {"A": "b c"}),
        ("A=#", {"A": ""}),
        ("A=a#b", {"A": "a#b"}),
        ("A=b=c==", {"A": "b=c=="}),
        ("A='a # b' # note", {"A": "a # b"}),
        ("A='\\n'", {"A": "\\n"}),
        ('A="a\\n\\"b\\" \\\\ \\$C"#x', {"A": 'a\n"b" \\ $C'}),
        ("A=$HOME ${B} `ls`", {"A": "$HOME ${B} `ls`"}),
        ("a_1=x", {"a_1": "x"}),
        ("A=it's", {"A": "it's"}),
        ("A=\u2028x", {"A": "\u2028x"}),
    ],
)
def test_what_is_written_is_what_is_set(text: str, expected: dict[str, str]):
    assert parse(text.encode(), ".env") == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A=1\nhunter2", ".env line 2 is not NAME=VALUE"),
        ("1A=hunter2", "line 1 is not NAME=VALUE"),
        ("A-B=hunter2", "is not NAME=VALUE"),
        ("=hunter2", "is not NAME=VALUE"),
        ("A='hunter2", "line 1 has a quote that does not end"),
        ("A='hunter2' b", "has a quote that does not end"),
        ('A="hunter2', "has a quote that does not end"),
        ('A="hunter2\nB=1"', "line 1 has a quote that does not end"),
        ('A="hunter2\\"', "has a quote that does not end"),
        ('A="\\hunter2"', "has an escape that is not known"),
        ("A=1\n\nA=hunter2", "line 3 sets A a second time"),
        ("A=hunter2\x00", "holds a NUL"),
        (b"A=hunter2\xff", "is not UTF-8 (byte 9)"),
        ("A=" + "x" * MAX_BYTES, "bytes"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_no_value(text: str | bytes, words: str):
    with pytest.raises(ConfigError) as refusal:
        parse(text.encode() if isinstance(text, str) else text, ".env")
    assert words in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)
values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=40)


@given(st.dictionaries(names, values, max_size=5))
@settings(max_examples=examples(150), derandomize=True)
def test_any_value_can_be_written_between_double_quotes(held: dict[str, str]):
    def quoted(value: str) -> str:
        for plain, escape in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
            value = value.replace(plain, escape)
        return f'"{value}"'

    text = "".join(f"{name}={quoted(value)}\n" for name, value in held.items())
    assert parse(text.encode(), ".env") == held


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@settings(max_examples=examples(200), derandomize=True)
def test_any_bytes_are_variables_or_one_named_error(data: bytes):
    held: Mapping[str, str] = {}
    with contextlib.suppress(ConfigError):
        held = parse(data, ".env")
    assert all("\x00" not in name + value for name, value in held.items())


def test_a_file_that_nobody_named_brings_keys_and_nothing_that_steers():
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OLLAMA_HOST", "AWS_REGION", "AWS_SESSION_TOKEN"):
        assert IMPLICIT.fullmatch(name)
    for name in (
        "PATH",
        "LD_PRELOAD",
        "REVIEWBOT__PROVIDERS__OPENAI__BASE_URL",
        "HTTPS_PROXY",
        "AWS_ENDPOINT_URL",
        "GIT_DIR",
        "_API_KEY",
        "REVIEWBOT__X_API_KEY",
    ):
        assert not IMPLICIT.fullmatch(name)
