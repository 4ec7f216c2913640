"""Experiments and what they showed, read back. A name that is not the experiment's own answers nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reviewbot.domain.change import Revisions
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
from reviewbot.ports import Draft, Experiment, Verification
from reviewbot.publish import load_target
from reviewbot.publish.document_proof import PENDING, proof_name
from reviewbot.publish.load_evidence import check
from reviewbot.publish.node import Kind, Node, root

EXPERIMENTS = Kind("document of experiments", "write it with 'reviewbot debate --await-runner'", 16_000_000)
VERIFICATIONS = Kind("document of verifications", "write it with 'reviewbot collect --experiments FILE'", 32_000_000)
FIELDS = "name subject check path start_line line fix"


def load_experiments(text: str | bytes, about: Revisions) -> tuple[Experiment, ...]:
    """What a debate about this change wants to have run. Raises UsageError with the JSON path."""
    at = root(text, EXPERIMENTS).fields("schema_version conclusion target experiments")
    at["schema_version"].version()
    at["conclusion"].one_of((PENDING,))
    load_target.expect(at["target"], load_target.read(at["target"]), about)
    return _once(at["experiments"], at["experiments"].each(_experiment))


def load_verifications(text: str | bytes, about: Revisions) -> tuple[tuple[Experiment, Verification], ...]:
    """What experiments about this change showed. Raises UsageError with the JSON path."""
    at = root(text, VERIFICATIONS).fields("schema_version target verifications")
    at["schema_version"].version()
    load_target.expect(at["target"], load_target.read(at["target"]), about)
    found = at["verifications"].each(_verification)
    _once(at["verifications"], tuple(wanted for wanted, _ in found))
    return found


def _once(node: Node, wanted: tuple[Experiment, ...]) -> tuple[Experiment, ...]:
    if len({proof_name(one) for one in wanted}) != len(wanted):
        raise node.wrong("every experiment is given once")
    return wanted


def _experiment(node: Node) -> Experiment:
    at = node.fields(FIELDS)
    check = at["check"].fields("kind command subject source author evidence")
    made = Check(
        command=check["command"].texts(),
        source=check["source"].text(),
        subject=check["subject"].text(),
        evidence=check["evidence"].texts(),
        kind=check["kind"].word(CheckKind),
        author=check["author"].text(),
    )
    return _named(at, made)


def _verification(node: Node) -> tuple[Experiment, Verification]:
    at = node.fields(f"{FIELDS} excerpt fixed")
    at["check"].fields("kind command subject source author outcome evidence output")
    ran = check(at["check"])
    wanted = replace(ran, outcome=CheckOutcome.NOT_RUN, output="")
    return _named(at, wanted), Verification(ran, at["excerpt"].text(), at["fixed"].maybe(Node.truth))


def _named(at: Mapping[str, Node], made: Check) -> Experiment:
    """The experiment of a record. Raises UsageError where its name is another's."""
    wanted = Experiment(
        at["subject"].text(),
        made,
        at["path"].path_inside(),
        at["start_line"].count(),
        at["line"].count(),
        at["fix"].maybe(_fix),
    )
    if at["name"].text() != proof_name(wanted):
        raise at["name"].wrong("it is not the name of this experiment")
    return wanted


def _fix(node: Node) -> Draft:
    at = node.fields("path start_line line replacement explanation")
    return Draft(
        at["path"].path_inside(),
        at["start_line"].count(),
        at["line"].count(),
        at["replacement"].text(),
        at["explanation"].text(),
    )
