"""What is typed becomes one frozen value, and one target."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from reviewbot.cli.options import EFFORTS, FORMATS, SANDBOXES, SEVERITIES, ReviewArguments, review_options
from reviewbot.config.keys import key_named
from reviewbot.config.kinds import Choice
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import UsageError
from reviewbot.publish.formats import FORMATS as RENDERERS


def typed(*words: str) -> ReviewArguments:
    """The value that a command with the options of a review gets."""
    got: list[ReviewArguments] = []
    command = click.command()(review_options(lambda arguments: got.append(arguments) or 0))
    result = CliRunner().invoke(command, list(words), standalone_mode=False)
    if result.exception:
        raise result.exception
    return got[0]


def no_patch(name: str) -> bytes:
    raise AssertionError(f"{name} was read")


def test_nothing_typed_is_nothing_said():
    assert typed() == ReviewArguments()
    assert typed().overrides() == {}
    assert typed().chosen_target(no_patch) == Target(TargetKind.AUTO)


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["main..topic"], Target(TargetKind.RANGE, base="main", head="topic")),
        (["main...topic"], Target(TargetKind.MERGE_BASE, base="main", head="topic")),
        (["main.."], Target(TargetKind.RANGE, base="main", head="HEAD")),
        (["...topic"], Target(TargetKind.MERGE_BASE, base="HEAD", head="topic")),
        (["v1.0"], Target(TargetKind.COMMIT, head="v1.0")),
        (["--staged"], Target(TargetKind.STAGED)),
        (["--worktree"], Target(TargetKind.WORKTREE)),
        (["--base", "origin/main"], Target(TargetKind.MERGE_BASE, base="origin/main", head="HEAD")),
        (["--patch", "-"], Target(TargetKind.PATCH, patch=b"read from -")),
    ],
)
def test_every_form_of_a_target_is_understood(words: list[str], target: Target):
    assert typed(*words).chosen_target(lambda name: f"read from {name}".encode()) == target


@pytest.mark.parametrize("words", [["HEAD", "--staged"], ["--base", "x", "--patch", "y"], ["--staged", "--worktree"]])
def test_two_targets_exclude_each_other(words: list[str]):
    with pytest.raises(UsageError, match="exclude each other"):
        typed(*words).chosen_target(no_patch)


@pytest.mark.parametrize("words", [["--base", "-x"], ["--", "--output=x"], ["a..--upload-pack=x"], [""], ["--base", ""]])
def test_a_revision_that_git_would_read_as_an_option_is_refused(words: list[str]):
    with pytest.raises(UsageError, match="is not a revision"):
        typed(*words).chosen_target(no_patch)


def test_flags_override_configuration_under_their_own_names():
    said = typed("--fail-on", "high", "--timeout", "9", "--rounds", "0", "--sandbox", "none", "--color", "never").overrides()
    assert said["debate.rounds"] == (0, "--rounds")
    assert set(said) == {"review.fail_on", "limits.seconds", "debate.rounds", "sandbox", "display.color"}
    assert all(key_named(name) for name in said)


def test_who_sits_and_how_is_said_on_the_command_line():
    said = typed(
        "--panel", "big", "--model", "critic=openai:x", "--model", "ollama:q:1b", "--effort", "high", "--fresh", "--dry-run"
    )
    assert (said.panel, said.model, said.resume, said.dry_run) == ("big", ("critic=openai:x", "ollama:q:1b"), False, True)
    assert said.overrides() == {"debate.effort": ("high", "--effort")}
    assert typed("--resume").resume


def test_the_words_of_flags_are_the_words_of_configuration():
    for name, words in (("review.fail_on", SEVERITIES), ("sandbox", SANDBOXES), ("debate.effort", EFFORTS)):
        key = key_named(name)
        assert key is not None
        assert isinstance(key.kind, Choice)
        assert set(key.kind.words) == set(words)


def test_every_format_that_can_be_asked_for_can_be_rendered():
    assert set(FORMATS) == set(RENDERERS)


def test_paths_are_paths(tmp_path: Path):
    assert typed("-C", str(tmp_path), "-o", "x.json").repo == tmp_path
