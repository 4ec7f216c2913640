"""What is remembered of a pull request: nothing that somebody wrote there can do harm, and nothing is believed by halves."""

from __future__ import annotations

import base64
import hashlib
import json
import tracemalloc
import zlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.evidence import Category, Severity
from reviewbot.domain.history import Fate, Handled, History, Known, Mended, PullMemory
from reviewbot.domain.repair import RepairOutcome
from reviewbot.domain.review import Conclusion, Verdict
from reviewbot.publish import own, state
from reviewbot.testing import a_standing
from tests.publish import pulls
from tests.rings import examples

WORDS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00"), max_size=20)
NUMBERS = st.integers(0, 2**40)
KNOWN = st.builds(
    Known,
    id=WORDS,
    fingerprint=WORDS,
    path=WORDS,
    start_line=NUMBERS,
    line=NUMBERS,
    severity=st.sampled_from(Severity),
    category=st.sampled_from(Category),
    title=WORDS,
    text=WORDS,
    rule=st.none() | WORDS,
    fate=st.sampled_from(Fate),
    reason=WORDS,
    by=WORDS,
    is_question=st.booleans(),
    is_proven=st.booleans(),
    grounds=st.lists(WORDS, max_size=3).map(tuple),
    near=WORDS,
)
HISTORY = st.builds(
    History,
    head=WORDS,
    base=WORDS,
    course=WORDS,
    seen=st.frozensets(st.text("abcXYZ019-_", min_size=1, max_size=12), max_size=20),
    conclusion=st.none() | st.sampled_from(Conclusion),
    verdict=st.none() | st.sampled_from(Verdict),
    findings=st.lists(KNOWN, max_size=5).map(tuple),
    next_number=NUMBERS,
    whole=WORDS,
)
MEMORY = st.builds(
    PullMemory,
    history=HISTORY,
    paused_by=WORDS,
    paused_at=WORDS,
    stopped=st.booleans(),
    autofix_off=st.booleans(),
    handled=st.lists(st.builds(Handled, NUMBERS, NUMBERS), max_size=5).map(tuple),
    run_id=WORDS,
    runs=NUMBERS,
    cost_usd=st.floats(0, 1e6).map(lambda amount: round(amount, 6)),
    status_comment=st.none() | NUMBERS,
    said=WORDS,
    mended=st.lists(
        st.builds(Mended, WORDS, st.sampled_from(RepairOutcome), why=WORDS, head=WORDS, commit=WORDS, pull=NUMBERS), max_size=3
    ).map(tuple),
    mended_head=WORDS,
    unfinished=WORDS,
    autofix_why=WORDS,
)
MANY = tuple(
    pulls.known(
        pulls.a_finding(number, title=f"{number * 7919 % 100_003} {'title' * 20}"), Fate.FIXED if number % 3 else Fate.OPEN
    )
    for number in range(1, 400)
)


def a_line(document: object, version: str = "1") -> str:
    return packed(json.dumps(document).encode(), version)


def packed(data: bytes, version: str = "1") -> str:
    return f"<!-- reviewbot:state v{version} {base64.b64encode(zlib.compress(data), b'._').decode().rstrip('=')} -->"


def unpacked(line: str) -> dict[str, object]:
    words = line.split()[3]
    found: dict[str, object] = json.loads(zlib.decompress(base64.b64decode(words + "=" * (-len(words) % 4), b"._")))
    return found


@settings(max_examples=examples(150))
@given(MEMORY)
def test_what_is_remembered_comes_back(memory: PullMemory) -> None:
    line = state.encode(memory)
    assert state.decode(line) == state.Kept(memory)
    assert state.encode(memory) == line


@settings(max_examples=examples(300))
@given(
    st.text(max_size=200)
    | st.binary(max_size=200).map(packed)
    | st.text(max_size=60).map(lambda w: f"<!-- reviewbot:state v1 {w} -->")
)
def test_any_line_is_a_memory_or_a_reason(line: str) -> None:
    kept = state.decode(line)
    assert (kept.memory is None) == bool(kept.reason)


@settings(max_examples=examples(200))
@given(
    st.sampled_from(sorted(unpacked(state.encode(PullMemory())))),
    st.none() | st.booleans() | st.integers(-3, 3) | WORDS | st.lists(WORDS, max_size=2),
)
def test_a_field_of_another_kind_is_no_memory_and_no_traceback(name: str, value: object) -> None:
    document = unpacked(state.encode(PullMemory())) | {name: value}
    kept = state.decode(a_line(document))
    assert (kept.memory is None) == bool(kept.reason)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "there is no state"),
        ("<!-- reviewbot:state v2 AAAA -->", "the state is of version 2, not 1"),
        ("<!-- reviewbot:state v1 AAA? -->", "the state is not one that reviewbot writes"),
        ("<!-- reviewbot:state v1 AAAA --> trailing", "the state is not one that reviewbot writes"),
        ("<!-- reviewbot:state v1 A -->", "cannot be unpacked"),
        ("<!-- reviewbot:state v1 AAAA -->", "cannot be unpacked"),
        (packed(b"{}"), "the key 'head' is missing"),
        (packed(b"["), "is not valid JSON"),
        (packed(b'{"head": "a", "head": "b"}'), "a key is given twice"),
        (packed(b" " * 600_000), "it holds more than 500,000 bytes"),
        (packed(b"[" * 100_000), "nested too deeply"),
        (a_line(unpacked(state.encode(PullMemory())) | {"later": 1}), "the key 'later' is unknown"),
    ],
)
def test_odd_state_is_no_state_with_the_reason(line: str, why: str) -> None:
    kept = state.decode(line)
    assert kept.memory is None
    assert why in kept.reason


def test_a_small_line_that_unpacks_to_fifteen_megabytes_is_refused_early() -> None:
    bomb = packed(b"0" * 15_000_000)
    assert len(bomb) <= state.MOST_CHARACTERS
    tracemalloc.start()
    try:
        assert "it holds more than" in state.decode(bomb).reason
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_state_that_was_cut_is_no_state() -> None:
    line = state.encode(PullMemory(run_id="a"))
    data = base64.b64decode(line.split()[3] + "==", b"._", validate=False)
    for broken in (data[:-3], data + b"more"):
        words = base64.b64encode(broken, b"._").decode().rstrip("=")
        assert "cut off, or goes on" in state.decode(f"<!-- reviewbot:state v1 {words} -->").reason


def test_what_does_not_fit_is_forgotten_in_order_and_numbers_are_not() -> None:
    marks = frozenset(
        base64.urlsafe_b64encode(hashlib.sha256(bytes([n % 256, n // 256])).digest()[:9]).decode() for n in range(1_200)
    )
    memory = PullMemory(History(head="h", seen=marks, findings=MANY[:20], next_number=400), paused_by="alice")
    assert state.decode(state.encode(memory)).memory == memory

    crowded = replace(memory, history=replace(memory.history, findings=MANY))
    kept = state.decode(state.encode(crowded)).memory
    assert kept is not None
    assert kept.history.seen == frozenset()
    assert not any(known.fate is Fate.FIXED for known in kept.history.findings)
    assert len(kept.history.findings) == sum(known.fate is Fate.OPEN for known in MANY)
    assert (kept.history.next_number, kept.paused_by, kept.history.head) == (400, "alice", "h")


def test_dismissals_outlive_mild_findings() -> None:
    secret = [
        replace(known, fate=Fate.DISMISSED, reason=str(hash(known.title) % 997), text=known.fingerprint * 5)
        for known in MANY[:40]
    ]
    mild = [replace(known, fate=Fate.OPEN, text=f"{known.fingerprint[::-1]}{known.line * 31337}" * 9) for known in MANY[40:]]
    wide = [
        replace(known, path=f"{zlib.crc32(known.id.encode()):08x}" * 30, rule=f"{zlib.adler32(known.id.encode())}")
        for known in mild
    ]
    lines = [replace(known, text="".join(f"{zlib.crc32(f'{known.id}{n}'.encode()):08x}" for n in range(25))) for known in wide]
    line = state.encode(PullMemory(History(findings=(*secret, *lines), next_number=500)))
    assert len(line) <= state.MOST_CHARACTERS
    kept = state.decode(line).memory
    assert kept is not None
    assert 40 < len(kept.history.findings) < 399
    assert [known.id for known in kept.history.findings[:40]] == [known.id for known in secret]


def test_only_the_last_commands_are_remembered() -> None:
    memory = PullMemory(handled=tuple(Handled(number, number) for number in range(500)))
    kept = state.decode(state.encode(memory)).memory
    assert kept is not None
    assert [command.comment_id for command in kept.handled] == list(range(300, 500))
    assert kept.has_handled(499)
    assert not kept.has_handled(1)
    assert kept.handled_since(490) == 10


def test_a_state_of_the_fourth_release_is_read() -> None:
    later = ("mended", "mended_head", "unfinished", "autofix_why")
    old = {name: value for name, value in unpacked(state.encode(PullMemory(runs=3))).items() if name not in later}
    assert state.decode(a_line(old)).memory == PullMemory(runs=3)


def test_of_fixes_those_that_were_written_are_remembered_longest() -> None:
    made = [
        Mended(f"F{n}", RepairOutcome.FIXED if n % 2 else RepairOutcome.FAILED, f"{n}" * 90, str(n) * 40, str(n) * 40)
        for n in range(1, 100)
    ]
    handled = tuple(Handled(n * 7919**3 % 10**12, n * 104729**2 % 10**11) for n in range(200))
    crowd = tuple(replace(known, fate=Fate.DISMISSED, reason=hashlib.sha512(known.id.encode()).hexdigest()) for known in MANY)
    texts = tuple(replace(one, why=hashlib.sha512(one.id.encode()).hexdigest()) for one in made)
    line = state.encode(PullMemory(History(findings=crowd), handled=handled, mended=texts))
    assert len(line) <= state.MOST_CHARACTERS
    kept = state.decode(line).memory
    assert kept is not None
    assert set(kept.mended) >= {one for one in texts if one.is_spent and int(one.id[1:]) > 60}


def test_a_fix_that_was_written_is_not_forgotten_for_many_that_were_not() -> None:
    made = [Mended(f"F{n}", RepairOutcome.FIXED, commit=f"{n:040x}") for n in range(1, 41)]
    over = [Mended(f"F{n}", RepairOutcome.SKIPPED, "more than 40 fixes") for n in range(41, 200)]
    kept = state.decode(state.encode(PullMemory(mended=(*made, *over)))).memory
    assert kept is not None
    assert kept.mended == (*made, *over[-(state.MOST_MENDED - 40) :])


def test_a_secret_in_a_title_is_not_published_with_the_state() -> None:
    token = "ghp_" + "a1B2" * 9
    memory = PullMemory(History(findings=(replace(MANY[0], title=f"leaks {token}", text=token),)))
    assert token not in json.dumps(unpacked(state.encode(memory)))


def test_a_path_that_is_not_utf_8_can_be_remembered() -> None:
    kept = state.decode(state.encode(PullMemory(History(findings=(replace(MANY[0], path="a\udcff.py"),))))).memory
    assert kept is not None
    assert kept.history.findings[0].path == "a\\xff.py"


def test_the_line_can_end_no_comment_and_start_no_markdown() -> None:
    for number in range(200):
        line = state.encode(PullMemory(run_id=str(number)))
        assert line.count("--") == 2
        assert "\n" not in line


@pytest.mark.parametrize(
    ("body", "own_"),
    [
        ("<!-- reviewbot:summary v1 -->\n{}", False),
        ("hello\n<!-- reviewbot:summary v1 -->\n{}", True),
        (" <!-- reviewbot:summary v1 -->\n{}", True),
        ("<!-- reviewbot:summary v1 -->\n\n{}", True),
        ("<!-- reviewbot:summary v1 -->\n```\n{}\n```", True),
        ("<!-- reviewbot:summary v2 -->\n{}", True),
        ("> <!-- reviewbot:summary v1 -->\n{}", True),
    ],
)
def test_state_is_believed_only_on_the_second_line_of_our_own_summary(body: str, own_: bool) -> None:
    line = state.encode(PullMemory(stopped=True))
    standing = replace(a_standing(pulls.HEAD), comments=(pulls.said(1, body.format(line), own=own_),))
    assert own.remembered(standing).memory is None
    honest = replace(standing, comments=(pulls.said(1, f"<!-- reviewbot:summary v1 -->\r\n{line}\r\nwords"),))
    assert own.remembered(honest).memory == PullMemory(stopped=True)
