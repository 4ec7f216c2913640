"""What a local model's own counters teach."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.panel.pace import (
    FIRST_LOAD_SECONDS,
    FIRST_OUTPUT_SPEED,
    FIRST_OUTPUT_TOKENS,
    FIRST_PROMPT_SPEED,
    LEAST_PROMPT_TOKENS,
    PREDICTIONS_KEPT,
    LocalPace,
)
from reviewbot.ports import Profile, Timings
from tests.rings import examples


class Machine:
    """A host that reads, writes and loads at some speed, and can turn slower."""

    def __init__(self, read: float, write: float, load: float = 0.0) -> None:
        self.read, self.write, self.load = read, write, load
        self.loaded = False

    def slow_down(self, times: float) -> None:
        self.read, self.write, self.load = self.read / times, self.write / times, self.load * times

    def answer(self, prompt: int, output: int) -> tuple[Timings, float]:
        load = 0.0 if self.loaded else self.load
        self.loaded = True
        timings = Timings(load, prompt, prompt / self.read, output, output / self.write)
        return timings, load + timings.prompt_seconds + timings.output_seconds


def taught(
    machine: Machine, answers: int = 3, *, prompt: int = 500, output: int = 100, pace: LocalPace | None = None
) -> LocalPace:
    pace = pace or LocalPace("host", "model")
    for _ in range(answers):
        ask(pace, machine, prompt, output)
    return pace


def ask(pace: LocalPace, machine: Machine, prompt: int, output: int) -> float:
    loaded = machine.loaded
    predicted = pace.predict(prompt, output, loaded=loaded)
    timings, real = machine.answer(prompt, output)
    pace.learn(timings, predicted=predicted, real=real, loaded=loaded)
    return real


def known(read: float = 200.0, write: float = 20.0, load: float = 5.0, **more: object) -> LocalPace:
    return LocalPace("host", "model", known=Profile("host", "model", read, write, load, 7, **more))  # type: ignore[arg-type]


def test_the_first_answer_teaches_its_speeds() -> None:
    kept = taught(Machine(200, 20, 7), 1).profile()
    assert (kept.prompt_tokens_per_second, kept.output_tokens_per_second, kept.load_seconds) == (200, 20, 7)
    assert (kept.host, kept.model, kept.samples) == ("host", "model", 1)


def test_a_model_that_was_never_measured_gets_a_small_first_question_and_a_reason() -> None:
    pace = LocalPace("host", "model")
    room = pace.room(120, 200, loaded=False)
    assert room == 16 * 120
    assert FIRST_LOAD_SECONDS + room / FIRST_PROMPT_SPEED + FIRST_OUTPUT_TOKENS / FIRST_OUTPUT_SPEED < 120
    assert pace.predict(room, 200, loaded=False) < 120
    assert "never measured" in pace.reason
    assert "3 answers measured" in taught(Machine(200, 20)).reason


def test_a_slower_answer_counts_at_once_and_a_faster_one_slowly() -> None:
    machine = Machine(100, 10)
    pace = taught(machine)
    machine.slow_down(4)
    ask(pace, machine, 500, 100)
    assert pace.profile().prompt_tokens_per_second == pytest.approx(25)
    machine.slow_down(1 / 8)
    ask(pace, machine, 500, 100)
    assert 25 < pace.profile().prompt_tokens_per_second < 150


@given(st.floats(5, 5_000), st.floats(1, 500), st.floats(0, 30), st.floats(10, 600), st.integers(0, 500), st.booleans())
@settings(max_examples=examples(200), derandomize=True)
def test_a_prompt_that_fits_is_answered_in_time_though_the_host_turns_four_times_slower(
    read: float, write: float, load: float, seconds: float, output: int, loaded: bool
) -> None:
    pace = known(read, write, load)
    room = pace.room(seconds, output, loaded=loaded)
    machine = Machine(read, write, load)
    machine.loaded = loaded
    if room != LEAST_PROMPT_TOKENS:
        machine.slow_down(4)
    if room:
        assert machine.answer(room, output)[1] <= seconds


def test_a_slow_machine_is_asked_the_least_where_that_can_be_answered() -> None:
    slow = known(30, 6, 20)
    assert slow.room(120, 200, loaded=True) == LEAST_PROMPT_TOKENS
    assert slow.predict(LEAST_PROMPT_TOKENS, 200, loaded=True) < 120 * 0.8
    assert known(3, 6, 20).room(120, 200, loaded=True) == 0


def test_after_a_slowdown_the_next_question_shrinks_and_is_answered_in_time() -> None:
    machine = Machine(1_600, 160, 3)
    pace = taught(machine, 5)
    before = pace.room(60, 100, loaded=True)
    machine.slow_down(4)
    assert ask(pace, machine, before, 100) <= 60
    after = pace.room(60, 100, loaded=True)
    assert LEAST_PROMPT_TOKENS < after < before / 4
    assert ask(pace, machine, after, 100) <= 60 / 4


def test_room_uses_the_time_it_may_use() -> None:
    pace = known(200, 20, 5)
    assert pace.room(100, 100, loaded=True) == ((24 - 5) * 200)
    assert pace.room(100, 100, loaded=False) == ((24 - 5 - 5) * 200)
    assert pace.room(10, 100, loaded=True) == 0
    room = pace.room(100, 100, loaded=False)
    assert pace.predict(room, 100, loaded=False) == pytest.approx(24, abs=0.01)


def test_a_prompt_out_of_the_cache_says_nothing_about_reading() -> None:
    pace = known(200, 20, 5)
    pace.learn(Timings(0.01, 3, 0.5, 100, 5.0), predicted=6, real=6, loaded=True)
    pace.learn(Timings(0.01, 0, 0.0, 2, 1.0), predicted=6, real=6, loaded=True)
    kept = pace.profile()
    assert (kept.prompt_tokens_per_second, kept.output_tokens_per_second, kept.samples) == (200, 20, 9)


def test_a_model_that_finds_nothing_keeps_its_seat() -> None:
    pace = LocalPace("here", "m")
    pace.learn(Timings(0.1, 1800, 0.6, 5, 5 / 300), predicted=60, real=0.7, loaded=False)
    assert pace.room(120, pace.usual_output, loaded=True) > 10_000
    pace.learn(Timings(0.0, 1800, 0.6, 2, 1.0), predicted=1, real=1.6, loaded=True)
    assert pace.profile().output_tokens_per_second == 300
    pace.learn(Timings(0.0, 1800, 0.6, 100, 5.0), predicted=1, real=5.6, loaded=True)
    assert pace.profile().output_tokens_per_second == 20


def test_loading_is_learnt_when_it_happened_and_when_it_took_longer() -> None:
    pace = known(load=5.0)
    pace.learn(Timings(0.02, 500, 2.5, 100, 5.0), predicted=8, real=8, loaded=True)
    assert pace.profile().load_seconds == 5.0
    pace.learn(Timings(9.0, 500, 2.5, 100, 5.0), predicted=8, real=17, loaded=True)
    assert pace.profile().load_seconds == 9.0
    pace.learn(Timings(1.0, 500, 2.5, 100, 5.0), predicted=17, real=8, loaded=False)
    assert 1.0 < pace.profile().load_seconds < 9.0


@given(st.floats(5, 500), st.floats(1, 50), st.floats(0, 20), st.integers(100, 20_000), st.integers(10, 500), st.booleans())
@settings(max_examples=examples(200), derandomize=True)
def test_a_time_out_teaches_that_it_is_at_most_as_fast_as_would_have_needed_that_long(
    read: float, write: float, load: float, prompt: int, output: int, loaded: bool
) -> None:
    pace = known(read, write, load)
    before = pace.predict(prompt, output, loaded=loaded)
    pace.timed_out(prompt, output, seconds=60, loaded=loaded)
    assert pace.predict(prompt, output, loaded=loaded) >= max(before, 60) * 0.999
    assert pace.profile().samples == 8


def test_time_outs_shrink_the_question_until_it_is_answered() -> None:
    machine = Machine(10, 2)
    pace = known(1_000, 100, 0)
    for _ in range(10):
        room = pace.room(120, 20, loaded=True)
        if machine.answer(room, 20)[1] <= 120:
            break
        pace.timed_out(room, 20, seconds=120, loaded=True)
    else:
        pytest.fail("it never got an answer")
    assert room > 0


def test_a_time_out_of_a_model_that_was_never_measured_makes_it_measured() -> None:
    pace = LocalPace("host", "model")
    pace.timed_out(1_000, 100, seconds=120, loaded=False)
    assert pace.room(120, 100, loaded=True) < LocalPace("host", "model").room(120, 100, loaded=True)


def test_a_load_that_eats_all_the_time_is_learnt_as_a_load() -> None:
    pace = known(load=90.0)
    pace.timed_out(0, 0, seconds=120, loaded=False)
    assert pace.profile().load_seconds == 120


def test_answers_that_always_take_longer_than_predicted_correct_the_predictions() -> None:
    pace = known(200, 20, 0)
    plain = pace.predict(1_000, 100, loaded=True)
    room = pace.room(100, 100, loaded=True)
    for _ in range(25):
        predicted = pace.predict(1_000, 100, loaded=True)
        pace.learn(Timings(0, 1_000, 5.0, 100, 5.0), predicted=predicted, real=2 * plain, loaded=True)
    assert pace.correction == pytest.approx(2)
    assert pace.predict(1_000, 100, loaded=True) == pytest.approx(2 * plain)
    assert pace.room(100, 100, loaded=True) == ((12 - 5) * 200) < room


def test_one_slow_answer_and_fast_ones_correct_nothing() -> None:
    for ratios in ([4.0], [1.0, 9.0, 1.0], [0.2] * 5):
        pace = known(predictions=tuple((10.0, 10.0 * ratio) for ratio in ratios))
        assert pace.correction == 1.0


def test_a_correction_is_bounded() -> None:
    assert known(predictions=((1.0, 100.0),) * 5).correction == 4.0


def test_the_last_twenty_predictions_are_kept() -> None:
    pace = taught(Machine(200, 20), 30)
    assert len(pace.profile().predictions) == PREDICTIONS_KEPT
    assert pace.profile().predictions[-1] == pytest.approx((7.5, 7.5))


def test_a_profile_comes_back_as_it_was_kept() -> None:
    first = taught(Machine(200, 20, 5), 6).profile()
    second = LocalPace("host", "model", known=first)
    assert second.profile() == first
    assert second.room(100, 100, loaded=True) > 0


def test_what_answers_take_is_learnt_on_the_large_side() -> None:
    assert LocalPace("host", "model").usual_output == FIRST_OUTPUT_TOKENS
    pace = taught(Machine(200, 20), 3, output=100)
    assert pace.usual_output == 100
    ask(pace, Machine(200, 20), 500, 300)
    assert pace.usual_output == 300


def test_the_one_who_deals_out_portions_is_told_speeds_and_room() -> None:
    pace = known(200, 20, 5).pace("critic", 100, loaded=False)
    assert (pace.seat, pace.model, pace.prompt_tokens_per_second, pace.output_tokens_per_second) == ("critic", "model", 200, 20)
    assert (pace.load_seconds, pace.room) == (5, ((24 - 5 - 10) * 200))
