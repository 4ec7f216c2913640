"""The option values of the stages, from the configuration and who sits on the panel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot import pipeline
from reviewbot.changeset.select import SelectOptions
from reviewbot.config import Configuration
from reviewbot.config.keys import PARSERS
from reviewbot.consensus.policy import PolicyOptions
from reviewbot.context import rules
from reviewbot.context.blocks import Parser, guessed
from reviewbot.debate.protocol import DebateOptions
from reviewbot.domain.audit import Rotation
from reviewbot.domain.evidence import Severity
from reviewbot.errors import ConfigError
from reviewbot.evidence import presets
from reviewbot.evidence.parsers.pattern import BadPattern
from reviewbot.evidence.view import Benchmark, CheckOptions, Custom
from reviewbot.ports import Rule
from reviewbot.wiring import outside

MOST_RULE_CHARACTERS = 24_000
"""Of all rule files and path rules together: every prompt carries them."""


SHARE_FOR_SUITE = 0.5
"""Of an audit's seconds: for one job, as a whole test suite is [design]."""

MOST_TEST_FILES = 5_000
"""Of a suite that an audit runs."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much thought a panel of models spends: rounds and disputes at most, whether deadlocks go before a moderator, steps of
    look-ups in an ask, tokens of context for a portion, findings that get a draft of a fix."""

    rounds: int
    disputes: int
    moderate: bool
    steps: int
    related_tokens: int
    drafts: int


EFFORTS = {
    "low": Effort(1, 3, moderate=False, steps=0, related_tokens=0, drafts=0),
    "medium": Effort(5, 50, moderate=True, steps=4, related_tokens=4_000, drafts=0),
    "high": Effort(5, 50, moderate=True, steps=8, related_tokens=8_000, drafts=5),
}
"""``low`` is first passes, a vote and one check of what is disputed. ``medium`` is what ``debate.*`` says. ``high`` also looks
further and drafts replacements [design]."""


def effort_of(configuration: Configuration) -> Effort:
    """The effort that is configured. What somebody set by hand is not cut by it."""
    effort = EFFORTS[configuration.get("debate.effort", str)]
    if configuration.origin("debate.rounds") != "default":
        effort = replace(effort, rounds=configuration.get("debate.rounds", int))
    if configuration.origin("debate.max_disputes") != "default":
        effort = replace(effort, disputes=configuration.get("debate.max_disputes", int))
    return effort


def options_of(configuration: Configuration, *, execute: bool = True) -> pipeline.Options:
    """For the static panel: it has no window and costs nothing."""
    criteria = tuple((name, configuration.get(f"debate.criteria.{name}", int)) for name, _ in DebateOptions().criteria)
    checks = configuration.records("checks")
    presets = tuple(dict.fromkeys(str(check["preset"]) for check in checks if "preset" in check))
    required = tuple(str(check.get("preset") or check.get("name")) for check in checks if check.get("required"))
    seconds = configuration.get("limits.seconds", float)
    default_checks = CheckOptions()
    ignored = (glob for folder in configuration.folders for glob in folder.ignore)
    return pipeline.Options(
        selection=SelectOptions(ignore=(*configuration.texts("review.ignore"), *ignored)),
        checks=replace(
            default_checks,
            execute=execute,
            presets=presets,
            custom=tuple(_custom(check) for check in checks if "run" in check),
            benchmarks=tuple(_benchmark(record) for record in configuration.records("benchmarks")),
            required=required,
            seconds=min(default_checks.seconds, seconds),
        ),
        debate=DebateOptions(
            criteria=criteria,
            rounds=configuration.get("debate.rounds", int),
            round_seconds=configuration.get("debate.round_seconds", float),
            max_disputes=configuration.get("debate.max_disputes", int),
        ),
        policy=PolicyOptions(
            posting=configuration.get("debate.posting", str),
            min_severity=Severity[configuration.get("review.min_severity", str).upper()],
        ),
        budget_tokens=_token_budget(configuration),
        seconds=seconds,
        repair=_repair(configuration),
    )


def _repair(configuration: Configuration) -> pipeline.RepairOptions:
    """Whether and how code is made for findings. Models answer in the time of a round."""
    return pipeline.RepairOptions(
        is_on=configuration.get("fix.mode", str) != "off",
        attempts=configuration.get("fix.attempts", int),
        most=configuration.get("fix.most", int),
        seconds=configuration.get("fix.seconds", float),
        answer_seconds=configuration.get("debate.round_seconds", float),
        opened=configuration.texts("fix.open"),
        unproven=configuration.get("fix.unproven", bool),
        parser=_faults,
    )


def _faults(path: str, content: bytes) -> int | None:
    """The syntax errors of a file, where the library with the grammars is installed. It is loaded when a fix is judged, and not
    before."""
    try:
        from reviewbot.context.grammar import faults
    except ModuleNotFoundError:
        return None
    return faults(path, content)


def for_audit(plain: pipeline.Options, rotation: Rotation) -> pipeline.Options:
    """The same for the whole of a trusted tree: its own words about generated files count, all of its tests are run, and they get
    half of the review's time."""
    seconds = max(plain.checks.seconds, plain.seconds * SHARE_FOR_SUITE)
    return replace(
        plain,
        selection=replace(plain.selection, is_trusted=True),
        checks=replace(plain.checks, seconds=min(seconds, plain.seconds), max_tests=MOST_TEST_FILES),
        rotation=rotation,
    )


def parser() -> Parser:
    """What tells functions and classes of a file: its grammar where the library is installed, else a look at its lines."""
    try:
        from reviewbot.context.grammar import parsed
    except ModuleNotFoundError:
        return guessed
    return parsed


def rules_for(configuration: Configuration, files: Iterable[tuple[str, str]]) -> tuple[Rule, ...]:
    """What the repository asks of changes: its rule files ``(name, text)``, and its rules for some paths, those of folders last.
    Together at most ``MOST_RULE_CHARACTERS``."""
    found = [Rule(name, text) for name, text in files]
    found += [_path_rule(rule["path"], rule["instructions"]) for rule in configuration.records("review.path_rules")]
    found += [_path_rule(glob, words) for folder in configuration.folders for glob, words in folder.path_rules]
    return rules.fitted(found, MOST_RULE_CHARACTERS)


def _path_rule(glob: object, words: object) -> Rule:
    return Rule(f"for files that match {glob}", str(words))


def _custom(check: Mapping[str, object]) -> Custom:
    """A check of the user's own. Raises ConfigError for an expression, or a parser of another package, that cannot be used."""
    pattern = str(check.get("pattern", ""))
    parser = str(check.get("parser") or ("regex" if pattern else "exit-code"))
    if (parser == "regex") != bool(pattern):
        raise ConfigError(f"checks: {check['name']}: parser regex and a pattern belong together", hint="give both or neither")
    custom = Custom(
        str(check["name"]),
        _texts(check["run"]),
        parser,
        pattern,
        str(check.get("report", "")),
        _texts(check.get("files", ("*",))),
        outside=None if parser in PARSERS else outside.parser(parser),
    )
    try:
        presets.custom.check(custom)
    except BadPattern as exc:
        raise ConfigError(f"checks: {custom.name}: {exc}", hint="name the groups path and line in it") from exc
    return custom


def _benchmark(record: Mapping[str, object]) -> Benchmark:
    return Benchmark(
        str(record["name"]),
        _texts(record["run"]),
        str(record["parser"]),
        str(record.get("report", "")),
        profile=_texts(record.get("profile", ())),
        profile_format=str(record.get("profile_format", "stacks")),
        profile_report=str(record.get("profile_report", "")),
    )


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, tuple) else ()


def _token_budget(configuration: Configuration) -> int | None:
    """The static panel has no window: only a limit that somebody set bounds what it is shown."""
    setting = configuration.setting("limits.tokens")
    return None if setting.origin == "default" else configuration.get("limits.tokens", int)
