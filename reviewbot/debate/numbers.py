"""Every number of the debate, with its source, so that a calibration can replace it.

Sources: [stored claims] agreement of commercial reviewers against later human judgement, as quoted in the protocol's design
(1 of 3 real ~0.20, 2 of 3 ~0.58, 3 of 3 ~0.88); [design] a choice of the protocol, not yet measured.
"""

from __future__ import annotations

PRIORS: dict[int, tuple[float, ...]] = {
    1: (0.40,),
    2: (0.30, 0.75),
    3: (0.20, 0.58, 0.88),
    5: (0.10, 0.36, 0.64, 0.85, 0.95),
}
"""P(claim is real) when k of n raised it blindly: ``PRIORS[n][k - 1]``. n = 3 [stored claims], the others [design]."""

CLIP = (0.05, 0.95)
"""No single voice is believed beyond this [design]."""

CORRELATION_ONE_FAMILY = 0.5
"""Weight of votes when all voters are of one model family: their errors coincide [design]."""

LOG_ODDS_CALL_PATH_QUOTED = 0.7
LOG_ODDS_CONTRADICTED = -2.0
LOG_ODDS_GREEN_SUITE = -0.5
LOG_ODDS_NONE_FOUND = -1.0
LOG_ODDS_NO_TRIGGER = -1.0
"""What a fact adds to the log-odds of a claim [design]."""

FLOOR_PROVEN = 0.95
FLOOR_TOOL_RESULT = 0.80
"""Probabilities that words cannot lower: an executed check that fails at head and passes at base; a new result of a linter or
type checker with that rule on that line [design]."""

FLOOR_CERTAIN_RESULT = 0.90
"""The same where the language leaves the tool no other reading: code that cannot be parsed, an assertion that is always true, a
key in a provider's own format. The protocol's design has one floor for all rules; at 0.80 none of these could ever block
[design]."""

SETTLED_BELOW = 0.10
SETTLED_ABOVE = 0.90
STILL = 0.10
"""A case is settled outside (0.10, 0.90), and talked out when a round moved it by less than 0.10 [design]."""

DEADLOCK = (0.35, 0.65)
"""Between these a case is open after the last round [design]."""

LOG_ODDS_MODERATOR = 1.5
"""What a moderator's word adds to or takes from a deadlocked claim, given twice with the cases in swapped order: enough to
carry the middle of the deadlock over the posting level, never over a floor or to a block without executed evidence [design]."""

MOST_CHECKS = 3
"""Checks that are run for one claim at most, those that decided nothing included [design]."""

CLUSTER_LINES = 3
"""Claims this many lines apart can be about one thing [design]."""

CLUSTER_SIMILARITY = 0.3
"""Share of common words from which two texts about neighbouring lines are about one thing [design]."""

NEIGHBOURHOOD = 3
"""A claim may sit this many lines outside what was shown as changed [design]."""

MOST_PORTIONS_ASKED = 3
"""Portions of a large change that are read for one question, those first that it mentions most [design]."""

TOLD_BEFORE = 0.75
ASKED_BEFORE = 0.50
"""What is believed of a finding of which only is remembered that it was told, or put as a question [design]."""

SURE = (0.01, 0.99)
"""No finding is held so sure that an argument could not move it [design]."""

WITHDRAWAL = 0.10
"""What a raiser who takes a finding back, citing what exists, is held to believe of it [design]."""

WITHDRAWN_BELOW = 0.35
"""A disputed finding is given up below: under the deadlock nobody would have put it as a question [design]."""

CRITERIA: tuple[tuple[str, int], ...] = (
    ("correctness", 5),
    ("security", 5),
    ("performance", 3),
    ("maintainability", 3),
    ("tests", 2),
)
"""The weights of the criteria in the policy that every panelist sees [design]."""


def prior(support: int, seats: int) -> float:
    """P(real) when ``support`` of ``seats`` raised a claim blindly.

    A table that is not listed is read from the nearest smaller one by the share of support.
    """
    size = max((n for n in PRIORS if n <= seats), default=1)
    row = PRIORS[size]
    index = -(-support * size // seats) - 1
    return row[min(max(index, 0), size - 1)]
