"""Hidden characters are found and shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.screen import hidden
from reviewbot.screen.hidden import HiddenKind


@pytest.mark.parametrize(
    ("character", "name", "kind"),
    [
        ("\u202e", "RIGHT-TO-LEFT OVERRIDE", HiddenKind.BIDI),
        ("\u2066", "LEFT-TO-RIGHT ISOLATE", HiddenKind.BIDI),
        ("\u200b", "ZERO WIDTH SPACE", HiddenKind.ZERO_WIDTH),
        ("\ufeff", "ZERO WIDTH NO-BREAK SPACE", HiddenKind.ZERO_WIDTH),
        ("\U000e0041", "TAG LATIN CAPITAL LETTER A", HiddenKind.TAG),
        ("\U000e0100", "VARIATION SELECTOR-17", HiddenKind.ZERO_WIDTH),
        ("\u3164", "HANGUL FILLER", HiddenKind.FILLER),
        ("\x1b", "ESCAPE", HiddenKind.CONTROL),
        ("\u2028", "LINE SEPARATOR", HiddenKind.CONTROL),
        ("\udcff", "UNDECODABLE BYTE", HiddenKind.CONTROL),
    ],
)
def test_a_hidden_character_has_a_name_and_a_place(character: str, name: str, kind: HiddenKind) -> None:
    found = list(hidden.find(f"ab{character}c"))
    assert [(h.name, h.kind, h.column, h.codepoint) for h in found] == [(name, kind, 2, ord(character))]


@pytest.mark.parametrize("text", ["tab\tand line\n", "crlf\r\n", "emoji 👩\u200d💻 ❤\ufe0f 1\ufe0f\u20e3", "日本語 ñ é", "x\r"])
def test_writing_is_left_alone(text: str) -> None:
    assert hidden.visible(text) == text
    assert list(hidden.find(text)) == []


@pytest.mark.parametrize("text", ["x\u200d👩", "👩\u200dx", "x\ufe0f", "❤\ufe00"])
def test_a_joiner_outside_of_an_emoji_is_hidden(text: str) -> None:
    assert len(list(hidden.find(text))) == 1


def test_a_lone_carriage_return_is_hidden() -> None:
    assert hidden.visible("good\revil") == "good⟨U+000D⟩evil"


@given(st.text(st.characters()))
def test_what_is_shown_hides_nothing_and_keeps_its_lines(text: str) -> None:
    shown = hidden.visible(text)
    assert list(hidden.find(shown)) == []
    assert shown.count("\n") == text.count("\n")
    assert len(list(hidden.find(text))) == shown.count("⟨U+") - text.count("⟨U+")


@given(st.text("abc xyz_09(){}[]=+-*/\t\n"))
def test_plain_text_passes_unchanged(text: str) -> None:
    assert hidden.visible(text) is text or hidden.visible(text) == text
