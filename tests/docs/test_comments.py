"""``docs/github-commands.md`` tells every command that a comment may hold, and each of its forms is one."""

from __future__ import annotations

import re

import pytest

from reviewbot.events.command import Command, Verb, read
from tests.docs.pages import TOP

PAGE = (TOP / "docs" / "github-commands.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `/debate")]
FORMS = [
    form if form.startswith("/debate") else f"/debate {form}"
    for row in ROWS
    for form in re.findall(r"`([^`]+)`", row.split(" | ")[0])
]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_of_the_page_is_a_command(form: str) -> None:
    assert isinstance(read(form), Command)


def test_every_command_is_told() -> None:
    found = {command.verb for form in FORMS if isinstance(command := read(form), Command)}
    assert found == set(Verb)
