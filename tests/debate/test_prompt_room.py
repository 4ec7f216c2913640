"""Little room: what is shown, what is not, and that nothing is lost in between."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.debate import prompt_change, prompt_room
from reviewbot.domain.evidence import Ledger
from reviewbot.ports import (
    CrossExamination,
    Dossier,
    FirstPass,
    Improvement,
    Passage,
    Rebuttal,
    Removed,
)
from reviewbot.testing import a_passage, evidence_item
from tests.debate.prompts import AGAINST, DOSSIER, PACKET
from tests.debate.prompts.reading import SOME, put


def lines_of(passages: tuple[Passage, ...]) -> list[tuple[str, int, str, bool]]:
    return sorted((p.path, n, text, n in p.changed) for p in passages for n, text in enumerate(p.lines, p.start))


def gone_from(passages: tuple[Passage, ...]) -> list[tuple[str, int, str]]:
    return sorted((p.path, gone.before, gone.text) for p in passages for gone in p.removed)


TEXT = st.sampled_from(["", "    return x", "y = " + "z" * 100, "def f(a, b, c):", "é" * 30])
PASSAGE = st.builds(
    lambda path, start, lines, changed, removed: Passage(
        path, start, tuple(lines), frozenset(start + n for n in changed if n < len(lines)), "f",
        tuple(Removed(start + n, f"gone {n}") for n in sorted(removed)),
    ),
    st.sampled_from(["a.py", "b.py"]), st.integers(1, 400), st.lists(TEXT, max_size=30), st.sets(st.integers(0, 29)), st.sets(st.integers(-2, 33)),
)  # fmt: skip


@SOME
@given(
    passages=st.lists(PASSAGE, max_size=5).map(tuple),
    room=st.integers(0, 900),
    place=st.one_of(
        st.none(), st.builds(prompt_room.Place, st.sampled_from(["a.py", "c.py"]), st.integers(1, 400), st.just(410))
    ),
)
def test_what_is_shown_and_what_is_unread_are_together_all_there_is(passages, room, place):
    shown = prompt_room.fitting(Dossier(passages, Ledger(), related=DOSSIER.related), room, place)
    assert lines_of(shown.passages + shown.unread) == lines_of(passages)
    assert gone_from(shown.passages + shown.unread) == gone_from(passages)
    assert sum(map(prompt_room.tokens, shown.passages)) <= room + 0.001
    assert not (shown.unread and shown.related)
    parts = shown.passages + shown.unread
    assert all(part.start <= line for part in parts if part not in passages for line in part.changed)
    assert sum(len(part.changed) for part in parts) == sum(len(passage.changed) for passage in passages)


def test_a_first_pass_reads_passages_in_order_while_they_fit_and_no_related_code():
    many = tuple(a_passage(f"f{number}.py", "x = 1\n" * 20) for number in range(6))
    dossier = replace(DOSSIER, passages=many)
    each = prompt_room.tokens(many[0])
    prompt = put(FirstPass(dossier), room=int(each * 3) + 2)
    assert prompt.unread == many[3:]
    assert re.findall(r"(?m)^=== (\S+),", prompt.prefix) == ["f0.py", "f1.py", "f2.py"]
    assert "left out in 3 places" in prompt.prefix


def test_enough_room_gives_the_same_bytes_as_no_limit():
    assert put(FirstPass(DOSSIER), room=100_000).prefix is put(FirstPass(DOSSIER)).prefix


def test_what_others_say_goes_before_related_code_does():
    code = sum(map(prompt_room.tokens, DOSSIER.passages)) + sum(prompt_room.tokens(item.passage) for item in DOSSIER.related)
    shown = prompt_room.fitting(DOSSIER, int(code) + 1)
    assert (shown.related, shown.background) == (DOSSIER.related, ())
    some = prompt_room.fitting(DOSSIER, int(code) + 40)
    assert some.background == DOSSIER.background[:1], "in the order in which it was gathered"
    assert not some.unread
    few = prompt_room.fitting(DOSSIER, 20)
    assert few.unread
    assert few.background == ()


def test_related_code_goes_first():
    room = int(sum(map(prompt_room.tokens, DOSSIER.passages))) + 1
    prompt = put(FirstPass(DOSSIER), room=room)
    assert prompt.unread == ()
    assert "Related code" not in prompt.prefix
    assert all(prompt_change.code([passage]) in prompt.prefix for passage in DOSSIER.passages)


def test_a_claim_is_examined_with_its_own_passage_and_the_nearest_ones():
    many = tuple(a_passage("shop/cart.py", "x = 1\n" * 20, start=start) for start in (1, 101, 201, 301))
    dossier = replace(DOSSIER, passages=(a_passage("first.py", "y\n" * 20), *many), related=())
    packet = replace(PACKET, start_line=305, line=306)
    room = int(prompt_room.tokens(many[0]) * 2) + 4
    for question in (CrossExamination(packet, dossier), Rebuttal(packet, dossier, (AGAINST,)), Improvement(packet, dossier)):
        prompt = put(question, room=room)
        assert prompt.unread == (dossier.passages[0], many[0], many[1])
        assert prompt.prefix.index("lines 201-") < prompt.prefix.index("lines 301-")


def test_a_passage_larger_than_the_room_is_read_as_far_as_it_goes():
    big = a_passage("big.py", "\n\n".join(f"def f{n}():\n    n = {n}\n    n += n\n    return n" for n in range(100)))
    for room in (300, 310, 320, 330):
        prompt = put(FirstPass(replace(DOSSIER, passages=(big,))), room=room)
        (rest,) = prompt.unread
        assert rest.lines == big.lines[rest.start - 1 :]
        assert 20 < rest.start < 120
        assert big.lines[rest.start - 2] == "", "cut at a border"
        assert f"=== big.py, lines 1-{rest.start - 1}\n" in prompt.prefix


def test_what_was_removed_elsewhere_takes_no_room_from_the_part_that_is_shown():
    big = replace(a_passage("big.py", "x = 1\n" * 200), removed=tuple(Removed(150, "gone " * 20) for _ in range(30)))
    bare = replace(big, removed=())
    (rest,), (other,) = (put(FirstPass(replace(DOSSIER, passages=(one,))), room=300).unread for one in (big, bare))
    assert rest.start == other.start > 40
    assert rest.removed == big.removed


def test_a_claim_in_the_middle_of_a_large_passage_is_shown_with_what_is_around_it():
    big = a_passage("shop/cart.py", "\n".join(f"line {n}" for n in range(1, 1_001)))
    packet = replace(PACKET, start_line=500, line=503)
    prompt = put(CrossExamination(packet, replace(DOSSIER, passages=(big,))), room=200)
    before, after = prompt.unread
    assert before.start == 1
    assert before.start + len(before.lines) < 500
    assert after.start > 503
    assert "500+|line 500\n501+|line 501\n" in prompt.prefix


def test_a_seat_without_room_is_told_that_nothing_could_be_shown():
    prompt = put(FirstPass(DOSSIER), room=0)
    assert prompt.unread == DOSSIER.passages
    assert "=== shop/cart.py" not in prompt.prefix
    assert "left out in 2 places" in prompt.prefix


def test_a_seat_with_little_room_hears_of_fewer_results():
    items = tuple(evidence_item(number, "f0.py", number) for number in range(1, 60))
    dossier = replace(DOSSIER, passages=(a_passage("f0.py", "x"), a_passage("f1.py", "x\n" * 400)), ledger=Ledger(items))
    assert len(re.findall(r"(?m)^E\d+:", put(FirstPass(dossier)).prefix)) == 59
    assert len(re.findall(r"(?m)^E\d+:", put(FirstPass(dossier), room=60).prefix)) == 15
