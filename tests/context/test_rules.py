"""Files with rules: which of a tree concern a change, in which order, for what, and how much of them is told."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.context import rules
from reviewbot.context.rules import Chosen, chosen, fitted, folder_of, read, scoped
from reviewbot.ports import Rule, TreeEntry
from tests.rings import examples

SOME = settings(max_examples=examples(200), derandomize=True)


def entry(path: str, mode: int = 0o100644, object_id: str = "") -> TreeEntry:
    return TreeEntry(path, mode, object_id or f"id of {path}", 10)


def paths(found: Chosen) -> list[str]:
    return [one.path for one in found.files]


def has_ending(globs: tuple[str, ...], path: str) -> bool:
    return any(path.endswith(glob.removeprefix("**/*")) for glob in globs)


def test_rules_of_the_top_come_first_and_the_nearest_last() -> None:
    tree = ["api/v2/AGENTS.md", "REVIEW.md", "api/CLAUDE.md", "AGENTS.md", "api/AGENTS.md", ".github/copilot-instructions.md"]
    assert paths(chosen(map(entry, tree), {"api/v2/pay.py"})) == [
        ".github/copilot-instructions.md",
        "AGENTS.md",
        "REVIEW.md",
        "api/AGENTS.md",
        "api/CLAUDE.md",
        "api/v2/AGENTS.md",
    ]


def test_a_folder_in_which_nothing_changes_has_no_say() -> None:
    tree = map(entry, ["api/AGENTS.md", "web/AGENTS.md", "api/v1/AGENTS.md", "apis/AGENTS.md"])
    assert paths(chosen(tree, {"api/v2/pay.py", "README.md"})) == ["api/AGENTS.md"]


@pytest.mark.parametrize("path", ["AGENTS.md.txt", "agents.md", "docs/notAGENTS.md", ".github/instructions/a.md", "x/REVIEWS.md"])
def test_other_files_have_no_rules(path: str) -> None:
    assert folder_of(path) is None
    assert chosen([entry(path)], {"docs/a", "x/b", ".github/instructions/c"}) == Chosen(())


def test_a_symbolic_link_or_a_submodule_is_no_file_with_rules() -> None:
    tree = [entry("AGENTS.md", 0o120000), entry("CLAUDE.md", 0o160000), entry("REVIEW.md", 0o100755)]
    assert paths(chosen(tree, {"a.py"})) == ["REVIEW.md"]


def test_the_same_text_under_two_names_is_read_once_in_a_folder() -> None:
    tree = [entry("AGENTS.md", object_id="1"), entry("CLAUDE.md", object_id="1"), entry("a/AGENTS.md", object_id="1")]
    assert len(chosen(tree, {"a/b.py"}).files) == 2


def test_of_too_many_those_are_read_that_concern_most_of_the_change_and_the_rest_is_named() -> None:
    tree = [entry("AGENTS.md"), *(entry(f"p{number:02}/AGENTS.md") for number in range(30))]
    changed = {f"p{number:02}/{file}.py" for number in range(30) for file in range(1 + number // 15)}
    found = chosen(tree, changed)
    assert len(found.files) == rules.MOST_FILES
    assert paths(found)[0] == "AGENTS.md"
    assert {f"p{number}/AGENTS.md" for number in range(15, 30)} <= set(paths(found))
    assert len(found.left_out) == 11
    assert not set(found.left_out) & set(paths(found))


def test_a_rule_names_its_file_and_for_what_it_holds() -> None:
    assert read("AGENTS.md", b"Be kind.", {"a.py"}, matches=has_ending) == Rule("AGENTS.md", "Be kind.")
    assert read("api/AGENTS.md", b"x", {"api/a.py"}, matches=has_ending) == Rule("api/AGENTS.md (for files below api/)", "x")
    assert read("api/AGENTS.md", b"x", {"web/a.py"}, matches=has_ending) is None
    assert scoped("a/RULES.md", "a") == "a/RULES.md (for files below a/)"


@pytest.mark.parametrize(
    ("front", "globs"),
    [
        ('applyTo: "**/*.py"', "**/*.py"),
        ("applyTo: '**/*.py,**/*.ts'", "**/*.py,**/*.ts"),
        ("description: x\napplyTo: **/*.{ts,py}  # both", "**/*.{ts,py}"),
        ("applyTo: **/*.py\r", "**/*.py"),
    ],
)
def test_github_s_instructions_hold_for_the_paths_that_they_name(front: str, globs: str) -> None:
    content = f"---\n{front}\n---\nNo prints.\n".encode()
    name = ".github/instructions/python.instructions.md"
    assert read(name, content, {"a.py"}, matches=has_ending) == Rule(f"{name} (for files that match {globs})", "No prints.\n")
    assert read(name, content, {"a.go"}, matches=has_ending) is None


@pytest.mark.parametrize(
    "content",
    [
        b"No front matter.",
        b"---\napplyTo: \"**/*.py\"\nnever closed",
        b"---\ndescription: for nothing\n---\nx",
        b'---\napplyTo: "**/*.py"\nexcludeAgent: "code-review"\n---\nx',
        b"",
    ],
)  # fmt: skip
def test_instructions_that_name_no_path_or_no_reviewer_are_not_told(content: bytes) -> None:
    assert read(".github/instructions/x.instructions.md", content, {"a.py"}, matches=has_ending) is None


def test_what_a_file_imports_is_not_read_and_stays_as_it_is_written() -> None:
    rule = read("CLAUDE.md", b"@/etc/passwd\n@AGENTS.md", {"a"}, matches=has_ending)
    assert rule is not None
    assert rule.text == "@/etc/passwd\n@AGENTS.md"


def test_a_very_long_file_is_read_to_its_cap() -> None:
    rule = read("AGENTS.md", b"x" * 100_000, {"a"}, matches=has_ending)
    assert rule is not None
    assert len(rule.text) == rules.MOST_BYTES


def test_short_rules_stay_whole_and_long_ones_share_what_is_left() -> None:
    told = fitted([Rule("a", "x" * 900), Rule("b", "short"), Rule("c", "y" * 400), Rule("d", " \n")], 705)
    assert [(rule.source, rule.text.count("x") + rule.text.count("y")) for rule in told] == [("a", 350), ("b", 0), ("c", 350)]
    assert told[0].text.endswith("… [550 more characters left out]")
    assert told[1].text == "short"


def test_a_secret_is_redacted_before_a_cut_could_halve_it() -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    (rule,) = fitted([Rule("AGENTS.md", "x" * 90 + " " + key)], 100)
    assert "AKIA" not in rule.text


@SOME
@given(lengths=st.lists(st.integers(0, 400), max_size=12), most=st.integers(0, 1_500))
def test_all_rules_together_never_exceed_their_room_and_use_it(lengths: list[int], most: int) -> None:
    told = fitted([Rule(str(number), "x" * length) for number, length in enumerate(lengths)], most)
    kept = sum(rule.text.count("x") for rule in told)
    assert kept <= most
    assert kept > min(sum(lengths), most) - max(len(told), 1)


@SOME
@given(content=st.binary(max_size=300), globs=st.text("*/{},ab\"' #", max_size=60))
def test_whatever_a_file_says_it_is_read_or_left_out(content: bytes, globs: str) -> None:
    for text in (content, f"---\napplyTo: {globs}\n---\nx".encode() + content):
        read(".github/instructions/x.instructions.md", text, {"a", "b/a"}, matches=has_ending)


def test_braces_without_end_are_written_out_only_so_far() -> None:
    seen: list[tuple[str, ...]] = []

    def remember(globs: tuple[str, ...], path: str) -> bool:
        seen.append(globs)
        return False

    content = ("---\napplyTo: " + "{a,b}" * 100 + "\n---\n").encode()
    read(".github/instructions/x.instructions.md", content, {"a"}, matches=remember)
    assert len(seen[0]) <= rules.MOST_GLOBS
