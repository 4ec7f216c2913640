"""How much is asked about a change and who reads what, decided before panelists are asked.

At what effort, `--dry-run` prints. Local models read as much as they can in time.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.project import Project
from reviewbot.config.settings import Effort
from reviewbot.context.brief import PROSE, Brief
from reviewbot.debate import prompts
from reviewbot.debate.panel import Briefs, Panel, Panelist, Question
from reviewbot.debate.reader import FileAnswer, reader_of
from reviewbot.git.change import Change, Location
from reviewbot.llm.client import BYTES_A_TOKEN
from reviewbot.llm.prices import Pace
from reviewbot.llm.provider import ModelRequest, Usage
from reviewbot.text.files import classify

ROUNDS: Mapping[Effort, int] = {"auto": 1, "low": 0, "medium": 1, "high": 2}
SMALL_LINES = 120  # added and removed lines of source files
# More portions than these are read by one panelist each.
SHARED_PORTIONS = 2
# Names and words of what goes wrong badly, or where tests rarely look.
# In lower case: to ignore it takes a pattern four times as long.
RISKS: Mapping[str, re.Pattern[str]] = {
    "security": re.compile(
        r"auth|passw|secret|token|crypt|permission|sanitiz|escap|csrf|cors|cookie|session"
        r"|subprocess|shell|exec\(|eval\(|pickle|deserializ|innerhtml|\bsql\b|select .{,1000} from"
    ),
    "concurrency": re.compile(
        r"\b(?:async|await|thread\w*|lock|mutex|semaphore|atomic\w*|concurren\w*|parallel\w*"
        r"|goroutine|chan|go func|synchronized|volatile|transaction\w*)\b"
    ),
}
MIGRATION = re.compile(r"(?:^|/)migrations?/|\.sql$", re.IGNORECASE)
# A removed line that defines something others may use.
DIRECTIVE = re.compile(r"\s*(?:#[\w\[]|\*\w)")  # such as #define, #[allow(…)] and *pointer
PUBLIC = re.compile(
    r"(?:export |pub |public )|(?:def|class) [A-Za-z]|func (?:\([^)]*\) )?[A-Z]|type [A-Z]"
)
# Of the time of a review, for the first pass of one panelist: judging comes after it.
SHARE = 0.4
NOT_ASKED = f"is not asked: it has {SHARE:.0%} of limits.seconds"


class Plan(Struct, frozen=True, kw_only=True):
    """Who reads what, and how long it is debated.

    Attributes:
        reasons: why the panel is asked, or why one panelist is enough.
        readers: names of the panelists who read each brief, by the brief's name.
        own: briefs with the names of the panelists who read, and judge, only what is in them;
            None for one who reads nothing.
        rounds: of cross-examination. Without any, nobody rules on what stays contested.
        only_serious: only serious and security cases are cross-examined.
        forecasts: what is expected of local panelists, a clause each, by their names.
        earlier: what earlier reviews reported on lines that are read again, by its title.
    """

    effort: Effort = "high"
    reasons: tuple[str, ...] = ()
    briefs: Briefs
    readers: Mapping[str, tuple[str, ...]] = {}
    own: Mapping[str, Brief | None] = {}
    rounds: int = 2
    only_serious: bool = False
    forecasts: Mapping[str, str] = {}
    earlier: Sequence[tuple[Location, str]] = ()

    def is_shown(self, place: Location | None, panelist: str) -> bool:
        """Whether a panelist may be asked about a place."""
        own = self.briefs_of(panelist)
        return panelist not in self.own or any(place and b.shows(str(place)) for b in own)

    def briefs_of(self, panelist: str) -> Briefs:
        """Those that a panelist may be asked about."""
        return [b for b in [self.own[panelist]] if b] if panelist in self.own else self.briefs


def make_plan(
    change: Change, project: Project, briefs: Briefs, panel: Sequence[str], effort: Effort
) -> Plan:
    """The plan of a review. `panel` are the names of the panelists.

    low: one panelist, no debate. medium: the panel, one round about what is serious. high: the
    panel, two rounds about everything. auto: the panel as with high where the change is risky, else
    one panelist, and the others judge what that one finds serious.
    """
    reasons = tuple(risks_of(change, project)) if panel else ()
    is_calm = effort == "auto" and not reasons
    is_shared = effort != "low" and not is_calm and len(briefs) <= SHARED_PORTIONS
    readers = {brief.name: tuple(panel) for brief in briefs}
    for brief in briefs if panel and not is_shared else ():
        # One panelist for each portion of a large change: the same for as long as its name is.
        number = int.from_bytes(hashlib.sha256(brief.name.encode()).digest()[:4])
        readers[brief.name] = (panel[number % len(panel) if len(briefs) > 1 else 0],)
    return Plan(
        effort=effort,
        reasons=reasons,
        briefs=briefs,
        readers=readers,
        rounds=ROUNDS[effort],
        only_serious=effort == "medium" or is_calm,
    )


def risks_of(change: Change, project: Project) -> Iterator[str]:
    """Why one panelist is not enough, a few words each. Comments are no risk."""
    sources = [file for file in change.files if classify(file.path) == "source"]
    code = {file.path: list[str]() for file in sources}
    for path, hunk in ((file.path, hunk) for file in sources for hunk in file.hunks):
        changed = (line.text for line in hunk.lines if line.is_changed and line.text.strip())
        code[path] += (text for text in changed if DIRECTIVE.match(text) or not PROSE.match(text))
    sources = [file for file in sources if code[file.path] or not file.hunks]
    if (lines := sum(map(len, code.values()))) > SMALL_LINES:
        yield f"size: {lines} changed lines of source"
    texts = {file.path: "\n".join((file.path, *code[file.path])).lower() for file in sources}
    for name, words in RISKS.items():
        if path := next((path for path, text in texts.items() if words.search(text)), ""):
            yield f"{name}: {path}"
    if path := next((file.path for file in change.files if MIGRATION.search(file.path)), ""):
        yield f"migration: {path}"
    removed = ((f.path, text) for f in sources for h in f.hunks for text in h.removed.values())
    if path := next((path for path, text in removed if PUBLIC.match(text.lstrip("\t "))), ""):
        yield f"public API: {path}"
    paths = project.head_files | {file.path for file in change.files}
    for file in sources:
        stem = file.path.rpartition("/")[2].split(".")[0].strip("_").lower()
        named = (path for path in paths if stem in path.lower())
        if file.hunks and not any(classify(path) == "test" for path in named):
            yield f"no tests: {file.path}"
            break


async def delegate(plan: Plan, panel: Panel, paces: Mapping[str, Pace], seconds: float) -> Plan:
    """Give local panelists, who have `paces`, what they can read in their share of the seconds.

    A strong model chooses it.
    """
    strong = [panelist for panelist in panel.panelists if panelist.name not in paces]
    # Without its answer, nothing is missing in the review.
    chooser = Panel(strong[:1], panel.client, panel.toolbox)
    readers, owns, forecasts = dict(plan.readers), dict(plan.own), dict(plan.forecasts)
    for panelist in panel.panelists:
        name, pace = panelist.name, paces.get(panelist.name)
        mine = [brief for brief in plan.briefs if name in readers[brief.name]]
        if not mine or not pace:
            continue
        capacity = pace.readable(SHARE * seconds)
        tokens = sum(len(prompts.shared_prefix(brief)) for brief in mine) // BYTES_A_TOKEN
        sizes = Counter[str]()
        for passage in (passage for brief in mine for passage in brief.passages):
            sizes[passage.path] += sum(map(len, passage.rows)) // BYTES_A_TOKEN + 1
        chosen = list(sizes)
        if tokens > capacity:
            chosen, tokens = [], 0
            for path in await _choose(panelist, chooser, pace, capacity, sizes, mine[0]):
                if sizes[path] + tokens <= capacity:
                    chosen.append(path)
                    tokens += sizes[path]
            # A part that only this panelist would have read goes to somebody else.
            others = {key: tuple(n for n in names if n != name) for key, names in readers.items()}
            readers = {key: names or chooser.names for key, names in others.items()}
            owns[name] = None
            if chosen:
                readers[name] = (name,)
                fields = ("passages", "background", "results")
                of_all = {n: tuple(x for brief in mine for x in getattr(brief, n)) for n in fields}
                owns[name] = replace(mine[0], name=name, callers=(), **of_all).narrowed(chosen)
        forecasts[name] = (
            f"{name} ({panelist.provider}:{panelist.model}) reads {pace.read:.0f} tokens a second,"
            f" so it was given {len(chosen)} of {len(sizes)} files ({tokens} tokens): "
            f"{pace.seconds(tokens):.0f} s were expected"
        )
    return replace(plan, readers=readers, own=owns, forecasts=forecasts)


def describe_local(plan: Plan, calls: Sequence[tuple[ModelRequest, Usage]]) -> Iterator[str]:
    """How long local panelists took, beside what was expected, a sentence each."""
    for name, said in plan.forecasts.items():
        own = [usage for request, usage in calls if request.label.startswith(f"{name}/first_pass")]
        seconds = sum(u.load_seconds + u.input_seconds + u.output_seconds for u in own)
        end = f"took {seconds:.0f} s" if own else "did not answer"
        yield f"{said}, and it {end if plan.own.get(name, True) else NOT_ASKED}."


async def _choose(
    panelist: Panelist, chooser: Panel, pace: Pace, capacity: int, sizes: Counter[str], brief: Brief
) -> list[str]:
    """Paths in the order in which they are given; without a choice, the smallest come first."""
    rest = sorted(sizes, key=lambda path: (sizes[path], path))
    numbers = {"pace": pace, "capacity": capacity, "sizes": sizes}
    text = prompts.render("delegation", panelist=panelist, **numbers)
    short = replace(brief, passages=(), background=(), callers=(), results=(), omissions={})
    phase = f"delegation/{panelist.name}"
    questions = [Question(name, phase, text, short) for name in chooser.names]
    answers = await chooser.ask(questions, reader_of("files", FileAnswer))
    wanted = [answer.path for _, files in answers for answer in files if answer.path in sizes]
    return list(dict.fromkeys((*wanted, *rest)))
