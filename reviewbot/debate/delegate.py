"""What panelists on the user's own hardware read: as much as they can in time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.context.brief import Brief
from reviewbot.debate import prompts
from reviewbot.debate.answers import FileAnswer
from reviewbot.debate.panel import Panel, Panelist, Question
from reviewbot.debate.plan import Plan
from reviewbot.debate.reader import read_items
from reviewbot.llm.client import BYTES_A_TOKEN
from reviewbot.llm.pace import Pace
from reviewbot.llm.provider import ModelRequest, Usage

# Of the time of a review, for the first pass of one panelist: judging comes after it.
SHARE = 0.4


class Delegated(Struct, frozen=True):
    """Briefs and plan in which slow panelists read briefs of their own.

    Attributes:
        forecasts: what is expected of local panelists, a clause each, by their names.
    """

    briefs: tuple[Brief, ...]
    plan: Plan
    forecasts: Mapping[str, str] = {}


async def delegate(
    briefs: Sequence[Brief],
    plan: Plan,
    panel: Panel,
    paces: Mapping[str, Pace],
    seconds: float,
) -> Delegated:
    """Give local panelists what they can read in time. A strong model chooses, if there is one.

    Args:
        paces: how fast local panelists are, by their names; others are not limited.
        seconds: the time of the whole review.
    """
    result = Delegated(tuple(briefs), plan)
    strong = [panelist for panelist in panel.panelists if panelist.name not in paces]
    for panelist in panel.panelists:
        if panelist.name in paces:
            result = await _limit(panelist, strong, panel, paces[panelist.name], seconds, result)
    return result


def describe_local(
    delegated: Delegated, calls: Sequence[tuple[ModelRequest, Usage]]
) -> Iterator[str]:
    """How long local panelists took, beside what was expected, a sentence each."""
    for name, said in delegated.forecasts.items():
        took = sum(
            usage.load_seconds + usage.input_seconds + usage.output_seconds
            for request, usage in calls
            if request.label.startswith(f"{name}/first_pass")
        )
        yield f"{said}, and it {f'took {took:.0f} s' if took else 'did not answer'}."


async def _limit(
    panelist: Panelist,
    strong: Sequence[Panelist],
    panel: Panel,
    pace: Pace,
    seconds: float,
    before: Delegated,
) -> Delegated:
    name, plan = panelist.name, before.plan
    mine = [brief for brief in before.briefs if name in plan.readers[brief.name]]
    capacity = pace.readable(SHARE * seconds)
    total = sum(len(prompts.shared_prefix(brief)) for brief in mine) // BYTES_A_TOKEN
    speed = f"{name} ({panelist.provider}:{panelist.model}) reads {pace.read:.0f} tokens a second"
    if not mine:
        return before
    if total <= capacity:
        said = f"{speed}: {pace.seconds(total):.0f} s were expected for {total} tokens"
        return replace(before, forecasts={**before.forecasts, name: said})
    sizes: dict[str, int] = {}
    for brief in mine:
        for passage in brief.passages:
            tokens = sum(map(len, passage.rows)) // BYTES_A_TOKEN + 1
            sizes[passage.path] = sizes.get(passage.path, 0) + tokens
    order = await _choose(panelist, strong, panel, pace, capacity, sizes, mine[0])
    chosen: list[str] = []
    for path in order:
        if sizes[path] + sum(sizes[other] for other in chosen) <= capacity:
            chosen.append(path)
    own = replace(
        mine[0],
        name=name,
        passages=tuple(p for brief in mine for p in brief.passages if p.path in chosen),
        background=tuple(p for brief in mine for p in brief.background if p.path in chosen),
        callers=(),
        omissions={},
    )
    readers = {key: tuple(n for n in names if n != name) for key, names in plan.readers.items()}
    # A part that only this panelist would have read goes to somebody else.
    for key, names in readers.items():
        if not names and strong:
            readers[key] = (strong[0].name,)
    tokens = sum(sizes[path] for path in chosen)
    said = (
        f"{speed}, so it was given {len(chosen)} of {len(sizes)} files ({tokens} tokens): "
        f"{pace.seconds(tokens):.0f} s were expected"
    )
    if chosen:
        readers[name] = (name,)
    plan = replace(plan, readers=readers, limited=(*plan.limited, name))
    briefs = (*before.briefs, own) if chosen else before.briefs
    return Delegated(briefs, plan, {**before.forecasts, name: said})


async def _choose(
    panelist: Panelist,
    strong: Sequence[Panelist],
    panel: Panel,
    pace: Pace,
    capacity: int,
    sizes: Mapping[str, int],
    brief: Brief,
) -> list[str]:
    """Paths in the order in which they are given; without a choice, the smallest come first."""
    rest = sorted(sizes, key=lambda path: (sizes[path], path))
    if not strong:
        return rest
    who = f"{panelist.provider}:{panelist.model}"
    seconds = round(pace.seconds(capacity))
    text = prompts.delegation(who, panelist.lens, pace, seconds, capacity, sizes)
    short = replace(brief, passages=(), background=(), callers=(), results=(), omissions={})
    question = Question(strong[0].name, f"delegation/{panelist.name}", text, short)
    answers = await panel.ask([question], _read)
    wanted = [answer.path for _, files in answers.given for answer in files if answer.path in sizes]
    return list(dict.fromkeys((*wanted, *rest)))


def _read(text: str) -> list[FileAnswer]:
    return read_items(text, "files", FileAnswer)[0]
