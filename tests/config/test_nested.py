"""What folders of a monorepo may say of their own reviews, and what they may not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.changeset.globs import Globs
from reviewbot.config import Configuration, Folder, Source, load
from reviewbot.config.nested import MOST_FILES, below, read, wanted, within
from reviewbot.errors import ConfigError
from tests.rings import examples

SOME = settings(max_examples=examples(300), derandomize=True)


def source(text: str, folder: str = "api") -> Source:
    return Source(f"{folder}/.reviewbot.yml", text.encode())


def test_a_folder_names_rules_and_files_that_are_not_reviewed_relative_to_itself() -> None:
    text = """
version: 1
review:
  instructions: [RULES.md, docs/sql.md]
  path_rules: [{path: "*.sql", instructions: "No SELECT *."}, {path: "/db/*.py", instructions: "Short transactions."}]
  ignore: ["*.gen.py", "/build/", "!keep.gen.py", "# a comment", "a/b"]
"""
    assert read(source(text)) == Folder(
        "api",
        ("api/RULES.md", "api/docs/sql.md"),
        (("api/**/*.sql", "No SELECT *."), ("api/db/*.py", "Short transactions.")),
        ("/api/**/*.gen.py", "/api/build/", "!/api/**/keep.gen.py", "/api/a/b"),
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("limits: {cost_usd: 0}", "limits.cost_usd"),
        ("debate: {rounds: 0}", "debate.rounds"),
        ("review: {min_severity: critical}", "review.min_severity"),
        ("checks: []", "checks"),
        ("sandbox: none", "sandbox"),
        ("setup: [x]", "setup"),
        ("panel: {critic: {model: x}}", "panel.critic.model"),
    ],
)
def test_any_other_key_is_an_error_that_names_the_key_and_the_file(text: str, key: str) -> None:
    with pytest.raises(ConfigError, match=rf"{key} may not stand in the file of a folder \(api/\.reviewbot\.yml line 1\)"):
        read(source(text))


@pytest.mark.parametrize(
    "text",
    ["review: {ignroe: []}", "review: [", "\x00", "a: &x b", "review: {instructions: [../x]}", "x" * 70_000, "sandbox: none"],
)
def test_a_folder_whose_file_is_wrong_has_no_say_and_the_review_says_so(text: str) -> None:
    held = within(load(), [source("review: {ignore: [a]}", "a"), source(text), source("review: {ignore: [b]}", "b")])
    assert [folder.path for folder in held.folders] == ["a", "b"]
    (notice,) = held.notices
    assert notice.startswith("api/.reviewbot.yml is not followed: ")


def test_what_holds_for_the_repository_stays_and_folders_add_to_it() -> None:
    root = load(repository=(Source(".reviewbot.yml", b"review: {ignore: [x]}"),))
    held = within(root, [source("review: {ignore: [y]}")])
    assert held.settings == root.settings
    assert held.folders == (Folder("api", ignore=("/api/**/y",)),)


def test_more_folders_than_are_read_are_named() -> None:
    held = within(Configuration(), [source("", f"f{number:02}") for number in range(MOST_FILES + 2)])
    assert len(held.folders) == MOST_FILES
    assert len(held.notices) == 2
    assert held.notices[0].startswith(f"f{MOST_FILES}/.reviewbot.yml is not read")


def test_only_folders_above_a_changed_file_are_asked_the_outer_ones_first() -> None:
    tree = [
        ".reviewbot.yml",
        "a/b/.reviewbot.yml",
        "a/.reviewbot.yml",
        "c/.reviewbot.yml",
        "a/x.reviewbot.yml",
        "ab/.reviewbot.yml",
    ]
    assert wanted(tree, ["a/b/c/d.py", "ab.py"]) == ("a/.reviewbot.yml", "a/b/.reviewbot.yml")


@pytest.mark.parametrize("pattern", ["", "  ", "# x", "/", "!/", "//", "!"])
def test_a_pattern_that_means_nothing_means_nothing_at_the_top(pattern: str) -> None:
    assert below("api", pattern) is None


WORDS = st.text("ab*?[]!/\\.# x", max_size=12)
NAMES = st.lists(st.text("ab*[x. ", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@SOME
@given(folder=NAMES, pattern=WORDS, path=NAMES)
def test_a_pattern_means_below_its_folder_what_git_means_there_and_nothing_elsewhere(
    folder: str, pattern: str, path: str
) -> None:
    glob = below(folder, pattern)
    there = Globs((glob,) if glob else ())
    assert there.match(f"{folder}/{path}") == Globs((pattern,)).match(path)
    if not path.startswith(f"{folder}/"):
        assert not there.match(path)
