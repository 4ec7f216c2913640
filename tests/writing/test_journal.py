"""What is written down about a write: it is read back as it was, or refused with a word."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.adapters.git.writing import backup as backups
from reviewbot.adapters.git.writing import journal as journals
from reviewbot.adapters.git.writing.backup import Backup
from reviewbot.adapters.git.writing.ground import is_safe
from reviewbot.adapters.git.writing.journal import Entry, Journal, Move, RefMove, Slot, Stood
from reviewbot.domain.target import TargetKind
from reviewbot.errors import WriteError
from tests.writing.stage import Stage

IDS = st.integers(0, 2**160 - 1).map(lambda number: f"{number:040x}")
PATHS = st.binary(min_size=1, max_size=20).map(lambda name: name.decode("utf-8", "surrogateescape")).filter(is_safe)
NUMBERS = st.integers(0, 2**62)
STOOD = st.builds(Stood, IDS, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
MOVES = st.lists(st.builds(Move, PATHS, st.none() | STOOD, st.none() | IDS), max_size=3).map(tuple)
ENTRIES = st.none() | st.builds(Entry, st.sampled_from([0o100644, 0o100755]), IDS)
SLOTS = st.lists(st.builds(Slot, PATHS, ENTRIES, ENTRIES), max_size=3).map(tuple)
REFS = st.sampled_from(["refs/heads/main", "refs/heads/a/b", "refs/heads/ünï"])
REF_MOVES = st.builds(RefMove, REFS, st.none() | IDS, st.none() | IDS)
JOURNALS = st.builds(
    Journal,
    name=st.integers(0, 2**64 - 1).map(lambda number: f"{number:016x}"),
    head=st.none() | IDS,
    moves=MOVES,
    folders=st.lists(PATHS, max_size=2).map(tuple),
    slots=SLOTS,
    opening=st.none() | REF_MOVES,
    closing=st.lists(REF_MOVES, max_size=2).map(tuple),
    rmdirs=st.lists(PATHS, max_size=2).map(tuple),
    abandoned=st.booleans(),
)
BACKUPS = st.builds(
    Backup,
    where=st.sampled_from([".", "worktrees/side", "worktrees/\udcff"]),
    head=st.none() | IDS,
    branch=st.none() | REFS,
    moves=MOVES,
    slots=SLOTS,
    folders=st.lists(PATHS, max_size=2).map(tuple),
    commits=st.lists(IDS, max_size=2).map(tuple),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(JOURNALS)
def test_a_journal_is_read_as_it_was_written(journal: Journal) -> None:
    assert journals.loaded(journals.dumped(journal)) == journal


@given(BACKUPS)
def test_a_backup_is_read_as_it_was_written(backup: Backup) -> None:
    message = backups.written(backup)
    assert message.isascii()
    assert backups.read(message.encode(), "refs/x") == backup


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_journal_or_one_error(data: bytes) -> None:
    with suppress(WriteError):
        journals.loaded(data)


@given(JOURNALS, st.data())
def test_a_journal_with_anything_in_one_field_is_one_or_one_error(journal: Journal, data: st.DataObject) -> None:
    document = json.loads(journals.dumped(journal))
    document[data.draw(st.sampled_from(sorted(document)))] = data.draw(JSON)
    with suppress(WriteError):
        journals.loaded(json.dumps(document).encode())


@given(st.binary(max_size=200) | BACKUPS.map(backups.written).map(lambda text: text.replace('"', "", 3).encode()))
def test_any_message_is_a_backup_or_one_error(message: bytes) -> None:
    with suppress(WriteError):
        backups.read(message, "refs/x")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", ".git/config", "a/.GIT/x"])
def test_a_journal_never_leads_out_of_the_tree(path: str) -> None:
    journal = Journal("0" * 16, None, (Move(path, None, None),))
    with pytest.raises(WriteError, match="cannot be read"):
        journals.loaded(journals.dumped(journal))


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"version": 2}', b"[" * 100_000])
def test_a_journal_that_cannot_be_read_stops_every_command_with_a_word(stage: Stage, data: bytes) -> None:
    plan = stage.plan(TargetKind.WORKTREE, {"a.py": "eins\n"})
    journal = stage.repo.write(".git/reviewbot/journal.json", data)
    before = stage.state()
    for work in (stage.writer().recover, stage.writer().undo, lambda: stage.writer().write(plan)):
        with pytest.raises(WriteError, match="cannot be read") as raised:
            work()
        assert "refs/reviewbot/backup" in raised.value.hint
    assert stage.state() == before
    assert journal.read_bytes() == data
