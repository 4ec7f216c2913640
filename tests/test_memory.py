"""Reviews of a pull request one after another: what they remember, and what they do not read."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from conftest import Project
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from lean import lean_environment

from reviewbot.config.load import flag_layer
from reviewbot.git.change import Target, parts_of
from reviewbot.git.repository import Repository
from reviewbot.journal import Journal
from reviewbot.llm.provider import ModelReply, ModelRequest, ProviderError, Usage
from reviewbot.pipeline import review
from reviewbot.reports import FORMATS, render
from reviewbot.services import Host
from reviewbot.verdict.document import Memory, Review

PATH = re.compile(r'## "([^"]+)"')
ROW = re.compile(r"^(\d+)\+(.*BUG-\w+.*)$", re.MULTILINE)


class Panelist:
    """Finds every added line with BUG-something in what it reads, and keeps what that was.

    As a reviewer it only judges what others find.
    """

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.cites: list[str] = []
        self.is_away = False

    async def complete(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,  # noqa: ARG002
    ) -> ModelReply:
        if self.is_away:
            raise ProviderError("the model is away", fault="refused")
        if "first_pass" not in request.label:
            judgement = {"reason": "-", "citations": self.cites, "stance": "real"}
            cases = re.findall(r"(?m)^## Case (\w+)", request.question) if self.cites else ()
            judged = {"judgements": [{"case": case, **judgement} for case in cases], "tests": []}
            return ModelReply(text=json.dumps(judged), usage=Usage())
        self.shown.append(request.prefix)
        claims = []
        is_judge = request.label.startswith("reviewer")
        for section in re.split(r"(?m)^(?=## )", "" if is_judge else request.prefix):
            path = PATH.match(section)
            for number, text in ROW.findall(section) if path else ():
                bug = re.search(r"BUG-\w+", text)
                assert bug
                assert path
                claims.append(
                    {
                        **dict.fromkeys(("trigger", "consequence", "refuted_if"), "-"),
                        "path": path[1],
                        "line": int(number),
                        "quote": text,
                        "title": bug[0],
                        "category": "correctness",
                        "severity": "high",
                    }
                )
        return ModelReply(text=json.dumps({"claims": claims}), usage=Usage())

    async def close(self) -> None:
        pass


class Reviews:
    """Reviews of main...topic in a project, each with the memory of the one before."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.memory = Memory()
        self.panelist = Panelist()
        self.panelists = {"critic": "replay:x"}
        self.effort = "low"

    def next(self, memory: Memory | None = None) -> Review:
        """With another memory, the one of these reviews stays as it is."""
        with Repository(self.project.folder) as repository:
            host = Host(
                repository=repository,
                journal=Journal(),
                providers={"replay": self.panelist},
                panelists=self.panelists,
                layers=(flag_layer({"review.effort": self.effort}),),
                variables={"VIRTUAL_ENV": lean_environment()},
                memory=self.memory if memory is None else memory,
            )
            target = Target(kind="revision", revision="main...topic")
            self.panelist.shown.clear()
            result = asyncio.run(review(target, host))
        if memory is None:
            assert result.memory
            # It travels as JSON.
            self.memory = msgspec.json.decode(msgspec.json.encode(result.memory), type=Memory)
        return result


@pytest.fixture
def reviews(project: Project) -> Reviews:
    project.commit("Begin", {"a.lua": "x = 1\n", "b.lua": "y = 1\n"})
    project.git("checkout", "--quiet", "-b", "topic")
    return Reviews(project)


def titles(result: Review) -> dict[str, str]:
    return {finding.id: finding.title for finding in result.reported}


def test_what_was_read_is_not_read_again_and_what_was_found_stands(reviews: Reviews) -> None:
    reviews.project.commit("Change", {"a.lua": "x = 2 -- BUG-a\n"})
    assert titles(reviews.next()) == {"F1": "BUG-a"}
    reviews.project.commit("Go on", {"b.lua": "y = 2 -- BUG-b\n"})

    result = reviews.next()

    assert titles(result) == {"F1": "BUG-a", "F2": "BUG-b"}
    assert [("BUG-a" in text, "BUG-b" in text) for text in reviews.panelist.shown] == [
        (False, True)
    ]
    (carried,) = [finding for finding in result.reported if finding.carried]
    assert carried.id == "F1"
    assert carried.carried == "its lines did not change since it was found"
    assert result.read_earlier == ("a.lua",)
    assert result.complete


def test_when_nothing_is_new_nobody_is_asked(reviews: Reviews) -> None:
    reviews.project.commit("Change", {"a.lua": "x = 2 -- BUG-a\n"})
    reviews.next()

    result = reviews.next()

    assert titles(result) == {"F1": "BUG-a"}
    assert reviews.panelist.shown == []
    assert result.usage.calls == 0


def test_what_a_judge_cites_is_judged_again_when_it_changes(reviews: Reviews) -> None:
    """The other two files of the change are read, and not cited."""
    reviews.panelists, reviews.effort = {"critic": "replay:x", "reviewer": "replay:y"}, "high"
    reviews.panelist.cites = ["b.lua:1"]
    files = {"a.lua": "x = 2 -- BUG-a\n", "b.lua": "y = 2\n", "c.lua": "z = 2\n"}
    reviews.project.commit("Change", files)
    assert titles(reviews.next()) == {"F1": "BUG-a"}
    for path, is_judged_again in (("c.lua", False), ("b.lua", True)):
        reviews.project.commit("Go on", {path: "w = 3\n"})
        assert titles(reviews.next()) == {"F1": "BUG-a"}
        assert reviews.panelist.shown
        read = ["BUG-a" in text for text in reviews.panelist.shown]
        assert read == [is_judged_again] * len(read), path


def test_a_number_is_given_once(reviews: Reviews) -> None:
    reviews.project.commit("Change", {"a.lua": "x = 2 -- BUG-a\n"})
    reviews.next()
    reviews.project.commit("Fix", {"a.lua": "x = 3\n", "b.lua": "y = 2 -- BUG-b\n"})
    assert titles(reviews.next()) == {"F2": "BUG-b"}
    reviews.project.commit("Revert", {"a.lua": "x = 2 -- BUG-a\n"})

    assert titles(reviews.next()) == {"F2": "BUG-b", "F1": "BUG-a"}
    assert reviews.panelist.shown == []


def test_a_panel_that_is_away_clears_nothing(reviews: Reviews) -> None:
    reviews.project.commit("Change", {"a.lua": "x = 2 -- BUG-a\n", "b.lua": "y = 2 -- BUG-b\n"})
    reviews.next()
    # The part has other content, but the line stands.
    reviews.project.commit("Go on", {"a.lua": "x = 2 -- BUG-a\nz = 1\n", "b.lua": "y = 3\n"})
    reviews.panelist.is_away = True

    result = reviews.next()

    assert list(titles(result).values()) == ["BUG-a"]
    assert "F1 stands from an earlier review: no panelist read its lines again" in result.gaps

    reviews.panelist.is_away = False
    assert list(titles(reviews.next()).values()) == ["BUG-a"]
    assert len(reviews.panelist.shown) == 1


def test_without_a_panel_what_it_found_stands(reviews: Reviews) -> None:
    reviews.project.commit("Change", {"a.lua": "x = 2 -- BUG-a\n"})
    reviews.next()
    reviews.panelists = {}

    assert list(titles(reviews.next()).values()) == ["BUG-a"]


def test_a_copy_of_what_stands_is_a_finding_of_its_own(reviews: Reviews) -> None:
    lines = [f"x = {number}" for number in range(60)]
    reviews.project.git("checkout", "--quiet", "main")
    reviews.project.commit("More", {"a.lua": "\n".join(lines)})
    reviews.project.git("checkout", "--quiet", "-B", "topic")
    for number, expected in ((50, ["F1"]), (10, ["F1", "F2"]), (30, ["F1", "F2", "F3"])):
        lines[number] = "x = 2 -- BUG-a"
        reviews.project.commit(f"Change {number}", {"a.lua": "\n".join(lines)})

        result = reviews.next()

        assert sorted(titles(result)) == expected
        assert len({finding.key for finding in result.reported}) == len(expected)
        assert {f.id: str(f.location) for f in result.reported}["F1"] == "a.lua:51"
    lines[50] = "x = 3"
    reviews.project.commit("Fix", {"a.lua": "\n".join(lines)})
    assert sorted(titles(reviews.next())) == ["F2", "F3"]


def test_a_check_that_did_not_end_clears_only_what_is_gone(reviews: Reviews) -> None:
    config = """\
checks:
  - name: todos
    run: [sh, -c, "test -e broken.lua && exit 9; grep -n TODO a.lua b.lua | sed s/TODO/error:/"]
    files: ["*.lua"]
"""
    reviews.project.git("checkout", "--quiet", "main")
    reviews.project.commit("Configure", {".reviewbot.yml": config})
    reviews.project.git("checkout", "--quiet", "-B", "topic")
    reviews.project.commit("Change", {"a.lua": "TODO 1\n", "b.lua": "TODO 2\n"})
    assert titles(reviews.next()) == {"F1": "1", "F2": "2"}
    reviews.project.commit("Go on", {"broken.lua": "\n", "a.lua": "\nTODO 1\n", "b.lua": "\n"})

    result = reviews.next()

    (stands,) = result.reported
    assert (stands.id, str(stands.location)) == ("F1", "a.lua:2")
    assert stands.carried == "todos is incomplete: exit code 9"
    assert not result.complete

    reviews.project.git("rm", "--quiet", "broken.lua")
    reviews.project.commit("Repair", {"a.lua": "TODO 1\n"})
    (found,) = reviews.next().reported
    assert (found.id, found.carried) == ("F1", "")


def test_no_line_of_a_key_is_shown_or_remembered(reviews: Reviews) -> None:
    lines = [f"{'Ab1+/' * 12}{number:04}" for number in range(9)]
    lines[4] += "\u200b"
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    reviews.project.commit("Change", {"a.lua": f"x = [[ -- BUG-a\n{key}\n]]\n"})

    for result in (reviews.next(), reviews.next()):
        assert {finding.rule: str(finding.location) for finding in result.reported} == {
            "secret-private-key": "a.lua:2",
            "hidden-zero-width": "a.lua:7",
            "correctness": "a.lua:1",
        }
        documents = [render(result, format_) for format_ in FORMATS]
        for text in (*documents, msgspec.json.encode(result).decode()):
            assert "Ab1+/" not in text
    assert reviews.panelist.shown == []


def test_a_part_is_known_by_its_content(reviews: Reviews) -> None:
    project = reviews.project
    marks = []
    steps = [
        {"a.lua": "x = 1\n\nfunction f()\nend\n"},
        # A copy of a part is another part.
        {"a.lua": "x = 1\n\nfunction f()\nend\n\nfunction f()\nend\n"},
        {"a.lua": "x = 1\n\nfunction f()\nend\n"},
    ]
    for files in steps:
        project.commit("Step", files)
        with Repository(project.folder) as repository:
            target = Target(kind="revision", revision="main...topic")
            change = asyncio.run(repository.load_change(target))
        marks.append({part.mark for part in parts_of(change)})

    assert marks[0] == marks[2]
    assert not marks[0] & marks[1]


LINES = ("x = 1", "x = 2", "x = 3 -- BUG-a", "x = 4 -- BUG-b", "<<<<<<< ours")
STEP = st.one_of(
    st.tuples(
        st.just("edit"),
        st.sampled_from(["a.lua", "b.lua", "c.lua"]),
        st.lists(st.sampled_from(LINES), min_size=1, max_size=4),
    ),
    st.tuples(st.sampled_from(["revert", "undo", "amend", "rebase", "rename"])),
)


@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # to shrink would take minutes
)
@given(steps=st.lists(STEP, min_size=2, max_size=6))
@example(
    steps=[
        ("edit", "c.lua", ["x = 3 -- BUG-a", "x = 1"]),
        ("edit", "c.lua", ["x = 4 -- BUG-b", "x = 2"]),
        ("edit", "c.lua", ["x = 3 -- BUG-a", "x = 1"]),
    ]
)
@example(
    steps=[
        ("edit", "b.lua", ["x = 3 -- BUG-a", "x = 1"]),
        ("edit", "b.lua", ["x = 3 -- BUG-a", "x = 3 -- BUG-a"]),
    ]
)
def test_whatever_happened_a_review_says_what_one_from_scratch_says(
    steps: list[tuple[object, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = Project(tmp_path_factory.mktemp("history"))
    project.commit("Begin", {"a.lua": "x = 1\n\nx = 1\n", "b.lua": "x = 1\n"})
    project.git("checkout", "--quiet", "-b", "topic")
    reviews = Reviews(project)
    for number, step in enumerate(steps):
        perform(project, number, step)
        remembered = reviews.next()
        fresh = reviews.next(Memory())
        assert sorted(f.title for f in remembered.reported) == sorted(
            f.title for f in fresh.reported
        )
        assert len(titles(remembered)) == len(remembered.reported)


def perform(project: Project, number: int, step: tuple[object, ...]) -> None:
    match step:
        case ("edit", str(name), list(lines)):
            project.commit(f"Edit {number}", {name: "\n\n".join(map(str, lines)) + "\n"})
        case ("amend",) if int(project.git("rev-list", "--count", "main..topic")):
            path = Path(project.folder, "a.lua")
            path.write_text(path.read_text() + f"\nx = {number}\n" if path.exists() else "x = 9\n")
            project.git("add", "--all")
            project.git("commit", "--quiet", "--amend", "--allow-empty", "--no-edit")
        case ("rename",) if Path(project.folder, "b.lua").exists():
            project.git("mv", "--force", "b.lua", "c.lua")
            project.git("commit", "--quiet", "--allow-empty", "--message=Rename")
        case ("revert",) if int(project.git("rev-list", "--count", "main..topic")):
            project.git("read-tree", "--reset", "-u", "HEAD~1")
            project.git("commit", "--quiet", "--allow-empty", "--message=Revert")
        case ("undo",) if int(project.git("rev-list", "--count", "main..topic")):
            project.git("reset", "--quiet", "--hard", "HEAD~1")
        case ("rebase",):
            project.git("checkout", "--quiet", "main")
            project.commit(f"Elsewhere {number}", {"z.lua": f"z = {number}\n"})
            project.git("checkout", "--quiet", "topic")
            project.git("rebase", "--quiet", "main")
