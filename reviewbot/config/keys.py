"""The table of every configuration key. The JSON Schema, the file that ``init`` writes and all checks come from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from reviewbot.config.kinds import Boolean, Choice, Kind, Listing, Number, Offered, Record, Text, Whole

#: The form of a name that the user chooses: a seat, a panel, a provider.
FREE_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"


#: The form of a file's name that the user chooses.
FREE_NAME_OF_A_FILE = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"


class Power(Enum):
    """Who may set a key."""

    ANYONE = "anyone"
    CEILING = "a repository file may lower it"
    RANKED = "a repository file may choose a word further to the left"
    OPERATOR = "a repository file may not set it"


@dataclass(frozen=True, slots=True)
class Key:
    """One key. ``*`` in the dotted name stands for a name that the user chooses."""

    name: str
    kind: Kind
    default: object
    text: str
    power: Power = Power.ANYONE

    @property
    def parts(self) -> tuple[str, ...]:
        """The dotted name, taken apart."""
        return tuple(self.name.split("."))

    def tightens(self, value: object, current: object) -> bool:
        """A repository file that says ``value`` where the operator has ``current`` may be followed."""
        if self.power is Power.OPERATOR:
            return False
        if self.power is Power.ANYONE or current is None:
            return True
        if self.power is Power.CEILING:
            assert isinstance(value, int | float)
            assert isinstance(current, int | float)
            return value <= current
        assert isinstance(self.kind, Choice)
        return self.kind.words.index(str(value)) <= self.kind.words.index(str(current))


PRESETS = (
    *(
        "ruff",
        "mypy",
        "pyright",
        "pytest",
        "go-vet",
        "go-test",
        "golangci-lint",
        "eslint",
        "tsc",
        "npm-test",
        "bash",
        "shellcheck",
    ),
    *("sqlfluff", "migrations", "zizmor", "actionlint", "hadolint"),
)
"""Checks that need no configuration. Each runs where the tree has something for it."""

PARSERS = (
    *("sarif", "rdjson", "rdjsonl", "checkstyle", "ruff", "mypy", "pyright", "eslint", "shellcheck", "gnu", "tsc", "regex"),
    *("hadolint", "zizmor", "actionlint", "sqlfluff", "junit", "tap", "go-test", "coverage-xml", "exit-code"),
)
"""Formats of reports that a command of the user's own may write."""

ADDED_PARSERS = "reviewbot.parsers"
"""Group of entry points by which other packages add further ones."""

_SEVERITY = ("low", "medium", "high", "critical")
_MODEL = Text("provider:model, or a provider alone", rf"{FREE_NAME}(?::\S+)?")
_ROLE = Text("a few words", r"[^\x00-\x1f\x7f]{1,60}")
_LENS = Text("a text of at most 4,000 characters", most=4_000)
_INSIDE = r"(?!/)(?!(?:.*/)?\.\.(?:/|$))[^\x00]+"
_LABEL = Text("a label of at most 50 characters, or nothing", r"[^\x00-\x1f\x7f,]{0,50}")
_PATH = Text("a path inside the repository", _INSIDE)
_URL = Text("an http or https address without credentials", r"https?://[^\s/@]+(?:/[^\s@]*)?")
_LEDGER = Text("a PostgreSQL address, or nothing for SQLite", r"(?:postgres(?:ql)?(?:\+psycopg)?://[^\s\x00]+)?", is_shown=False)
_DATABASE = Text("an address", r"(?:postgres(?:ql)?://|sqlite:///)[^\s\x00]+", is_shown=False)
_VARIABLE = Text("the name of an environment variable", r"[A-Za-z_][A-Za-z0-9_]{0,127}", is_shown=False)
_WINDOW = Whole(1_024, 10_000_000)
_USD_PER_MILLION = Number(0, 100_000)
_PRICE = Record(
    MappingProxyType(
        {
            "model": Text("provider:model", rf"{FREE_NAME}:\S+"),
            "input": _USD_PER_MILLION,
            "cached_input": _USD_PER_MILLION,
            "cache_write": _USD_PER_MILLION,
            "output": _USD_PER_MILLION,
        }
    ),
    required=("model", "input", "output"),
)
_CHECK = Record(
    MappingProxyType(
        {
            "preset": Choice(PRESETS),
            "name": Text("a name", FREE_NAME),
            "run": Listing(Text()),
            "parser": Offered(PARSERS, ADDED_PARSERS, FREE_NAME),
            "pattern": Text("a regular expression with the groups path and line", most=1_000),
            "report": Text("the name of a file that the command writes in {scratch}", FREE_NAME_OF_A_FILE),
            "files": Listing(Text()),
            "required": Boolean(),
        }
    ),
    either=("preset", "run"),
    together=MappingProxyType({"run": "name"}),
)
_PATH_RULE = Record(MappingProxyType({"path": Text(), "instructions": Text()}), required=("path", "instructions"))
_EVERY_PRESET = tuple(MappingProxyType({"preset": name}) for name in PRESETS)
_BENCHMARK = Record(
    MappingProxyType(
        {
            "name": Text("a name", FREE_NAME),
            "run": Listing(Text()),
            "parser": Choice(("pytest-benchmark", "hyperfine", "go-bench")),
            "report": Text("the name of a file that the command writes in {scratch}", FREE_NAME_OF_A_FILE),
            "profile": Listing(Text()),
            "profile_format": Choice(("stacks", "pprof")),
            "profile_report": Text("the name of a file that the profiler writes in {scratch}", FREE_NAME_OF_A_FILE),
        }
    ),
    required=("name", "run", "parser"),
)


def _seat(prefix: str) -> tuple[Key, ...]:
    return (
        Key(f"{prefix}.model", _MODEL, None, "who sits there, as provider:model"),
        Key(f"{prefix}.fallback", _MODEL, None, "who answers where that one cannot, as provider:model"),
        Key(f"{prefix}.role", _ROLE, None, "critic, reviewer, optimizer, or a role of your own"),
        Key(f"{prefix}.lens", _LENS, None, "what this seat looks for, in your own words"),
        Key(f"{prefix}.context_window", _WINDOW, None, "tokens that the model takes"),
    )


KEYS: tuple[Key, ...] = (
    Key("version", Whole(1, 1), 1, "version of this format"),
    *_seat("panel.*"),
    *_seat("moderator"),
    *_seat("panels.*.*"),
    Key("debate.criteria.correctness", Whole(0, 10), 5, "weight of correctness"),
    Key("debate.criteria.security", Whole(0, 10), 5, "weight of security"),
    Key("debate.criteria.performance", Whole(0, 10), 3, "weight of performance"),
    Key("debate.criteria.maintainability", Whole(0, 10), 3, "weight of maintainability"),
    Key("debate.criteria.tests", Whole(0, 10), 2, "weight of tests"),
    Key("debate.rounds", Whole(0, 5), 2, "rounds per disputed claim"),
    Key("debate.round_seconds", Number(1, 3_600), 120.0, "time-out of one round"),
    Key("debate.max_disputes", Whole(0, 50), 6, "claims that are debated; the rest is recorded"),
    Key("debate.posting", Choice(("precise", "balanced", "exhaustive")), "balanced", "how sure a finding must be"),
    Key("debate.effort", Choice(("low", "medium", "high")), "medium", "how much thought a panel of models spends"),
    Key("debate.tools", Boolean(), default=True, text="panelists may read files and search the tree"),
    Key("review.fail_on", Choice(("none", *_SEVERITY)), "none", "exit 1 for findings this bad or worse"),
    Key("review.min_severity", Choice(_SEVERITY), "low", "the least severity that is told"),
    Key("review.max_comments", Whole(0, 100), 10, "inline comments on a pull request"),
    Key("review.ignore", Listing(Text()), (), "globs of files that are not reviewed"),
    Key("review.instructions", Listing(_PATH), (), "files with rules, read from the base commit"),
    Key("review.rule_files", Boolean(), default=True, text="read AGENTS.md and its like, from the base commit"),
    Key("review.path_rules", Listing(_PATH_RULE), (), "rules for some paths"),
    Key("github.skip_label", _LABEL, "reviewbot:skip", "a pull request with this label is left alone", Power.OPERATOR),
    Key("github.review_label", _LABEL, "reviewbot:review", "this label has a pull request reviewed", Power.OPERATOR),
    Key("github.labels", Boolean(), default=False, text="say the verdict with labels, too"),
    Key("github.incremental", Boolean(), default=True, text="a push is reviewed for what is new in it"),
    Key("github.sticky_summary", Boolean(), default=True, text="one summary comment, edited in place"),
    Key("github.resolve_outdated", Boolean(), default=True, text="close own threads whose finding is gone"),
    Key("github.allow_approve", Boolean(), default=False, text="a review may approve", power=Power.OPERATOR),
    Key("github.allowed_bots", Listing(Text()), (), "bots whose pull requests are reviewed", Power.OPERATOR),
    Key("github.commands_per_hour", Whole(0, 1_000), 20, "commands on one pull request in an hour", Power.OPERATOR),
    Key("checks", Listing(_CHECK), _EVERY_PRESET, "what is run over both ends of the change, where it applies"),
    Key("benchmarks", Listing(_BENCHMARK), (), "commands that measure, run at both ends in turn"),
    Key("setup", Listing(Text()), (), "commands that prepare dependencies, with network, on the base's tree", Power.OPERATOR),
    Key("container.engine", Choice(("auto", "docker", "podman")), "auto", "what runs containers", Power.OPERATOR),
    Key(
        "container.image",
        Text("an image's name", r"[\w][\w./:@-]{0,255}"),
        None,
        "image with the project's tools",
        Power.OPERATOR,
    ),
    Key("container.runtime", Text("a runtime's name", FREE_NAME), None, "such as runsc", Power.OPERATOR),
    Key("tools.commands", Listing(Text()), (), "commands that panelists may run in the sandbox", Power.OPERATOR),
    Key("tools.extra", Listing(Text("a name", FREE_NAME)), (), "tools that installed packages add", Power.OPERATOR),
    Key("databases.*.url", _DATABASE, None, "postgresql://... or sqlite:///path, read only", Power.OPERATOR),
    Key("databases.*.url_env", _VARIABLE, None, "the environment variable with the address", Power.OPERATOR),
    Key("databases.*.queries", Listing(Text()), None, "the only queries that panelists may ask", Power.OPERATOR),
    Key("databases.*.seconds", Number(0.1, 600), None, "time-out of a query, 5 by default", Power.OPERATOR),
    Key("databases.*.rows", Whole(1, 100_000), None, "rows of a result, 200 by default", Power.OPERATOR),
    Key("fix.mode", Choice(("off", "suggest", "commit", "pull_request")), "off", "what becomes of fixes", Power.RANKED),
    Key("fix.attempts", Whole(1, 10), 2, "attempts per fix", Power.CEILING),
    Key("fix.most", Whole(0, 100), 5, "findings for which models write fixes; those of tools are not counted", Power.CEILING),
    Key("fix.seconds", Number(1, 86_400), 600.0, "seconds for fixes, after the review's own", Power.CEILING),
    Key("fix.unproven", Boolean(), default=False, text="write fixes that no check proves, too", power=Power.OPERATOR),
    Key("fix.open", Listing(Text()), (), "globs of protected files that fixes may change", Power.OPERATOR),
    Key(
        "sandbox",
        Choice(("none", "bubblewrap", "container", "auto", "unconfined")),
        "auto",
        "where code of the change runs",
        Power.RANKED,
    ),
    Key("limits.cost_usd", Number(0, 10_000), 0.50, "US dollars per review", Power.CEILING),
    Key("limits.seconds", Number(1, 86_400), 300.0, "seconds per review", Power.CEILING),
    Key("limits.tokens", Whole(1_000, 100_000_000), 400_000, "tokens per review", Power.CEILING),
    Key("hook.seconds", Number(1, 86_400), 120.0, "seconds for a whole push, or a commit, in a git hook", Power.CEILING),
    Key("prices", Listing(_PRICE), (), "US dollars per million tokens, before the shipped table", Power.OPERATOR),
    Key("ledger", _LEDGER, "", "where paid calls and debates are remembered", Power.OPERATOR),
    Key("providers.*.base_url", _URL, None, "where the provider answers", Power.OPERATOR),
    Key("providers.*.api_key_env", _VARIABLE, None, "the environment variable with its key", Power.OPERATOR),
    Key("providers.*.default_model", Text(), None, "the model where a spec names none"),
    Key("providers.*.max_output_tokens", Whole(1, 1_000_000), None, "tokens of one answer", Power.CEILING),
    Key("providers.*.concurrency", Whole(1, 1_000), None, "calls at the same time", Power.CEILING),
    Key("providers.*.rpm", Whole(1, 1_000_000), None, "requests per minute", Power.CEILING),
    Key("providers.*.tpm", Whole(1, 1_000_000_000), None, "tokens per minute", Power.CEILING),
    Key("providers.*.usd_per_hour", Number(0, 1_000), None, "price of an hour of a machine", Power.OPERATOR),
    Key("providers.*.local", Boolean(), None, "its tokens count as local; by default its address decides", Power.OPERATOR),
    Key("providers.*.allow_plain_http", Boolean(), None, "http beyond this machine", Power.OPERATOR),
    Key("display.color", Choice(("auto", "always", "never")), "auto", "colour on the terminal"),
    Key("display.live", Boolean(), default=True, text="a live view on a terminal"),
    Key("display.show_prompts", Boolean(), default=False, text="show what the panel is asked"),
)


def key_named(name: str) -> Key | None:
    """The key that a dotted name belongs to, ``*`` standing for any one part."""
    parts = name.split(".")
    for key in KEYS:
        if len(key.parts) == len(parts) and all(a in ("*", b) for a, b in zip(key.parts, parts, strict=True)):
            return key
    return None


def names_below(path: tuple[str, ...]) -> tuple[str, ...]:
    """What may stand directly below a path, ``*`` for any name; empty where nothing may."""
    depth = len(path)
    below = (
        key.parts[depth]
        for key in KEYS
        if len(key.parts) > depth and all(a in ("*", b) for a, b in zip(key.parts[:depth], path, strict=True))
    )
    return tuple(dict.fromkeys(below))
