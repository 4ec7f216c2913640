"""The code around the mentions, cut out, screened and fitted into a budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reviewbot.context.blocks import Block, Parser, guessed, innermost
from reviewbot.context.mentions import Mention
from reviewbot.domain.tokens import BYTES_PER_TOKEN
from reviewbot.ports import Passage, Related
from reviewbot.screen import shown

SMALL_BLOCK = 30
"""Lines: a function of this size is shown whole."""
AROUND = 5
"""Lines on either side of a call in a larger one."""
LARGEST_FILE = 600_000
TOKENS_PER_LINE, TOKENS_PER_PASSAGE = 3, 25


def related(
    mentions: Sequence[Mention],
    texts: Mapping[str, bytes],
    passages: Sequence[Passage],
    *,
    budget_tokens: int,
    parser: Parser = guessed,
) -> tuple[Related, ...]:
    """What of ``mentions`` fits into ``budget_tokens``, in their order; what is too large gives way to the next that fits.

    ``texts`` are the contents of ``mentions.paths``. No line is shown twice, and none that ``passages`` show.
    """
    pages: dict[str, _File] = {}
    taken: list[Related] = []
    for mention in mentions:
        content = texts.get(mention.path)
        if content is None or len(content) > LARGEST_FILE:
            continue
        if mention.path not in pages:
            pages[mention.path] = _File(mention.path, content, passages, parser=parser)
        file = pages[mention.path]
        passage = file.passage(mention)
        if passage is not None and (price := _tokens(passage)) <= budget_tokens:
            budget_tokens -= price
            file.show(passage)
            taken.append(Related(mention.relation, shown.text(mention.symbol), passage))
        if budget_tokens < TOKENS_PER_PASSAGE:
            break
    return tuple(taken)


class _File:
    """One file that is mentioned: its lines as shown, its blocks, and which lines somebody has seen."""

    def __init__(self, path: str, content: bytes, passages: Sequence[Passage], *, parser: Parser) -> None:
        self._path = path
        self._lines = shown.whole(content)
        found = parser(path, content)
        self._blocks = guessed(path, content) if found is None else found
        self._seen = {number for passage in passages if passage.path == path for number in _numbers(passage)}

    def passage(self, mention: Mention) -> Passage | None:
        """What to show of a mention; ``None`` where its line is seen already or is not there."""
        line = mention.line
        if line in self._seen or line > len(self._lines):
            return None
        block = self._block(mention)
        start, end = _window(block, mention)
        while start < line and (start < 1 or any(number in self._seen for number in range(start, line))):
            start += 1
        end = (
            next((number for number in range(line + 1, end + 1) if number in self._seen or number > len(self._lines)), end + 1)
            - 1
        )
        name = shown.text(block.name) if block else ""
        return Passage(self._path, start, self._lines[start - 1 : end], frozenset(), name)

    def show(self, passage: Passage) -> None:
        """From now on these lines are seen."""
        self._seen.update(_numbers(passage))

    def _block(self, mention: Mention) -> Block | None:
        if mention.relation == "definition":
            own = (block for block in self._blocks if block.name == mention.symbol and block.start <= mention.line <= block.end)
            return max(own, key=lambda block: block.start, default=None)
        return innermost(self._blocks, mention.line)


def _window(block: Block | None, mention: Mention) -> tuple[int, int]:
    """First and last line: a small block whole, of a large definition the beginning, else some lines around."""
    line = mention.line
    if block is None:
        return line - AROUND, line + AROUND
    if block.end - block.start < SMALL_BLOCK:
        return block.start, block.end
    if mention.relation == "definition":
        return block.start, max(line, block.start + SMALL_BLOCK - 1)
    return max(block.start, line - AROUND), min(block.end, line + AROUND)


def _numbers(passage: Passage) -> Iterator[int]:
    return iter(range(passage.start, passage.start + len(passage.lines)))


def _tokens(passage: Passage) -> int:
    size = sum(len(line.encode("utf-8", "replace")) for line in passage.lines)
    return TOKENS_PER_PASSAGE + TOKENS_PER_LINE * len(passage.lines) + int((size + len(passage.path)) / BYTES_PER_TOKEN)
