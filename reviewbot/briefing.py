"""What lies before the panel: the change in portions, each with what the rest of the tree says about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from reviewbot.changeset import portion
from reviewbot.context import mentions, names, related
from reviewbot.context.blocks import Parser, guessed
from reviewbot.context.mentions import Mention, Spoken
from reviewbot.debate.papers import Papers
from reviewbot.errors import GitError
from reviewbot.ports import Dossier, Objects, Passage, Related, Search

MOST_HITS = 20_000
"""Lines of the tree that are looked at, over all portions."""

MOST_FILES = 40
"""Files of which context is taken, for a portion."""

LARGEST_FILE = 1_000_000
"""Bytes of such a file."""


@dataclass(frozen=True, slots=True)
class BriefingOptions:
    """Tokens of a portion (``None``: one portion), of one for local models (``None``: as for the others), and of the context of
    a portion. ``parser`` finds functions and classes in a file."""

    portion_tokens: int | None = None
    small_tokens: int | None = None
    related_tokens: int = 0
    parser: Parser = field(default=guessed, repr=False)


@dataclass(frozen=True, slots=True)
class Library:
    """The head tree, to look things up in: ``blobs`` are object ids by path."""

    objects: Objects
    search: Search
    tree: str
    blobs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Division:
    """The change as it is shown: all ``passages``, in portions with the ``context`` of each, and once more in ``small`` ones."""

    passages: tuple[Passage, ...]
    whole: tuple[tuple[Passage, ...], ...]
    context: tuple[tuple[Related, ...], ...]
    small: tuple[tuple[Passage, ...], ...]


def divided(passages: tuple[Passage, ...], library: Library | None, *, options: BriefingOptions) -> Division:
    """Everything that can be laid out before the evidence is in."""
    whole = _divided(passages, options.portion_tokens)
    small = _divided(passages, options.small_tokens) if options.small_tokens else ()
    return Division(passages, whole, _context(whole, library, options), small)


def papers(common: Dossier, division: Division) -> Papers:
    """Every portion as a dossier that is like ``common`` but for its passages and their context."""
    whole, small = division.whole, division.small
    return Papers(
        tuple(
            replace(common, passages=part, portion=f"P{number}", of=len(whole), related=beside)
            for number, (part, beside) in enumerate(zip(whole, division.context, strict=True), 1)
        ),
        tuple(replace(common, passages=part, portion=f"L{number}", of=len(small)) for number, part in enumerate(small, 1)),
    )


def _divided(passages: tuple[Passage, ...], tokens: int | None) -> tuple[tuple[Passage, ...], ...]:
    return (passages,) if tokens is None else portion.divide(passages, tokens) or ((),)


def _context(
    portions: Sequence[tuple[Passage, ...]], library: Library | None, options: BriefingOptions
) -> tuple[tuple[Related, ...], ...]:
    """Definitions, callers and tests of what each portion changes. The tree is searched once for all of them."""
    if library is None or not options.related_tokens:
        return ((),) * len(portions)
    wanted = [names.wanted(part) for part in portions]
    words = tuple(dict.fromkeys(word for some in wanted for word in some.words))
    try:
        hits = library.search.find(library.tree, words, whole=True, most=MOST_HITS) if words else ()
    except GitError:
        # A tree so large that a search of it runs out of time: the change is read without context.
        return ((),) * len(portions)
    spoken = mentions.read(hits, words)
    return tuple(
        _beside(part, some, spoken, library=library, options=options) for part, some in zip(portions, wanted, strict=True)
    )


def _beside(
    part: tuple[Passage, ...], some: names.Names, spoken: Spoken, *, library: Library, options: BriefingOptions
) -> tuple[Related, ...]:
    found = mentions.found(spoken, some, part)
    return related.related(found, _texts(found, library), part, budget_tokens=options.related_tokens, parser=options.parser)


def _texts(found: tuple[Mention, ...], library: Library) -> dict[str, bytes]:
    texts = {
        path: library.objects.blob(library.blobs[path]) for path in mentions.paths(found)[:MOST_FILES] if path in library.blobs
    }
    return {path: text for path, text in texts.items() if len(text) <= LARGEST_FILE}
