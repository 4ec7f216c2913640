"""reviewbot: reviews a change by debate over executed evidence.

``from reviewbot import review`` gives the library's one function, :func:`reviewbot.library.review`. It is imported when it is
first asked for (PEP 562), so that ``reviewbot --version`` and git hooks do not pay for it.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["Review", "__version__", "review"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from reviewbot.domain.review import Review
    from reviewbot.library import review


def __getattr__(name: str) -> object:
    if name == "review":
        from reviewbot.library import review

        return review
    if name == "Review":
        from reviewbot.domain.review import Review

        return Review
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
