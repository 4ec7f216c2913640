"""What a pre-push hook is told: git's lines, and pre-commit's variables."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewbot.errors import UsageError
from reviewbot.events.pushed import PushedRef, RefKind, read, told

NEW, OLD = "1" * 40, "2" * 40
ZERO = "0" * 40


def line(local: str = "refs/heads/main", head: str = NEW, remote: str = "refs/heads/main", old: str = OLD) -> bytes:
    return f"{local} {head} {remote} {old}\n".encode("utf-8", "surrogateescape")


def test_a_line_is_a_ref_with_both_of_its_ends():
    assert read(line()) == (PushedRef("refs/heads/main", NEW, "refs/heads/main", OLD),)
    assert read(line().removesuffix(b"\n")) == read(line())


def test_a_push_of_nothing_has_no_refs():
    assert read(b"") == ()


def test_zeros_stand_for_nothing():
    (new,) = read(line(old=ZERO))
    (deleted,) = read(line("(delete)", head=ZERO))
    assert (new.head, new.old) == (NEW, None)
    assert (deleted.head, deleted.old, deleted.nothing) == (None, OLD, "it is deleted")


def test_what_was_typed_in_place_of_a_ref_may_hold_spaces():
    (typed,) = read(line("HEAD@{1 day ago}"))
    assert (typed.local_ref, typed.head, typed.remote_ref) == ("HEAD@{1 day ago}", NEW, "refs/heads/main")


def test_ids_may_be_of_sha_256():
    (long,) = read(line(head="a" * 64, old="0" * 64))
    assert (long.head, long.old) == ("a" * 64, None)


@pytest.mark.parametrize(
    ("ref", "kind", "name"),
    [
        ("refs/heads/a/b", RefKind.BRANCH, "a/b"),
        ("refs/tags/v1", RefKind.TAG, "tag v1"),
        ("refs/notes/commits", RefKind.NOTES, "refs/notes/commits"),
        ("refs/replace/" + NEW, RefKind.NOTES, "refs/replace/" + NEW),
        ("refs/for/main%topic=x", RefKind.OTHER, "refs/for/main%topic=x"),
        ("refs/heads", RefKind.OTHER, "refs/heads"),
    ],
)
def test_a_ref_is_known_by_its_name_on_the_remote(ref: str, kind: RefKind, name: str):
    (found,) = read(line(remote=ref))
    assert (found.kind, found.name) == (kind, name)


@pytest.mark.parametrize(
    "wrong",
    [
        b"\n",
        b"main\n",
        b"refs/heads/main " + NEW.encode() + b" refs/heads/main\n",
        line(local=""),
        line(remote=""),
        line(head="1" * 39),
        line(head="a" * 64),
        line(head=NEW.replace("1", "G")),
        line(old=NEW.upper().replace("1", "A")),
        line(remote="refs/heads/\x1b[2J"),
        line() + b"\n" + line(),
        line() + b"\x00\n",
    ],
)
def test_any_other_line_is_one_error_that_says_where(wrong: bytes):
    with pytest.raises(UsageError, match=r"^what is pushed cannot be read: line \d+: .*standard input$"):
        read(wrong)


@given(st.binary(max_size=400) | st.builds(lambda parts: b" ".join(parts), st.lists(st.sampled_from([b"a", b"\n", line(), b""]))))
@example(line(local="\udcff"))
def test_any_bytes_are_refs_or_the_one_error(data: bytes):
    try:
        refs = read(data)
    except UsageError:
        return
    again = b"".join(line(ref.local_ref, ref.head or ZERO, ref.remote_ref, ref.old or ZERO) for ref in refs)
    assert read(again) == refs


names = st.text(st.characters(exclude_characters="\n", codec="utf-8"), min_size=1, max_size=20)
ids = st.sampled_from([NEW, OLD, ZERO])


@given(st.lists(st.tuples(names.filter(str.strip), ids, st.sampled_from(["refs/heads/x", "refs/tags/v 1", "refs/é"]), ids)))
def test_what_git_writes_is_read_as_it_was_meant(rows: list[tuple[str, str, str, str]]):
    rows = [row for row in rows if " " not in row[2]]
    refs = read(b"".join(line(*row) for row in rows))
    assert [(ref.local_ref, ref.head or ZERO, ref.remote_ref, ref.old or ZERO) for ref in refs] == rows


FRAMEWORK = {
    "PRE_COMMIT": "1",
    "PRE_COMMIT_FROM_REF": OLD,
    "PRE_COMMIT_TO_REF": NEW,
    "PRE_COMMIT_LOCAL_BRANCH": "refs/heads/topic",
    "PRE_COMMIT_REMOTE_BRANCH": "refs/heads/theirs",
    "PRE_COMMIT_REMOTE_NAME": "origin",
    "PRE_COMMIT_REMOTE_URL": "https://example.org/x.git",
}


def test_pre_commit_tells_a_range_in_variables():
    push = told(FRAMEWORK)
    assert push is not None
    assert push.refs == (PushedRef("refs/heads/topic", NEW, "refs/heads/theirs", OLD),)
    assert (push.remote, push.url) == ("origin", "https://example.org/x.git")


def test_pre_commit_tells_a_whole_history_by_the_branch_alone():
    push = told({name: value for name, value in FRAMEWORK.items() if not name.endswith(("FROM_REF", "TO_REF"))})
    assert push is not None
    assert push.refs == (PushedRef("refs/heads/topic", "refs/heads/topic", "refs/heads/theirs", None),)


def test_two_ends_that_somebody_typed_are_a_push_of_the_second():
    push = told({"PRE_COMMIT": "1", "PRE_COMMIT_FROM_REF": "main", "PRE_COMMIT_TO_REF": "HEAD"})
    assert push is not None
    assert push.refs == (PushedRef("HEAD", "HEAD", "HEAD", "main"),)


@pytest.mark.parametrize("environ", [{}, {"PRE_COMMIT_TO_REF": NEW}, {"PRE_COMMIT": "1"}])
def test_without_pre_commit_or_a_push_nothing_is_told(environ: dict[str, str]):
    assert told(environ) is None


@pytest.mark.parametrize("word", ["-x", "--upload-pack=x", "a\0b", " "])
def test_no_option_comes_in_as_a_revision(word: str):
    with pytest.raises(UsageError):
        told({**FRAMEWORK, "PRE_COMMIT_TO_REF": word})
    with pytest.raises(UsageError):
        told({**FRAMEWORK, "PRE_COMMIT_FROM_REF": word})
