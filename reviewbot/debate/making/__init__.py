"""Making code: what tools offer and models write for a task, tried in the sandbox, judged by those who did not write it.

``cycle`` knows the order; ``batch`` tries what tools offer, all at once, as ``splices`` join it; ``work`` is one task for which
models write, on a ``tree``, from ``sheets``, by the ``staff``; ``reply`` reads what they write, ``written`` holds it against the
files; ``jury`` judges a ``delta``; ``outcome`` says what became of it.
"""

from reviewbot.debate.making.cycle import DRAFT, Made, MakeOptions, Shop, make
from reviewbot.debate.making.outcome import stands

__all__ = ["DRAFT", "Made", "MakeOptions", "Shop", "make", "stands"]
