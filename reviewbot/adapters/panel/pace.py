"""How fast a local model works, learnt from its server's own counters, and how much it can therefore be asked at a time."""

from __future__ import annotations

from collections import deque
from statistics import median

from reviewbot.ports import Pace, Profile, Timings

SHARE_OF_TIME = 0.24
"""The part of an answer's time that is planned. A host that turns four times slower in mid-run needs 0.96 of it."""

LEAST_PROMPT_TOKENS = 900
LEAST_SHARE_OF_TIME = 0.8
"""A slow machine is still asked this much, a frame and some thirty lines, where that is expected within this share of the time:
it keeps its seat, without the reserve for a slowdown [design]."""

WEIGHT_OF_LAST = 0.3
"""In the moving average of speeds."""

TELLING_PROMPT_TOKENS = 32
TELLING_OUTPUT_TOKENS = 8
"""Fewer tell of overhead and not of speed: a prompt out of the server's cache leaves a handful to compute."""

PREDICTIONS_KEPT = 20
PREDICTIONS_THAT_TELL = 3
MOST_CORRECTION = 4.0

FIRST_PROMPT_SPEED = 30.0
FIRST_OUTPUT_SPEED = 6.0
FIRST_LOAD_SECONDS = 20.0
FIRST_OUTPUT_TOKENS = 200
FIRST_TOKENS_PER_SECOND_OF_TIME = 16
"""Before anything was measured: a 7B model in 4 bits on a processor without a graphics card. In 120 s it loads (20 s), reads
16 × 120 tokens (64 s) and writes 200 (33 s). Guesses, on the slow side, until the first answer says better."""


class _Figure:
    """A moving average and the last value; ``worse`` (``min`` or ``max``) of the two is believed."""

    def __init__(self, value: float, *, slow_is_more: bool = False) -> None:
        self._average = value
        self._last = value
        self._worse = max if slow_is_more else min

    @property
    def value(self) -> float:
        return self._worse(self._average, self._last)

    def learn(self, value: float, *, first: bool) -> None:
        self._average = value if first else self._average + WEIGHT_OF_LAST * (value - self._average)
        self._last = value

    def no_better_than(self, value: float) -> None:
        self._average, self._last = self._worse(self._average, value), self._worse(self._last, value)


class LocalPace:
    """The pace of one model on one host: tokens per second, seconds. Not shared between threads."""

    def __init__(self, host: str, model: str, *, known: Profile | None = None) -> None:
        self._host = host
        self._model = model
        self._read = _Figure(known.prompt_tokens_per_second if known else FIRST_PROMPT_SPEED)
        self._write = _Figure(known.output_tokens_per_second if known else FIRST_OUTPUT_SPEED)
        self._load = _Figure(known.load_seconds if known else FIRST_LOAD_SECONDS, slow_is_more=True)
        self._output = _Figure(FIRST_OUTPUT_TOKENS, slow_is_more=True)
        self._samples = known.samples if known else 0
        self._guessed = {"read", "write", "load", "output"} - ({"read", "write", "load"} if known else set())
        self._predictions = deque(known.predictions if known else (), maxlen=PREDICTIONS_KEPT)

    @property
    def reason(self) -> str:
        """Where the room comes from, for people."""
        if not self._samples:
            return f"{self._model} on {self._host} was never measured: a small first question, as for a machine without a GPU"
        return (
            f"{self._model} on {self._host} reads {self._read.value:.0f} and writes {self._write.value:.1f} tokens a second "
            f"({self._samples} answers measured)"
        )

    @property
    def usual_output(self) -> int:
        """Tokens that its answers take, pessimistic."""
        return round(self._output.value)

    @property
    def correction(self) -> float:
        """How much longer than predicted answers take, in [1, 4]: the median of what is remembered. Speeds follow a sudden
        change at once; this is for what they do not see, and a single slow answer does not move it."""
        if len(self._predictions) < PREDICTIONS_THAT_TELL:
            return 1.0
        return min(MOST_CORRECTION, max(1.0, median(real / predicted for predicted, real in self._predictions)))

    def predict(self, prompt_tokens: int, output_tokens: int, *, loaded: bool) -> float:
        """Seconds that such an answer will take."""
        return self._plain(prompt_tokens, output_tokens, loaded=loaded) * self.correction

    def room(self, seconds: float, output_tokens: int, *, loaded: bool) -> int:
        """Tokens of a whole prompt (frame and passages) that can be read, and ``output_tokens`` written, within
        SHARE_OF_TIME of ``seconds``, or the least there is for a slow machine. 0: not even that."""
        if not self._samples:
            return int(seconds * FIRST_TOKENS_PER_SECOND_OF_TIME)
        for_reading = seconds * SHARE_OF_TIME / self.correction - self._plain(0, output_tokens, loaded=loaded)
        planned = max(0, int(for_reading * self._read.value))
        if planned >= LEAST_PROMPT_TOKENS:
            return planned
        in_time = self.predict(LEAST_PROMPT_TOKENS, output_tokens, loaded=loaded) <= seconds * LEAST_SHARE_OF_TIME
        return LEAST_PROMPT_TOKENS if in_time else planned

    def learn(self, timings: Timings, *, predicted: float, real: float, loaded: bool) -> None:
        """An answer arrived. ``predicted`` is what ``predict`` said of it, ``real`` its seconds, ``loaded`` what was believed
        when it was asked."""
        raw = predicted / self.correction
        if raw > 0 and real > 0:
            self._predictions.append((raw, real))
        if timings.prompt_tokens >= TELLING_PROMPT_TOKENS and timings.prompt_seconds > 0:
            self._learn("read", self._read, timings.prompt_tokens / timings.prompt_seconds)
        if timings.output_tokens >= TELLING_OUTPUT_TOKENS and timings.output_seconds > 0:
            self._learn("write", self._write, timings.output_tokens / timings.output_seconds)
            self._learn("output", self._output, timings.output_tokens)
        elif "write" in self._guessed and timings.output_seconds > 0:
            # Overhead counts here, too: the model is at least so fast, and whoever finds nothing writes but a few tokens.
            self._write.learn(max(self._write.value, timings.output_tokens / timings.output_seconds), first=True)
        if not loaded or timings.load_seconds > self._load.value:
            self._learn("load", self._load, timings.load_seconds)
        self._samples += 1

    def timed_out(self, prompt_tokens: int, output_tokens: int, *, seconds: float, loaded: bool) -> None:
        """No answer came within ``seconds``: the model is at most as fast as would have needed just that long."""
        work = self._plain(prompt_tokens, output_tokens, loaded=True)
        load = 0.0 if loaded else self._load.value
        self._samples += 1
        if load + work >= seconds:
            return
        if not work or load >= seconds:
            self._load.no_better_than(seconds)
            return
        slowdown = (seconds - load) / work
        self._read.no_better_than(self._read.value / slowdown)
        self._write.no_better_than(self._write.value / slowdown)

    def profile(self) -> Profile:
        """What to keep for the next run."""
        return Profile(
            self._host,
            self._model,
            self._read.value,
            self._write.value,
            self._load.value,
            self._samples,
            tuple(self._predictions),
        )

    def pace(self, seat: str, seconds: float, *, loaded: bool) -> Pace:
        """What whoever deals out portions is told of this seat."""
        room = self.room(seconds, self.usual_output, loaded=loaded)
        return Pace(seat, self._model, self._read.value, self._write.value, 0.0 if loaded else self._load.value, room)

    def _plain(self, prompt_tokens: int, output_tokens: int, *, loaded: bool) -> float:
        load = 0.0 if loaded else self._load.value
        return load + prompt_tokens / self._read.value + output_tokens / self._write.value

    def _learn(self, name: str, figure: _Figure, value: float) -> None:
        figure.learn(value, first=name in self._guessed)
        self._guessed.discard(name)
