"""The file of dismissals: read strictly, written so that people can read and merge it, and changed a block at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import jsonschema
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewbot.config.dismissed import MOST_BYTES, read, schema, screened
from reviewbot.config.dismissed_text import added, taken
from reviewbot.config.kinds import MAX_ITEMS
from reviewbot.domain.dismissal import FILE, Dismissal
from reviewbot.domain.evidence import Category, Severity
from reviewbot.errors import ConfigError
from tests.repo import Repo
from tests.rings import examples

ONE = Dismissal(
    "sha256:" + "1" * 64,
    "a.py",
    "the cache is meant",
    title="Mutable default",
    rule="B006",
    category=Category.CORRECTNESS,
    severity=Severity.HIGH,
    line="def f(x, y=[]):",
    near="AAAABBBB",
    date="2026-01-02",
)
TWO = Dismissal("sha256:" + "2" * 64, "b.py", "not ours")
WRITTEN = added(None, [ONE, TWO], FILE)

words = st.text(min_size=1, max_size=40).filter(lambda text: bool(screened(replace(ONE, reason=text)).reason))
paths = st.lists(st.text("ab.\u202e\n#: ", min_size=3, max_size=8), min_size=1, max_size=3).map("/".join)
dismissals = st.builds(
    Dismissal,
    fingerprint=st.text("0123456789abcdef", min_size=64, max_size=64).map("sha256:{}".format),
    path=paths.filter(lambda path: not {"", ".", ".."} & set(path.split("/"))),
    reason=words,
    title=st.just("") | words,
    rule=st.none() | words,
    category=st.none() | st.sampled_from(Category),
    severity=st.none() | st.sampled_from(Severity),
    line=st.just("") | words,
    near=st.just("") | st.text("AZaz09-_", min_size=8, max_size=8),
    date=st.just("2026-01-02"),
)
several = st.lists(dismissals, max_size=5, unique_by=lambda one: one.fingerprint)


@given(several)
def test_what_was_written_reads_back_equal_and_in_order(some: list[Dismissal]) -> None:
    text = added(None, some, FILE)
    known = sorted(map(screened, some), key=lambda one: (one.path, one.fingerprint))
    assert list(read(text, FILE)) == known
    assert text == added(None, list(reversed(some)), FILE), "whoever came first, the file is one"
    jsonschema.validate(yaml.safe_load(text), schema())


@given(several, dismissals)
def test_what_is_added_and_taken_back_leaves_every_byte_as_it_was(some: list[Dismissal], one: Dismissal) -> None:
    before = added(None, [other for other in some if other.fingerprint != one.fingerprint], FILE)
    assert taken(added(before, [one], FILE), [one.fingerprint], FILE) == before


@settings(max_examples=examples(300))
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: WRITTEN + text.encode("utf-8", "surrogatepass")))
@example(b"dismissed:\n - &a {}\n - *a\n")
@example(b"[[[[[[[[[[[[")
def test_any_bytes_are_dismissals_or_the_one_error(data: bytes) -> None:
    try:
        found = read(data, FILE)
    except ConfigError:
        return
    assert all(one.path and one == screened(one) for one in found)


@given(st.integers(0, len(WRITTEN)), st.binary(max_size=8))
def test_a_file_with_other_bytes_in_it_is_mended_or_refused_and_never_broken(at: int, more: bytes) -> None:
    data = WRITTEN[:at] + more + WRITTEN[at:]
    new = replace(TWO, fingerprint="sha256:" + "3" * 64)
    try:
        before = read(data, FILE)
        after = added(data, [new], FILE)
    except ConfigError:
        return
    assert set(read(after, FILE)) == {*before, new}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dismised: []", ("line 1", "did you mean 'dismissed'?")),
        ("dismissed:\n- fingerprint: {0}\n  path: a\n  reson: x", ("line 4", "did you mean 'reason'?")),
        ("dismissed:\n- fingerprint: {0}\n  path: a", ("line 2", "lacks 'reason'")),
        ("dismissed:\n- fingerprint: nine\n  path: a\n  reason: x", ("line 2", "64 hexadecimal digits")),
        ("dismissed:\n- fingerprint: {0}\n  path: a/../b\n  reason: x", ("line 3", "inside the repository")),
        ("dismissed:\n- fingerprint: {0}\n  path: /a\n  reason: x", ("line 3", "inside the repository")),
        ("dismissed:\n- fingerprint: {0}\n  path: a\n  reason: ' '", ("line 4", "a text of at most 500")),
        ("version: 2\ndismissed: []", ("line 1", "expected 1")),
        ("dismissed: &a []", ("line 1", "anchor")),
        ("<<<<<<< ours\ndismissed: []\n=======", ("line",)),
        ("- a", ("not a mapping",)),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_the_next_step(text: str, told: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as error:
        read(text.replace("{0}", ONE.fingerprint).encode(), FILE)
    assert all(words in str(error.value) for words in (FILE, *told)), str(error.value)


def test_a_list_that_was_emptied_by_hand_and_no_text_at_all_dismiss_nothing() -> None:
    for text in (b"", b"# later\n", b"version: 1\ndismissed:\n", b"dismissed: []\n"):
        assert read(text, FILE) == ()
        assert read(added(text, [ONE], FILE), FILE) == (ONE,)


def test_comments_and_what_people_wrote_in_their_own_way_stay() -> None:
    by_hand = (
        "# ours\nversion: 1\ndismissed:   \n\n# the cache\n- path: m.py  # see #12\n  reason: >\n    it is\n    meant\n"
        f"  fingerprint: sha256:{'5' * 64}\n# the end\n"
    ).encode()
    more = added(by_hand, [ONE, replace(TWO, path="z.py")], FILE)
    assert [one.path for one in read(more, FILE)] == ["a.py", "m.py", "z.py"]
    for kept in ("# ours", "# the cache", "path: m.py  # see #12", "reason: >\n    it is\n    meant", "# the end"):
        assert kept in more.decode()
    assert (
        taken(more, [ONE.fingerprint, TWO.fingerprint], FILE).decode().replace("dismissed:\n", "dismissed:   \n")
        == by_hand.decode()
    )


@pytest.mark.parametrize("key", ["dismissed:  # by path", "dismissed: []  # none yet"])
def test_a_comment_beside_the_key_costs_no_comment(key: str) -> None:
    by_hand = f"# ours\nversion: 1\n{key}\n".encode()
    more = added(by_hand, [ONE], FILE)
    assert read(more, FILE) == (ONE,)
    assert more.decode().startswith(f"# ours\nversion: 1\n{key.replace(' []', '')}\n")
    assert taken(more, [ONE.fingerprint], FILE).decode() == by_hand.decode().replace("dismissed:  #", "dismissed: []  #")


def test_branches_merge_where_they_write_in_different_places_and_else_a_person_is_asked(git_repo: Repo) -> None:
    def branch(name: str, more: Dismissal) -> None:
        git_repo.git("checkout", "-q", "-b", name, "main")
        path.write_bytes(added(WRITTEN, [more], FILE))
        git_repo.commit(name)

    path = git_repo.write(FILE, WRITTEN)
    git_repo.commit("one and two")
    first, last, other = (
        replace(TWO, fingerprint=f"sha256:{sign * 64}", path=where)
        for sign, where in (("3", "0.py"), ("4", "z.py"), ("5", "y.py"))
    )
    for name, more in {"first": first, "last": last, "other": other}.items():
        branch(name, more)
    git_repo.git("checkout", "-q", "first")
    git_repo.git("merge", "-q", "--no-edit", "last")
    assert read(path.read_bytes(), FILE) == (first, ONE, TWO, last)
    git_repo.run("merge", "-q", "--no-edit", "other", check=False)
    with pytest.raises(ConfigError, match="line"):
        read(path.read_bytes(), FILE)


def test_one_fingerprint_twice_as_merges_leave_it_counts_once() -> None:
    twice = WRITTEN + b"".join(row + b"\n" for row in WRITTEN.split(b"\n")[5:15])
    assert read(twice, FILE) == (ONE, TWO)
    assert read(taken(twice, [ONE.fingerprint], FILE), FILE) == (TWO,)


def test_a_secret_and_hidden_characters_are_neither_written_nor_shown() -> None:
    key = "AKIA" + "Z7QW3M5RT2XK6NLP"
    spoken = replace(ONE, reason=f"the key {key}\u202e is\nan example", title=key)
    text = added(None, [spoken], FILE).decode()
    assert key not in text
    assert "\u202e" not in text
    by_hand = WRITTEN.decode().replace(ONE.reason, key).encode()
    assert key not in read(by_hand, FILE)[0].reason


def test_too_many_and_too_much_is_refused_before_it_is_written() -> None:
    full = added(None, [replace(TWO, fingerprint=f"sha256:{number:064x}") for number in range(3)], FILE)
    row = full[full.index(b"  - ") :]
    crowd = full + b"".join(row.replace(b"sha256:000", f"sha256:{number:03x}".encode()) for number in range(1, MAX_ITEMS // 3))
    assert len(read(crowd, FILE)) == MAX_ITEMS - MAX_ITEMS % 3
    with pytest.raises(ConfigError, match=r"at most 500|more than 500"):
        added(crowd, [replace(TWO, fingerprint=f"sha256:{number:064x}") for number in range(9, 13)], FILE)
    with pytest.raises(ConfigError, match="bytes"):
        read(b"#" * (MOST_BYTES + 1), FILE)


def test_the_shipped_schema_is_what_is_read() -> None:
    shipped = files("reviewbot").joinpath("schema", "dismissed.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == schema(), "write it again: schema() of reviewbot/config/dismissed.py"
    jsonschema.Draft202012Validator.check_schema(schema())
