"""What tools offer for findings, with the tools themselves: to the byte what each makes with its own ``--fix``, in a few jobs."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.evidence import fixers
from reviewbot.evidence.fixers import Offered, Wanted, pairing
from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.pairing import Report
from reviewbot.evidence.fixers.splices import applied, by_path, together
from reviewbot.evidence.fixers.text import Spot, Text
from reviewbot.evidence.rules import CODES
from reviewbot.evidence.view import CheckOptions, Custom
from reviewbot.ports import Ended, Outcome, Proposal
from tests.evidence.asked import Scene, scene

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.matrix(parts=1), pytest.mark.ci]

RUFF = Path(sysconfig.get_path("scripts")) / "ruff"
OPTIONS = CheckOptions(presets=("ruff", "shellcheck", "sqlfluff", "golangci-lint"))

MARK = b"\xef\xbb\xbf"
OWN: dict[str, tuple[str, int, bytes]] = {
    "alone": ("F401", 1, b"import os\n\nx = 1\n"),
    "tabs": ("F401", 2, b"if 1:\n\tx = 1; import os\n"),
    "wide": ("F401", 1, "x = '日本😀'; import os\n".encode()),
    "combining": ("F401", 1, "x = 'e\u0301'; import os\n".encode()),
    "separators": ("F401", 1, "x = '\u2028\x85'; import os\n".encode()),
    "returns": ("F401", 2, b"x = 1\r\nimport os\r\nimport sys\r\nprint(sys)\r\n"),
    "lone returns": ("F401", 2, b"x = 1\rimport os\rprint(1)\r"),
    "mixed endings": ("F401", 3, b"x = 1\r\ny = 2\nimport os\r\nz = 3\n"),
    "mark": ("F401", 1, MARK + b"import os\nx = 1\n"),
    "mark and more": ("F401", 1, MARK + "x = '😀'; import os\n".encode()),
    "no end": ("F401", 2, b"x = 1\nimport os"),
    "form feed": ("F401", 2, b"x = 1\n\x0cimport os\n"),
    "continued": ("F401", 1, b"import os, \\\n    sys\nprint(sys)\n"),
    "many lines": ("F401", 3, b"from os import (\n    path,\n    sep,\n)\nprint(path)\n"),
    "the last of a block": ("F401", 2, b"if 1:\n    import os\n"),
    "a format": ("F541", 1, "print('é', f'日')\n".encode()),
    "an assertion": ("F401", 2, b"x = 1\nfrom os import path\n"),
}
"""One thing each, that ruff mends with our own selection: the rule, its line, and the file."""

PROJECT_SETTINGS = b"""\
fix = true
fix-only = true
line-length = 60
[lint]
select = ["I", "UP", "W", "SIM", "COM", "D212", "RUF", "RET", "Q", "C4", "E711", "E712"]
extend-safe-fixes = ["E711"]
extend-unsafe-fixes = ["RET"]
[lint.isort]
known-first-party = ["mine"]
"""
PROJECT: dict[str, tuple[str, int, bytes]] = {
    "imports": ("I001", 1, b"import os\nimport mine\nimport sys\nimport zlib\nprint(os, mine, sys, zlib)\n"),
    "imports with returns": ("I001", 1, b"import sys\r\nimport os\r\nprint(os, sys)\r\n"),
    "imports behind a mark": ("I001", 1, MARK + b"import sys\nimport os\nprint(os, sys)\n"),
    "a list": ("UP006", 4, "from typing import List\n\n\ndef f(é: List[int]) -> None:\n    '''日.'''\n".encode()),
    "utc": ("UP017", 3, b"from datetime import datetime, timezone\n\nx = datetime.now(timezone.utc)\n"),
    "space at the end": ("W291", 1, "x = '日' \t\ny = 2\n".encode()),
    "no line feed": ("W292", 2, "x = 1\ny = '日'".encode()),
    "space on a line": ("W293", 2, b"x = 1\r\n\t \r\ny = 2\r\n"),
    "a comma": ("COM812", 3, "x = [\n    1,\n    '日本'\n]\n".encode()),
    "a comment": ("RUF100", 1, b"x = 1  # noqa: F401\n"),
    "quotes": ("Q000", 1, "x = '日'\n".encode()),
    "called safe by the project": ("E711", 2, b"y = 1\nx = 1 if y == None else 3\n"),
}
"""The same with settings of the project, which would have ruff mend the files and say nothing."""

FOLLOWED = {"project a list": "F401", "project utc": "F401,I001"}
"""What ruff is asked to mend as well, since its fix brings it about."""

SHELL: dict[str, tuple[str, int, bytes]] = {
    "tabs": ("SC2086", 3, b"#!/bin/sh\nif true; then\n\techo\t$1\t'a'\nfi\n"),
    "wide": ("SC2086", 2, "#!/bin/sh\necho '日本😀e\u0301' $1\n".encode()),
    "touching": ("SC2086", 2, b"#!/bin/sh\necho $1$2 $1\n"),
    "mark": ("SC2086", 2, MARK + b"#!/bin/sh\necho $1\n"),
    "lines": ("SC2006", 2, b'#!/bin/sh\nx=`ls\nfoo`\necho "$x"\n'),
    "behind": ("SC2164", 2, b"#!/bin/sh\ncd foo\nls\n"),
}
SQL: dict[str, tuple[str, int, bytes]] = {
    "a space": ("LT01", 1, b"SELECT a,b FROM t\n"),
    "a wide space": ("LT01", 1, "SELECT '日😀',b FROM t\n".encode()),
    "lines": ("LT09", 1, b"SELECT a, b FROM t\n"),
    "letters": ("CP01", 1, b"select a from t WHERE x = 1\n"),
    "words": ("ST02", 1, b"SELECT CASE WHEN a THEN TRUE ELSE FALSE END FROM t\n"),
}


def offered(made: Scene, wanted: Sequence[Wanted], options: CheckOptions = OPTIONS) -> Offered:
    return made.conduct(fixers.offered(wanted, made.view, options))


def mended(made: Scene, path: str, found: Offered, finding: str = "F1") -> bytes:
    """A file with what is proposed first for a finding."""
    head = made.view.contents[path].head
    assert head is not None
    return applied(head, found.proposals[finding][0].splices)


def named(kind: str, suffix: str, cases: Iterable[str]) -> dict[str, str]:
    return {name: f"{kind}/{name.replace(' ', '_')}.{suffix}" for name in cases}


FILES = {
    **named("own", "py", OWN),
    **{f"project {name}": path for name, path in named("project", "py", PROJECT).items()},
    **{f"shell {name}": path for name, path in named("shell", "sh", SHELL).items()},
    **{f"sql {name}": path for name, path in named("sql", "sql", SQL).items()},
}
CASES = {
    **OWN,
    **{f"project {name}": case for name, case in PROJECT.items()},
    **{f"shell {name}": case for name, case in SHELL.items()},
    **{f"sql {name}": case for name, case in SQL.items()},
}
TOOLS = {"shell": "shellcheck", "sql": "sqlfluff"}
SETTINGS = {"project/ruff.toml": PROJECT_SETTINGS, ".sqlfluff": b"[sqlfluff]\ndialect = ansi\n"}


def place(name: str) -> Wanted:
    rule, line, _ = CASES[name]
    return Wanted(name, FILES[name], line, line, TOOLS.get(name.partition(" ")[0], "ruff"), rule)


def is_here(name: str) -> bool:
    tool = place(name).tool
    return tool == "ruff" or bool(shutil.which(tool, path=f"{RUFF.parent}:/usr/bin:/usr/local/bin"))


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Scene, Offered]:
    """All cases in one change, and what is offered for them, asked once."""
    head = {FILES[name]: data for name, (_, _, data) in CASES.items()}
    made = scene(tmp_path_factory.mktemp("everything"), {**SETTINGS, **head}, SETTINGS)
    return made, offered(made, [place(name) for name in CASES if is_here(name)])


def its_own(name: str, folder: Path) -> bytes:
    """What the tool makes of the file itself."""
    rule, _, data = CASES[name]
    tool = place(name).tool
    file = folder / Path(FILES[name]).name
    file.write_bytes(data)
    if tool == "shellcheck":
        words = ("/usr/bin/shellcheck", f"--include={rule}", "--format=diff", file.name)
        diff = subprocess.run(words, cwd=folder, capture_output=True, check=False, env={"LANG": "C.UTF-8"}).stdout
        subprocess.run(("git", "apply", "--unsafe-paths", "-"), cwd=folder, input=diff.rstrip(b"\n") + b"\n", check=True)
    elif tool == "sqlfluff":
        (folder / ".sqlfluff").write_bytes(SETTINGS[".sqlfluff"])
        words = (str(RUFF.parent / "sqlfluff"), "fix", "--disable-progress-bar", "--rules", rule, file.name)
        subprocess.run(words, cwd=folder, capture_output=True, check=False)
    else:
        ours = name in OWN
        (folder / "ruff.toml").write_bytes(b"" if ours else PROJECT_SETTINGS.replace(b"fix-only = true\n", b""))
        rules = ",".join((rule, *([FOLLOWED[name]] if name in FOLLOWED else [])))
        words = (str(RUFF), "check", "--fix", "--no-cache", "--exit-zero", "--select", rules, *(("--isolated",) if ours else ()))
        subprocess.run((*words, file.name), cwd=folder, capture_output=True, check=True)
    return file.read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_what_is_proposed_is_what_the_tool_makes_itself(name: str, everything: tuple[Scene, Offered], tmp_path: Path) -> None:
    if not is_here(name):
        pytest.skip("the tool is not installed")
    made, found = everything
    after = its_own(name, tmp_path)
    assert after != CASES[name][2]
    assert mended(made, FILES[name], found, name) == after


def test_all_of_them_take_one_run_of_each_tool(everything: tuple[Scene, Offered]) -> None:
    made, found = everything
    assert [job.name for job in made.jobs[0]][:2] == ["fix:ruff-project:head", "fix:ruff:head"]
    assert len(made.jobs[0]) <= 4
    assert found.notes == ()


@pytest.mark.ci
def test_asked_again_of_what_was_mended_nobody_offers_anything(everything: tuple[Scene, Offered], tmp_path: Path) -> None:
    made, found = everything
    head = {FILES[name]: mended(made, FILES[name], found, name) for name in found.proposals}
    again = scene(tmp_path, {**SETTINGS, **head}, SETTINGS)
    assert offered(again, [place(name) for name in found.proposals]) == Offered()


def test_the_head_alone_is_asked(tmp_path: Path) -> None:
    files = {"a.py": "import os\n", "t.sh": "#!/bin/sh\necho $1\n"}
    made = scene(tmp_path, {path: f"{text}\n" for path, text in files.items()}, files)
    offered(made, [Wanted("F1", "a.py", 1, 1, "ruff", "F401"), Wanted("F2", "t.sh", 2, 2, "shellcheck", "SC2086")])
    assert [job.name for job in made.jobs[0]] == ["fix:ruff:head", "fix:shellcheck:head"]


def test_three_hundred_findings_in_a_hundred_files_are_a_handful_of_jobs(tmp_path: Path) -> None:
    source = "import os\nimport sys\nx = f'é'\n"
    head = {f"part{number}/module.py": f"{source}y = {number}\n" for number in range(100)}
    places = [
        Wanted(f"F{number}.{line}", f"part{number}/module.py", line, line, "ruff", rule)
        for number in range(100)
        for line, rule in ((1, "F401"), (2, "F401"), (3, "F541"))
    ]
    made = scene(tmp_path, {"ruff.toml": "", **head}, {"ruff.toml": ""})
    found = offered(made, places)
    assert len(found.proposals) == 300
    assert [len(jobs) for jobs in made.jobs] == [2, 2]
    every = together(splice for proposals in found.proposals.values() for proposal in proposals for splice in proposal.splices)
    assert every is not None
    after = {path: applied(head[path].encode(), mine) for path, mine in by_path(every)}
    assert set(after.values()) == {f"x = 'é'\ny = {number}\n".encode() for number in range(100)}


def test_several_places_of_one_finding_are_one_proposal_and_a_shared_import_comes_once(tmp_path: Path) -> None:
    source = "from datetime import datetime, timezone\n\nx = datetime.now(timezone.utc)\ny = datetime.now(timezone.utc)\n"
    settings = "target-version = 'py312'\nlint.select = ['UP']\n"
    made = scene(tmp_path, {"ruff.toml": settings, "a.py": source}, {"ruff.toml": settings})
    found = offered(made, [Wanted("F1", "a.py", line, line, "ruff", "UP017") for line in (3, 4)])
    (proposal,) = found.proposals["F1"]
    assert proposal.author == "ruff"
    assert proposal.explanation == "Convert to `datetime.UTC` alias; Remove unused import: `datetime.timezone`"
    assert mended(made, "a.py", found, "F1").decode() == (
        "from datetime import datetime, UTC\n\nx = datetime.now(UTC)\ny = datetime.now(UTC)\n"
    )


@pytest.mark.smoke
def test_several_fixes_on_one_line_are_all_of_a_finding_on_it(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": "x = '日'; import os; import sys; print(f'é', f'è')\n"})
    found = offered(made, [Wanted("F1", "a.py", 1, 1, "ruff", "F541"), Wanted("F2", "a.py", 1, 1, "ruff", "F401")])
    assert mended(made, "a.py", found, "F1").decode() == "x = '日'; import os; import sys; print('é', 'è')\n"
    assert b"import" not in mended(made, "a.py", found, "F2")


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (Wanted("F1", "a.py", 9, 9, "ruff", "F401"), "a line that is not there"),
        (Wanted("F1", "a.py", 1, 1, "ruff", "F541"), "another rule"),
        (Wanted("F1", "b.py", 1, 1, "ruff", "F401"), "another file"),
        (Wanted("F1", "a.py", 2, 2, "ruff", "F841"), "a fix that is not safe"),
        (Wanted("F1", "a.py", 1, 1, "pyflakes", "F401"), "another tool"),
        (Wanted("F1", "latin.py", 2, 2, "ruff", "F401"), "a file that is not UTF-8"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_nothing_is_proposed_for(place: Wanted, why: str, tmp_path: Path) -> None:
    del why
    latin = b"# -*- coding: latin-1 -*-\nimport os\nx = '\xe9'\n"
    head = {"a.py": "import os\ndef f():\n    x = g()\n", "latin.py": latin}
    assert offered(scene(tmp_path, head), [place]).proposals == {}


def test_a_finding_of_which_one_place_is_not_mended_gets_nothing(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": "import os\ntry:\n    import sys\nexcept ImportError:\n    pass\n"})
    places = [Wanted("F1", "a.py", line, line, "ruff", "F401") for line in (1, 3)]
    assert offered(made, places[:1]).proposals
    assert offered(made, places).proposals == {}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_imports_that_are_all_of_a_block_leave_what_ruff_leaves(ending: str, tmp_path: Path) -> None:
    blocks = "if x:\n    import os\n    import sys\nelse:\n\timport json\n\timport ast\n"
    source = f"x = 1\n{blocks}if x: import re; import csv\n".replace("\n", ending).encode()
    made = scene(tmp_path, {"a.py": source})
    found = offered(made, [Wanted("F1", "a.py", line, line, "ruff", "F401") for line in (3, 4, 6, 7)])
    (tmp_path / "b.py").write_bytes(source)
    words = (str(RUFF), "check", "--fix", "--isolated", "--no-cache", "--exit-zero", "--select", "F401", "b.py")
    subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    after = mended(made, "a.py", found, "F1")
    assert after.partition(b"if x: import")[0] == (tmp_path / "b.py").read_bytes().partition(b"if x: ")[0]
    assert offered(made, [Wanted("F1", "a.py", 8, 8, "ruff", "F401")]).proposals == {}


def test_without_a_sandbox_ruff_is_asked_with_our_own_selection_alone(tmp_path: Path) -> None:
    head = {
        "ruff.toml": "[lint]\nselect = ['I']\n",
        "a.py": "import sys\nimport os\nprint(sys)\n",
        "t.sh": "#!/bin/sh\necho $1\n",
    }
    made = scene(tmp_path, head, level="none")
    wanted = [
        Wanted("F1", "a.py", 2, 2, "ruff", "F401"),
        Wanted("F2", "a.py", 1, 1, "ruff", "I001"),
        Wanted("F3", "t.sh", 2, 2, "shellcheck", "SC2086"),
    ]
    assert list(offered(made, wanted).proposals) == ["F1"]
    assert [job.name for job in made.jobs[0]] == ["fix:ruff:head"]


def test_nothing_is_run_where_nothing_may_be_or_no_tool_found_anything(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": "import os\n"})
    wanted = [Wanted("F1", "a.py", 1, 1, "ruff", "F401")]
    assert offered(made, wanted, replace(OPTIONS, execute=False)) == Offered()
    assert offered(made, wanted, replace(OPTIONS, presets=())) == Offered()
    assert offered(made, [replace(wanted[0], tool="mypy")]) == Offered()
    assert offered(made, []) == Offered()
    assert made.jobs == []


def test_a_tool_that_fails_says_why_it_offers_nothing(tmp_path: Path) -> None:
    settings = {"ruff.toml": "required-version = '>=999'\n"}
    made = scene(tmp_path, {**settings, "a.py": "import os\n"}, settings)
    found = offered(made, [Wanted("F1", "a.py", 1, 1, "ruff", "F401")])
    assert list(found.proposals) == ["F1"]
    assert len(found.notes) == 1
    assert found.notes[0].startswith("ruff offers no fixes: it failed (exit code 2)")


def test_a_check_of_the_users_own_is_asked_in_the_format_of_its_report(tmp_path: Path) -> None:
    head = {"a.py": "import os\nx = 1\n"}
    for parser in ("ruff", "rdjson", "sarif"):
        form = "json" if parser == "ruff" else parser
        run = ("{ruff}", "check", "--isolated", "--no-cache", "--output-format", form, "{files}")
        options = CheckOptions(presets=(), custom=(Custom("mine", run, parser, files=("*.py",)),))
        (tmp_path / parser).mkdir()
        made = scene(tmp_path / parser, head)
        found = offered(made, [Wanted("F1", "a.py", 1, 1, "mine", "F401")], options)
        assert mended(made, "a.py", found, "F1") == b"x = 1\n", parser
        assert found.proposals["F1"][0].author == "mine"


@pytest.mark.skipif(not shutil.which("gofmt", path="/usr/bin:/usr/local/bin"), reason="gofmt is not installed")
def test_what_golangci_lint_says_of_gofmt_is_mended_by_gofmt(tmp_path: Path) -> None:
    source = 'package a\n\nfunc  F() []int {\n\tx := []int{1}\n\tfor i, _ := range x { x[i] = len("日") }\n\treturn x\n}\n'
    made = scene(tmp_path, {"a.go": source, "go.mod": "module a\n"})
    found = offered(made, [Wanted("F1", "a.go", 3, 3, "golangci-lint", "gofmt")])
    (tmp_path / "b.go").write_text(source)
    told = subprocess.run(("gofmt", "-s", "b.go"), cwd=tmp_path, capture_output=True, check=True)
    assert mended(made, "a.go", found, "F1") == told.stdout
    assert len(found.proposals["F1"][0].splices) > 1


def test_of_reports_of_one_tool_the_first_that_mends_a_place_counts() -> None:
    def report(text: str, *lines: int) -> Report:
        changes = ((Change("a", Spot(line, 1), Spot(line, 2), text),) for line in lines)
        return Report.of("t", [Offer("a", line, "R", made) for line, made in zip(lines, changes, strict=True)], lambda path: path)

    places = [Wanted("F1", "a", line, line, "t", "R") for line in (1, 2)]
    texts = {"a": Text(b"x\ny\n")}
    (made,) = pairing.proposals(places, [report("1", 1), report("2", 1, 2)], texts)["F1"]
    assert applied(b"x\ny\n", made.splices) == b"1\n2\n"
    assert pairing.proposals(places, [report("1", 1)], texts) == {}


def test_words_of_a_tool_are_made_fit_to_be_seen() -> None:
    change = Change("a", Spot(1, 1), Spot(1, 2), "z")
    key = "AKIA" + "Z7QW3M5RT2XK6NLP"
    said = Report.of("t", [Offer("a", 1, "R", (change,), explanation=f"\x1b[2J{key}\nmore")], lambda path: path)
    (made,) = pairing.proposals([Wanted("F1", "a", 1, 1, "t", "R")], [said], {"a": Text(b"x\n")})["F1"]
    assert made == Proposal("t", made.splices, made.explanation)
    assert key not in made.explanation
    assert "\x1b" not in made.explanation
    assert "\n" not in made.explanation


def test_the_rules_that_are_believed_are_those_of_the_first_run(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": "import os\n"})
    offered(made, [Wanted("F1", "a.py", 1, 1, "ruff", "F401")])
    (job,) = made.jobs[0]
    assert ",".join(CODES) in job.argv
    assert not job.executes
    assert {"--no-fix", "--no-fix-only"} <= set(job.argv)


def test_a_report_that_was_cut_off_offers_nothing(tmp_path: Path) -> None:
    made = scene(tmp_path, {"a.py": "import os\n"})
    asked = fixers.offered([Wanted("F1", "a.py", 1, 1, "ruff", "F401")], made.view, OPTIONS)
    next(asked)
    with pytest.raises(StopIteration) as end:
        asked.send((Outcome(Ended.EXITED, 0, stdout=b'[{"filename": "a.py", "co'),))
    found = end.value.value
    assert found.proposals == {}
    assert found.notes[0].startswith("ruff offers no fixes: ")
