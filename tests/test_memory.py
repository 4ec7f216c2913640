"""Reviews of a pull request one after another: what they remember, and what they do not read."""

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
from msgspec.structs import replace

from reviewbot.config.load import flag_layer
from reviewbot.git.repository import Repository
from reviewbot.github.pulls import MAX_CHARACTERS, State, decode_state, encode_state
from reviewbot.journal import Journal
from reviewbot.llm.provider import ModelReply, ModelRequest, ProviderError, Usage
from reviewbot.pipeline import review
from reviewbot.reports import FORMATS, render
from reviewbot.services import Host
from reviewbot.verdict.document import Memory, Review
from reviewbot.verdict.memory import with_dismissals

ROW = re.compile(r"^(\d+)\+(.*(BUG-\w+).*)$", re.MULTILINE)


class Panelist:
    """Finds every added line with BUG-something in what it reads, and keeps what that was.

    As a reviewer it only judges what others find.
    """

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.asked: list[str] = []
        self.cites: list[str] = []
        self.stance, self.severity = "real", "high"
        self.is_away = False

    async def complete(
        self,
        request: ModelRequest,
        on_text: Callable[[str], None] | None = None,  # noqa: ARG002
    ) -> ModelReply:
        if self.is_away:
            raise ProviderError("the model is away", fault="refused")
        if "first_pass" not in request.label:
            judgement = {"reason": "-", "citations": self.cites, "stance": self.stance}
            cases = re.findall(r"(?m)^## Case (\w+)", request.question) if self.cites else ()
            judged = {"judgements": [{"case": case, **judgement} for case in cases], "tests": []}
            return ModelReply(text=json.dumps(judged), usage=Usage())
        self.shown.append(request.prefix)
        self.asked.append(request.question)
        is_judge = request.label.startswith("reviewer")
        sections = [] if is_judge else re.split(r'(?m)^## "([^"]+)"', request.prefix)[1:]
        claims = [
            {
                **dict.fromkeys(("trigger", "consequence", "refuted_if"), "-"),
                **{"path": path, "line": int(number), "quote": text, "title": bug},
                **{"category": "correctness", "severity": self.severity},
            }
            for path, section in zip(sections[::2], sections[1::2], strict=True)
            for number, text, bug in ROW.findall(section)
        ]
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

    def commit_and_review(self, **files: str) -> Review:
        self.project.commit("Change", {f"{name}.lua": text for name, text in files.items()})
        return self.next()

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
            self.panelist.shown.clear()
            result = asyncio.run(review("main...topic", host))
        if memory is None:
            assert result.memory
            # It travels as JSON.
            self.memory = msgspec.json.decode(msgspec.json.encode(result.memory), type=Memory)
        return result


BUG = "x = 2 -- BUG-a\n"


@pytest.fixture
def reviews(project: Project) -> Reviews:
    project.commit("Begin", {"a.lua": "x = 1\n", "b.lua": "y = 1\n"})
    project.git("checkout", "--quiet", "-b", "topic")
    return Reviews(project)


def titles(result: Review) -> dict[str, str]:
    return {finding.id: finding.title for finding in result.reported}


def test_what_was_read_is_not_read_again_and_what_was_found_stands(reviews: Reviews) -> None:
    assert titles(reviews.commit_and_review(a=BUG)) == {"F1": "BUG-a"}
    again = reviews.next()
    assert (titles(again), again.usage.calls) == ({"F1": "BUG-a"}, 0)
    result = reviews.commit_and_review(b="y = 2 -- BUG-b\n")
    assert titles(result) == {"F1": "BUG-a", "F2": "BUG-b"}
    (text,) = reviews.panelist.shown
    assert ("BUG-a" in text, "BUG-b" in text) == (False, True)
    (carried,) = [finding for finding in result.reported if finding.carried]
    assert (carried.id, carried.support) == ("F1", "")  # one panelist is no vote
    assert carried.carried == "its lines did not change since it was found"
    reviews.panelists = {"critic": "replay:y"}  # another model reads all of it
    assert reviews.next().usage.calls > 0
    assert ["BUG-a" in text for text in reviews.panelist.shown] == [True]
    assert result.read_earlier == ("a.lua",)
    assert result.complete


def test_what_a_judge_cites_is_judged_again_when_it_changes(reviews: Reviews) -> None:
    """The other two files of the change are read, and not cited."""
    reviews.panelists, reviews.effort = {"critic": "replay:x", "reviewer": "replay:y"}, "high"
    reviews.panelist.cites = ["b.lua:1"]
    assert titles(reviews.commit_and_review(a=BUG, b="y = 2\n", c="z = 2\n")) == {"F1": "BUG-a"}
    for name, is_judged_again in (("c", False), ("b", True)):
        assert titles(reviews.commit_and_review(**{name: "w = 3\n"})) == {"F1": "BUG-a"}
        read = {"BUG-a" in text for text in reviews.panelist.shown}
        assert read == {is_judged_again}, name


def test_who_reads_a_line_again_is_shown_what_was_raised_there(reviews: Reviews) -> None:
    reviews.commit_and_review(a=BUG, b="y = 2 -- BUG-b\n")
    reviews.panelist.asked.clear()
    reviews.commit_and_review(a=f"z = 1\n{BUG}", b="y = 2 -- BUG-b\n")
    (question,) = reviews.panelist.asked
    assert '- "a.lua:2": "BUG-a"' in question
    assert "BUG-b" not in question
    reviews.panelist.asked.clear()
    reviews.commit_and_review(a="x = 3\n")
    assert "BUG-a" not in "".join(reviews.panelist.asked)


def test_what_is_mild_and_raised_again_by_one_panelist_stands(reviews: Reviews) -> None:
    """Two agreed on it. One who is not sure takes nothing back, one who is against it does."""
    reviews.panelists, reviews.effort = {"critic": "replay:x", "reviewer": "replay:y"}, "high"
    reviews.panelist.severity, reviews.panelist.cites = "low", ["a.lua:1"]
    assert titles(reviews.commit_and_review(a=BUG)) == {"F1": "BUG-a"}
    reviews.panelist.stance = "unsure"
    (stands,) = reviews.commit_and_review(a=f"{BUG}z = 1\n").reported
    assert (stands.id, stands.status) == ("F1", "agreed")
    assert stands.carried == "a panelist raised it again"
    reviews.panelist.stance = "not_real"
    assert titles(reviews.commit_and_review(a=f"{BUG}z = 2\n")) == {}


def test_a_number_is_given_once(reviews: Reviews) -> None:
    reviews.commit_and_review(a=BUG)
    assert titles(reviews.commit_and_review(a="x = 3\n", b="y = 2 -- BUG-b\n")) == {"F2": "BUG-b"}
    assert titles(reviews.commit_and_review(a=BUG)) == {"F2": "BUG-b", "F1": "BUG-a"}
    assert reviews.panelist.shown == []


def test_a_panel_that_is_away_clears_nothing(reviews: Reviews) -> None:
    reviews.commit_and_review(a=BUG, b="y = 2 -- BUG-b\n")
    # The part has other content, but the line stands.
    reviews.panelist.is_away = True
    result = reviews.commit_and_review(a=f"{BUG}z = 1\n", b="y = 3\n")
    assert list(titles(result).values()) == ["BUG-a"]
    assert "F1 stands from an earlier review: no panelist read its lines again" in result.gaps
    reviews.panelist.is_away = False
    assert list(titles(reviews.next()).values()) == ["BUG-a"]
    assert len(reviews.panelist.shown) == 1
    reviews.panelists = {}  # nor does no panel
    assert list(titles(reviews.next()).values()) == ["BUG-a"]
    # Nor does another panel that is away forget what stood in a part that comes back.
    reviews.panelists, reviews.panelist.is_away = {"critic": "replay:y"}, True
    reviews.commit_and_review(a="x = 3\n")
    reviews.panelists, reviews.panelist.is_away = {"critic": "replay:x"}, False
    assert list(titles(reviews.commit_and_review(a=f"{BUG}z = 1\n")).values()) == ["BUG-a"]
    assert reviews.panelist.shown == []


def test_a_copy_of_what_stands_is_a_finding_of_its_own(reviews: Reviews) -> None:
    lines = [f"x = {number}" for number in range(60)]
    reviews.project.git("checkout", "--quiet", "main")
    reviews.project.commit("More", {"a.lua": "\n".join(lines)})
    reviews.project.git("checkout", "--quiet", "-B", "topic")
    for number, expected in ((50, ["F1"]), (10, ["F1", "F2"]), (30, ["F1", "F2", "F3"])):
        lines[number] = "x = 2 -- BUG-a"
        result = reviews.commit_and_review(a="\n".join(lines))
        assert sorted(titles(result)) == expected
        assert len({finding.key for finding in result.reported}) == len(expected)
        assert {f.id: str(f.location) for f in result.reported}["F1"] == "a.lua:51"
    lines[50] = "x = 3"
    assert sorted(titles(reviews.commit_and_review(a="\n".join(lines)))) == ["F2", "F3"]


def test_a_check_that_did_not_end_clears_only_what_is_gone(reviews: Reviews) -> None:
    script = "test -e broken.lua && exit 9; test -e quiet.lua && exit 0;"
    script += " grep -n TODO a.lua b.lua | sed s/TODO/error:/"
    todos = {"name": "todos", "run": ["sh", "-c", script], "files": ["*.lua"]}
    reviews.project.git("checkout", "--quiet", "main")
    reviews.project.commit("Configure", {".reviewbot.yml": json.dumps({"checks": [todos]})})
    reviews.project.git("checkout", "--quiet", "-B", "topic")
    result = reviews.commit_and_review(a="TODO 1\n", b="TODO 2\n")
    assert titles(result) == {"F1": "1", "F2": "2"}
    result = reviews.commit_and_review(broken="\n", a="\nTODO 1\n", b="\n")
    (stands,) = result.reported
    assert (stands.id, str(stands.location)) == ("F1", "a.lua:2")
    assert stands.carried == "todos is incomplete: exit code 9"
    assert not result.complete
    reviews.project.git("rm", "--quiet", "broken.lua")
    (found,) = reviews.commit_and_review(a="TODO 1\n").reported
    assert (found.id, found.carried) == ("F1", "")
    assert reviews.commit_and_review(quiet="\n").reported == ()  # though the line is there


def test_what_is_dismissed_during_a_review_does_not_stand_nor_do_its_copies(
    reviews: Reviews,
) -> None:
    lines = ["print(x / 2)\n", "print(x / 3)\n"]
    reviews.project.commit("Both", {"a.py": "".join(lines)})
    assert len(reviews.next().reported) == 1
    (known,) = reviews.memory.findings
    reviews.project.commit("One", {"a.py": lines[1]})
    result = with_dismissals(reviews.next(), Memory(findings=(replace(known, dismissed="-"),)))
    assert list(result.reported) == []
    assert result.memory
    assert {finding.dismissed for finding in result.memory.findings} == {"-"}


def test_findings_with_many_copies_leave_room_for_what_else_is_remembered(reviews: Reviews) -> None:
    lines = [f"print(x{name} / {number})\n" for name in range(15) for number in range(51)]
    reviews.project.commit("Many", {"a.py": "".join(lines)})
    assert [len(finding.copies) for finding in reviews.next().reported] == [50] * 15
    line = encode_state(State(memory=reviews.memory))
    assert decode_state(line) == State(memory=reviews.memory)
    assert len(line) < MAX_CHARACTERS / 2


def test_no_line_of_a_key_is_shown_or_remembered(reviews: Reviews) -> None:
    lines = [f"{'Ab1+/' * 12}{number:04}" for number in range(9)]
    lines[4] += "\u200b"
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    places = {"secret-private-key": 2, "hidden-zero-width": 7, "correctness": 1}
    for result in (reviews.commit_and_review(a=f"x = [[ -- BUG-a\n{key}\n]]\n"), reviews.next()):
        found = {finding.rule: str(finding.location) for finding in result.reported}
        assert found == {rule: f"a.lua:{line}" for rule, line in places.items()}
        documents = [render(result, format_) for format_ in FORMATS]
        for text in (*documents, msgspec.json.encode(result).decode()):
            assert "Ab1+/" not in text
    assert reviews.panelist.shown == []


LINES = ("x = 1", "x = 2", "x = 3 -- BUG-a", "x = 4 -- BUG-b", "<<<<<<< ours")
EDIT = (st.just("edit"), st.sampled_from(["a.lua", "b.lua", "c.lua"]))
TEXTS = st.lists(st.sampled_from(LINES), min_size=1, max_size=4)
MOVES = st.sampled_from(["revert", "undo", "amend", "rebase", "rename"])
STEP = st.one_of(st.tuples(*EDIT, TEXTS), st.tuples(MOVES))


SAME = ("edit", "c.lua", ["x = 3 -- BUG-a", "x = 1"])
OTHER = ("edit", "c.lua", ["x = 4 -- BUG-b", "x = 2"])
TWICE = ("edit", "b.lua", ["x = 3 -- BUG-a", "x = 3 -- BUG-a"])
EXPLICIT = [Phase.explicit, Phase.generate]  # to shrink would take minutes


@settings(max_examples=4, deadline=None, phases=EXPLICIT)
@given(steps=st.lists(STEP, min_size=2, max_size=6))
@example(steps=[SAME, OTHER, SAME])
@example(steps=[("edit", "b.lua", ["x = 3 -- BUG-a", "x = 1"]), TWICE])
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
        found, expected = (sorted(f.title for f in r.reported) for r in (remembered, fresh))
        assert found == expected
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
