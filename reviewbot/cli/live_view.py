"""The live view drawn: a board as lines for a terminal. Every word that is not ours is made plain."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from reviewbot.cli.live_board import Asked, Board, Said
from reviewbot.publish import plain

_STANCES = {"support": ("●", "green"), "neutral": ("○", "yellow"), "oppose": ("✗", "red")}


def drawn(board: Board, now: float) -> RenderableType:
    """The whole view. No row is longer than the terminal is wide: what is too long ends in an ellipsis."""
    rows: list[RenderableType] = [_line(_head(board, now))]
    rows += [_line(Text.assemble((f"  {plain.line(stage)}: ", "dim"), plain.line(text))) for stage, text in board.stages.items()]
    if board.asked:
        rows.append(_asked(board, now))
    rows += [_line(_said(said)) for said in board.said]
    rows += [_line(words) for words in _votes(board)]
    return Group(*rows)


def _head(board: Board, now: float) -> Text:
    cap = f" of ${board.cap_usd:.2f}" if board.cap_usd is not None else ""
    calls = f"{board.calls} calls" + (f" ({board.replayed} replayed)" if board.replayed else "")
    facts = [f"{max(now - board.started, 0):.0f} s", f"{len(board.asked)} in flight", calls, f"${board.spent_usd:.4f}{cap}"]
    return Text.assemble(("reviewbot", "bold"), "  ", " · ".join(facts))


def _asked(board: Board, now: float) -> Table:
    table = Table.grid(padding=(0, 2))
    for _ in range(5):
        table.add_column(no_wrap=True, overflow="ellipsis")
    for asked in board.asked.values():
        table.add_row(*_question(asked, now))
    return table


def _question(asked: Asked, now: float) -> Iterator[Text]:
    yield Text(f"  {plain.line(asked.seat)}", style="bold")
    yield Text(plain.line(asked.model), style="dim")
    yield Text(plain.line(asked.phase), style="cyan")
    again = f" round {asked.round}" if asked.round > 1 else ""
    yield Text(f"{plain.line(asked.subject)}{again}")
    yield Text(f"{max(now - asked.since, 0):.0f} s", style="dim")


def _said(said: Said) -> Text:
    mark = ("✓ ", "green") if said.good else ("✗ ", "bold yellow")
    about = " ".join(plain.line(word) for word in (said.seat, said.phase, said.subject) if word)
    cost = "replayed" if said.replayed else f"${said.usd:.4f}"
    return Text.assemble(mark, (about, "bold"), f" {plain.line(said.words)}", (f"  {said.seconds:.1f} s {cost}", "dim"))


def _votes(board: Board) -> Iterator[Text]:
    for case, votes in board.votes.items():
        words = Text.assemble((f"  {plain.line(case)}", "bold"))
        for seat, stance in votes.items():
            mark, style = _STANCES.get(stance, ("–", "dim"))
            words.append(f"  {plain.line(seat)} ")
            words.append(mark, style=style)
        yield words


def _line(words: Text) -> Text:
    words.no_wrap, words.overflow = True, "ellipsis"
    return words
