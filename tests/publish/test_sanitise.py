"""Whatever goes in, nothing alive comes out."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewbot.publish import plain, sanitise
from tests.publish import github, samples
from tests.rings import examples

TRICKS = (
    "@everyone",
    "@acme/team",
    "&#64;user",
    "&commat;user",
    "\\@user",
    "@\u200buser",
    "@**user**",
    "**@**user",
    "[@](x)user",
    "@[user](x)",
    "fixes #1",
    "closes acme/shop#3",
    "#\\1",
    "&num;1",
    "GH-12",
    "/debate fix",
    "> /debate",
    "- /debate",
    "\n/lgtm\n",
    "<https://evil.example>",
    "https://evil.example/x",
    "http&#58;//evil.example",
    "https:\\//evil.example",
    "www.evil.example",
    "w\\ww.evil.example",
    "a@evil.example",
    "<a@evil.example>",
    "[x](https://evil.example 'title')",
    "[x]: https://evil.example\n\n[x]",
    "![x](https://evil.example/p.png)",
    "[^1]\n\n[^1]: https://evil.example",
    "[x](https://docs.astral.sh@evil.example/)",
    "https://docs.astral.sh.evil.example/",
    "https://docs.astral.sh/ruff/rules/",
    "<b>x</b>",
    "<!-- reviewbot:summary v1 -->",
    "<script>alert(1)</script>",
    "<details>",
    "::error::x",
    "  ::error::x",
    "##[error]x",
    "#\\#[error]x",
    "`",
    "``",
    "```",
    "~~~",
    "`@user`",
    "*",
    "**",
    "_",
    "__",
    "__init__",
    "~~",
    "\\",
    "|",
    "\n| a | b |\n|---|---|\n| @x | y |\n",
    "# ",
    "1. ",
    "- ",
    "+ ",
    "> ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    " ",
    "---",
    "===",
    "- [ ] task",
    "$x$",
    "\x1b[31m",
    "\x9b0m",
    "\u202e",
    "\u200b",
    "\x00",
    "\udcff",
    "word",
    "é",
    "ghp_" + "a1B2" * 9,
    "AKIA" + "ABCDEFGH" * 2,
)
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
HOSTILE = st.lists(st.sampled_from(TRICKS) | st.text("ab `*_[]()<>@#/:!&;\\\n-+.1~|\"'$", max_size=8), max_size=12).map("".join)
ANYTHING = HOSTILE | ANY_TEXT


@settings(max_examples=examples(400))
@given(ANYTHING)
@example("".join(TRICKS))
@example("x`code`@user")
@example("\\\\<b>x</b>")
@example("&amp;commat;user")
@example("&amp;lt;b>")
@example("`a``b` ``c``")
@example("``` @user\n```")
def test_no_markdown_stays_alive(text: str) -> None:
    assert github.dangers(sanitise.markdown(text), sanitise.LINK_HOSTS) == []


@settings(max_examples=examples(400))
@given(ANYTHING)
@example("".join(TRICKS))
def test_no_inline_text_stays_alive(text: str) -> None:
    line = sanitise.inline(text)
    assert "\n" not in line
    assert github.dangers(line, sanitise.LINK_HOSTS) == []


@settings(max_examples=examples(200))
@given(ANYTHING)
@example("@everyone` `")
@example("` `@everyone")
@example("# 1. x")
def test_saying_it_twice_changes_nothing(text: str) -> None:
    once = sanitise.markdown(text)
    assert sanitise.markdown(once) == once


@settings(max_examples=examples(200))
@given(ANYTHING)
def test_a_line_is_one_paragraph_of_words_code_and_links(text: str) -> None:
    kinds = {token.type for token in github.parse(sanitise.inline(text))}
    assert kinds <= {
        "paragraph_open",
        "paragraph_close",
        "inline",
        "text",
        "text_special",
        "code_inline",
        "link_open",
        "link_close",
    }


@settings(max_examples=examples(200))
@given(ANYTHING, ANYTHING)
def test_a_code_block_holds_everything_it_was_given(text: str, language: str) -> None:
    block = sanitise.code_block(text, language)
    (fence,) = github.parse(block)
    assert fence.type == "fence"
    assert github.dangers(block, frozenset()) == []


@settings(max_examples=examples(200))
@given(ANYTHING)
def test_a_code_span_is_code_and_nothing_else(text: str) -> None:
    span = sanitise.code_span(text)
    tokens = [token for token in github.parse(span) if token.type != "inline" and not token.type.startswith("paragraph")]
    assert [token.type for token in tokens] == (["code_inline"] if span else [])


@settings(max_examples=examples(200))
@given(ANYTHING)
def test_a_terminal_gets_no_control_character_and_no_command(text: str) -> None:
    shown = plain.terminal(text)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", shown)
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in shown.split("\n"))
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("plain words, `code` and snake_case", "plain words, `code` and snake_case"),
        ("ask @user, fixes #1.", "ask `@user`, fixes `#1`."),
        ("a **bold** word", "a bold word"),
        ("__init__ is meant", "\\_\\_init\\_\\_ is meant"),
        ("[rule](https://docs.astral.sh/ruff/)", "rule <https://docs.astral.sh/ruff/>"),
        ("[bait](https://evil.example)", "bait `https://evil.example`"),
        ("- one\n- two\n\ndone", "- one\n- two\n\ndone"),
        ("/debate fix", "`/debate` fix"),
        ("[x]: https://evil.example", "\\[x]: `https://evil.example`"),
        ("&amp;lt; and \\\\*", "\\&lt; and \\\\\\*"),
        ("\x1b[1;31mred\x1b[0m \x1b]0;title\x07words", "red words"),
        ("::error::x", "\\::error::x"),
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("-1 is less than 2.5", "-1 is less than 2.5"),
        ("1. x", "- x"),
        ("", ""),
    ],
)
def test_markdown_reads_well(text: str, safe: str) -> None:
    assert sanitise.markdown(text) == safe


@pytest.mark.parametrize("split", ["ghp_{}", "ghp_**{}**", "`ghp_{}`", "gh&#112;_{}", "<b>ghp_{}", "```\nghp_{}\n```"])
def test_a_secret_is_redacted_however_it_is_written(split: str) -> None:
    body = "a1B2" * 9
    assert body not in sanitise.markdown(split.format(body))


@pytest.mark.parametrize("piece", [">", "[", "*a_", "- ", "`", "<", "![", "&#64;", "(", "a@b ", "\\"])
def test_nonsense_is_cut_and_said_to_be(piece: str) -> None:
    written = sanitise.markdown(piece * 50_000)
    assert len(written) < 5 * sanitise.MARKDOWN_LIMIT
    if len(written) > 100:
        assert "left out" in written


def test_an_allowed_host_is_allowed_and_its_look_alikes_are_not() -> None:
    hosts = frozenset({"docs.example"})
    assert sanitise.inline("see https://docs.example/a.", hosts=hosts) == "see <https://docs.example/a>."
    for address in ("https://docs.example.evil/", "https://u@docs.example/", "http://docs.example/", "https://docs.example:1/"):
        assert sanitise.inline(address, hosts=hosts).startswith("`")


def test_blank_lines_by_the_thousand_are_searched_for_commands_in_time() -> None:
    assert plain.defuse("\n" * 20_000 + "x\n ::error::y") == "\n" * 20_000 + "x\n : :error::y"


def test_the_hostile_sample_is_harmless() -> None:
    assert github.dangers(sanitise.markdown(samples.HOSTILE_WORDS), sanitise.LINK_HOSTS) == []


def test_a_fence_of_somebody_else_becomes_no_button_and_no_drawing():
    """GitHub makes a commit button of ``suggestion`` and a picture with links of ``mermaid``."""
    for language in ("suggestion", "mermaid", "Suggestion", "geojson", "stl"):
        assert sanitise.markdown(f"```{language}\nx = 1\n```") == "```\nx = 1\n```"
    assert sanitise.markdown("```python\nx = 1\n```") == "```python\nx = 1\n```"
