"""Every command and program on the pages under ``docs/`` is run, in the order of its page, in a repository made for the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import TOP, blocks, name_of, pages
from tests.docs.play import Reader
from tests.docs.scratch import Scratch
from tests.docs.vendors import answering
from tests.fakes import Models
from tests.sandboxes import need_bubblewrap

pytestmark = pytest.mark.matrix

README = TOP / "README.md"
"""Followed in a clone: see test_walkthrough.py."""

TOLD = [page for page in pages() if page != README and any(block.language in Reader.PLAYED for block in blocks(page))]


@pytest.fixture(scope="module")
def models() -> Iterator[Models]:
    """What answers where a page has a key."""
    with answering() as made:
        yield made
        assert made.refused == []


@pytest.mark.ci
@pytest.mark.parametrize("page", TOLD, ids=name_of)
def test_a_page_can_be_followed(page: Path, tmp_path: Path, models: Models) -> None:
    need_bubblewrap()
    if not shutil.which("jq"):
        pytest.skip("jq is not installed: sudo apt-get install jq")
    scratch = Scratch(tmp_path, models.url)
    reader = Reader(name_of(page), scratch.shell)
    reader.follow(blocks(page))
    assert not reader.wrong, "\n\n".join(reader.wrong)
    assert not scratch.attempts.exists(), scratch.attempts.read_text(encoding="utf-8")
