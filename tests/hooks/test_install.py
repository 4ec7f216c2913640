"""Hooks written into real repositories and taken away again: what was there is kept, and comes back as it was."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.adapters.git.hooks import GitHooks
from reviewbot.domain.hook import Act, Step
from reviewbot.errors import ReviewbotError, UsageError, WriteError
from reviewbot.events import hook_text
from reviewbot.wiring import hooks
from reviewbot.wiring.hooks import RefusedError, Wish
from tests.hooks import foreign
from tests.hooks.lab import BROKEN, CLEAN, SECONDS, Lab
from tests.repo import Repo

pytestmark = pytest.mark.matrix(parts=1)

NAMES = ("pre-commit", "pre-push")
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
MINE = "#!/bin/sh\necho mine\n"


def around(repo: Repo, **more: str) -> dict[str, str]:
    return {**repo.environment, "PATH": PATH, **more}


def folder_of(repo: Repo) -> Path:
    (made := repo.path / ".git" / "hooks").mkdir(exist_ok=True)
    return made


def put(path: Path, text: str = MINE, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    os.utime(path, ns=(1_500_000_000_000_000_000, 1_500_000_000_123_456_789))
    return path


def shape(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything of a folder of hooks that uninstalling has to leave as it was; git's samples are left out."""
    found = {}
    for path in folder.iterdir():
        if path.suffix != ".sample":
            status = path.lstat()
            what = str(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[path.name] = (what, stat.S_IMODE(status.st_mode), status.st_mtime_ns, status.st_ino)
    return found


def is_ours(path: Path) -> bool:
    ours = hook_text.read(path.read_bytes())
    return ours is not None and ours.intact and os.access(path, os.X_OK)


def refusal(repo: Repo, wish: Wish = hooks.BOTH, *, directory: Path | None = None, **more: str) -> str:
    with pytest.raises(UsageError) as caught:
        hooks.install(directory or repo.path, around(repo, **more), wish)
    return str(caught.value)


# The plain case


def test_both_hooks_are_written_where_git_looks_and_taken_away_again(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    before = shape(folder_of(lab.repo))
    ran = lab.reviewbot("hook", "install", "--fail-on", "high")
    assert (ran.code, ran.out) == (0, ""), ran.err
    assert ran.err.splitlines() == [f"{name}: installed as .git/hooks/{name}" for name in NAMES]
    for name in NAMES:
        ours = hook_text.read((lab.git_dir / "hooks" / name).read_bytes())
        assert ours == hook_text.Script(1, name, intact=True, python=sys.executable, options=("--fail-on", "high"))
    ran = lab.reviewbot("hook", "uninstall")
    assert ran.err.splitlines() == [f"{name}: removed from .git/hooks" for name in NAMES]
    assert shape(lab.git_dir / "hooks") == before
    assert lab.reviewbot("hook", "uninstall").err.splitlines() == [f"{name}: not installed" for name in NAMES]


def test_a_second_install_changes_nothing_and_other_options_bring_it_up_to_date(git_repo: Repo) -> None:
    hooks.install(git_repo.path, around(git_repo))
    first = shape(folder_of(git_repo))
    said = hooks.install(git_repo.path, around(git_repo))
    assert said == tuple(f"{name}: already installed as .git/hooks/{name}" for name in NAMES)
    assert shape(folder_of(git_repo)) == first
    said = hooks.install(git_repo.path, around(git_repo), Wish(("pre-commit",), ("--strict",)))
    assert said == ("pre-commit: brought up to date as .git/hooks/pre-commit (before: no options)",)
    assert b"hook run pre-commit --strict" in (folder_of(git_repo) / "pre-commit").read_bytes()
    assert shape(folder_of(git_repo))["pre-push"] == first["pre-push"]


def test_only_the_hook_that_is_meant_is_touched(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    assert lab.reviewbot("hook", "install", "--no-pre-push", "-q").err == ""
    assert set(shape(lab.git_dir / "hooks")) == {"pre-commit"}
    ran = lab.reviewbot("hook", "install", "--no-pre-push", "--no-pre-commit")
    assert ran.code == 2
    assert "no hook is left" in ran.err


def test_a_hook_of_another_version_is_known_and_replaced(git_repo: Repo) -> None:
    path = folder_of(git_repo) / "pre-commit"
    older = hook_text.script("pre-commit", "/gone/python", ("--strict",)).replace(b"-hook: 1 ", b"-hook: 0 ")
    put(path, hook_text.sealed(older).decode())
    found = hooks.status(git_repo.path, around(git_repo)).hooks[0]
    assert found.installed
    assert any("another version" in problem for problem in found.problems)
    said = hooks.install(git_repo.path, around(git_repo), Wish(("pre-commit",)))
    assert said == ("pre-commit: brought up to date as .git/hooks/pre-commit (before: --strict)",)
    assert is_ours(path)


def test_installed_hooks_stop_a_commit_and_a_push_until_they_are_mended(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    put(lab.git_dir / "hooks" / "pre-push", "#!/bin/sh\ncat >heard\n")
    lab.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    lab.git("push", "-q", str(tmp_path / "remote.git"), "main")
    lab.reviewbot("hook", "install", "--fail-on", "low")
    lab.stage("first.py", BROKEN)
    ran = lab.git("commit", "-m", "Break it", check=False)
    assert (ran.code, "first.py:1 " in ran.err) == (1, True)
    assert lab.git("commit", "-m", "Break it", env={"SKIP": "reviewbot"}, check=False).code == 0
    ran = lab.git("push", str(tmp_path / "remote.git"), "main", check=False)
    assert (ran.code, "first.py:1 " in ran.err) == (1, True)
    assert (lab.path / "heard").read_text().startswith("refs/heads/main ")
    lab.stage("first.py", CLEAN)
    assert lab.git("commit", "-m", "Mend it", check=False).code == 0
    lab.reviewbot("hook", "uninstall")
    lab.stage("first.py", BROKEN)
    assert "first.py:1 " not in lab.git("commit", "-m", "Break it again").err


# What was there before


@pytest.mark.parametrize("mode", [0o755, 0o700, 0o644])
def test_a_hook_that_was_there_is_kept_and_comes_back_to_the_bit(git_repo: Repo, mode: int) -> None:
    folder = folder_of(git_repo)
    put(folder / "pre-commit", mode=mode)
    put(folder / "commit-msg", "#!/bin/sh\n")
    before = shape(folder)
    said = hooks.install(git_repo.path, around(git_repo), Wish(("pre-commit",)))
    assert "what was there is now pre-commit.before-reviewbot, and runs first" in said[0]
    assert ("not" in said[0]) == (mode == 0o644)
    during = shape(folder)
    assert during["pre-commit.before-reviewbot"] == before["pre-commit"]
    assert is_ours(folder / "pre-commit")
    hooks.install(git_repo.path, around(git_repo), Wish(("pre-commit",), ("--strict",)))
    assert shape(folder)["pre-commit.before-reviewbot"] == before["pre-commit"]
    said = hooks.uninstall(git_repo.path, around(git_repo))
    assert said == ("pre-commit: removed; .git/hooks/pre-commit is again what it was before", "pre-push: not installed")
    assert shape(folder) == before


@pytest.mark.parametrize("target", ["../../scripts/check", "/nonexistent/check"])
def test_a_link_is_kept_as_the_link_that_it_is(git_repo: Repo, target: str) -> None:
    put(git_repo.path / "scripts" / "check", "#!/bin/sh\ntouch checked\nexit 3\n")
    folder = folder_of(git_repo)
    (folder / "pre-commit").symlink_to(target)
    hooks.install(git_repo.path, around(git_repo), Wish(("pre-commit",)))
    assert str((folder / "pre-commit.before-reviewbot").readlink()) == target
    assert is_ours(folder / "pre-commit")
    assert (git_repo.path / "scripts" / "check").read_text().startswith("#!/bin/sh\ntouch")
    if not target.startswith("/"):
        done = subprocess.run([folder / "pre-commit"], cwd=git_repo.path, env=around(git_repo), check=False)
        assert (done.returncode, (git_repo.path / "checked").exists()) == (3, True)
    hooks.uninstall(git_repo.path, around(git_repo))
    assert str((folder / "pre-commit").readlink()) == target
    assert set(shape(folder)) == {"pre-commit"}


def test_a_kill_between_keeping_and_writing_is_made_good_by_the_next_install(git_repo: Repo) -> None:
    folder = folder_of(git_repo)
    put(folder / "pre-push", foreign.LFS)
    before = shape(folder)
    place = GitHooks.open(git_repo.path, around(git_repo))
    place.carry_out(place.found(place.looked, "pre-push"), [Step(Act.KEEP, "pre-push", "pre-push.before-reviewbot")])
    assert (folder / "pre-push").read_text() == foreign.LFS, "at no moment is there no hook"
    hooks.install(git_repo.path, around(git_repo))
    assert shape(folder)["pre-push.before-reviewbot"] == before["pre-push"]
    hooks.uninstall(git_repo.path, around(git_repo))
    assert shape(folder) == before


def test_where_an_older_hook_is_kept_already_nothing_is_lost(git_repo: Repo) -> None:
    folder = folder_of(git_repo)
    put(folder / "pre-commit")
    put(folder / "pre-commit.before-reviewbot", "#!/bin/sh\necho older\n")
    before = shape(folder)
    for force in (False, True):
        assert "keeps an older hook already" in refusal(git_repo, Wish(force=force))
        assert shape(folder) == before, "nor is the other hook written"


def test_a_hook_that_asks_for_its_own_name_is_spoken_of(git_repo: Repo) -> None:
    put(folder_of(git_repo) / "pre-commit", '#!/bin/sh\nexec run-parts "hooks.d/$(basename "$0")"\n')
    assert "it looks at its own name" in hooks.install(git_repo.path, around(git_repo))[0]


def test_a_hook_that_somebody_changed_is_neither_overwritten_nor_removed(git_repo: Repo) -> None:
    hooks.install(git_repo.path, around(git_repo))
    path = folder_of(git_repo) / "pre-commit"
    path.write_text(path.read_text() + "make check\n")
    before = shape(path.parent)
    assert ".git/hooks/pre-commit was changed by hand since reviewbot wrote it; move what you added" in refusal(git_repo)
    with pytest.raises(UsageError, match=r"was changed by hand.*say --force"):
        hooks.uninstall(git_repo.path, around(git_repo))
    assert shape(path.parent) == before
    hooks.install(git_repo.path, around(git_repo), Wish(force=True))
    assert is_ours(path)


def test_a_changed_hook_goes_where_that_is_said(git_repo: Repo) -> None:
    hooks.install(git_repo.path, around(git_repo))
    path = folder_of(git_repo) / "pre-commit"
    path.write_text(path.read_text() + "make check\n")
    hooks.uninstall(git_repo.path, around(git_repo), Wish(force=True))
    assert shape(path.parent) == {}


def test_what_is_not_ours_stays_when_ours_goes(git_repo: Repo) -> None:
    folder = folder_of(git_repo)
    put(folder / "pre-commit")
    put(folder / "pre-push.before-reviewbot", "#!/bin/sh\n# nobody's any more\n")
    before = shape(folder)
    said = hooks.uninstall(git_repo.path, around(git_repo))
    assert said[0] == "pre-commit: left as it is: .git/hooks/pre-commit is not reviewbot's"
    assert said[1].startswith("pre-push: not installed; pre-push.before-reviewbot is there, and nothing runs it")
    assert shape(folder) == before


def test_a_link_to_one_of_ours_is_left_alone(git_repo: Repo) -> None:
    put(git_repo.path / "tools" / "hook", hook_text.script("pre-commit").decode())
    (folder_of(git_repo) / "pre-commit").symlink_to("../../tools/hook")
    before = shape(folder_of(git_repo))
    assert "is a link to a hook of reviewbot's" in hooks.install(git_repo.path, around(git_repo), Wish(("pre-commit",)))[0]
    with pytest.raises(UsageError, match="remove the link by hand"):
        hooks.uninstall(git_repo.path, around(git_repo))
    assert shape(folder_of(git_repo)) == before


def test_what_changes_while_it_is_decided_is_not_overwritten(git_repo: Repo) -> None:
    place = GitHooks.open(git_repo.path, around(git_repo))
    found = place.found(place.looked, "pre-commit")
    path = put(folder_of(git_repo) / "pre-commit")
    with pytest.raises(WriteError, match="changed by somebody else meanwhile"):
        place.carry_out(found, [Step(Act.WRITE, "pre-commit", content=b"ours")])
    assert path.read_text() == MINE


def test_several_installs_at_once_lose_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    path = put(lab.git_dir / "hooks" / "pre-commit")
    line = (*lab.program, "hook", "install", "--no-pre-push")
    many = [subprocess.Popen(line, cwd=lab.path, env=lab.environment, stderr=subprocess.DEVNULL) for _ in range(4)]
    codes = {one.wait(SECONDS) for one in many}
    assert 0 in codes
    assert codes <= {0, 2}, "2 says that another one was faster"
    assert is_ours(path)
    assert path.with_name("pre-commit.before-reviewbot").read_text() == MINE


def test_a_folder_that_cannot_be_written_to_is_one_error(git_repo: Repo) -> None:
    git_repo.write("file", "")
    git_repo.git("config", "core.hooksPath", "file/hooks")
    assert refusal(git_repo).startswith("cannot write in file/hooks: Not a directory; ")


# Programs that write hooks


@pytest.mark.parametrize(("name", "text"), foreign.MANAGED.items(), ids=foreign.MANAGED)
def test_a_managers_hook_is_known_and_the_right_way_is_told(git_repo: Repo, name: str, text: str) -> None:
    folder = folder_of(git_repo)
    put(folder / "pre-commit", text)
    before = shape(folder)
    with pytest.raises(RefusedError) as caught:
        hooks.install(git_repo.path, around(git_repo))
    assert f"are written by {name.split()[0]}" in caught.value.message
    assert "reviewbot" in caught.value.snippet
    assert shape(folder) == before
    if name.startswith("husky"):
        with pytest.raises(RefusedError):
            hooks.install(git_repo.path, around(git_repo), Wish(force=True))
    else:
        hooks.install(git_repo.path, around(git_repo), Wish(force=True))
        assert is_ours(folder / "pre-commit")
        hooks.uninstall(git_repo.path, around(git_repo))
    assert shape(folder) == before


def test_the_snippet_for_pre_commit_is_printed_and_valid(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    put(lab.git_dir / "hooks" / "pre-commit", foreign.PRE_COMMIT)
    ran = lab.reviewbot("hook", "install")
    assert ran.code == 2
    *snippet, error = ran.err.rstrip("\n").split("\n")
    assert error.startswith("reviewbot: error: the hooks in .git/hooks are written by pre-commit; put this under `repos:`")
    config = tmp_path / "config.yaml"
    config.write_text("\n".join(["repos:", *snippet]))
    lab.run("pre-commit", "validate-config", config, check=True)


def test_the_folder_that_husky_writes_anew_is_never_written_to(git_repo: Repo) -> None:
    git_repo.git("config", "core.hooksPath", ".husky/_")
    assert "written by husky; run this, and commit .husky" in refusal(git_repo, Wish(force=True))
    assert not (git_repo.path / ".husky").exists()


def test_gits_lfs_hook_is_nobody_to_ask(git_repo: Repo) -> None:
    put(folder_of(git_repo) / "pre-push", foreign.LFS)
    assert "runs first" in hooks.install(git_repo.path, around(git_repo))[1]


# Where git looks


def test_a_hooks_path_in_the_work_tree_gets_a_hook_that_can_be_committed(git_repo: Repo) -> None:
    git_repo.git("config", "core.hooksPath", ".githooks")
    (git_repo.path / "below").mkdir()
    said = hooks.install(git_repo.path / "below", around(git_repo))
    assert said[0].startswith("pre-commit: installed as .githooks/pre-commit; it is a part of the work tree")
    text = (git_repo.path / ".githooks" / "pre-commit").read_text()
    assert str(Path(sys.executable).parent) not in text
    assert is_ours(git_repo.path / ".githooks" / "pre-commit")
    assert shape(folder_of(git_repo)) == {}


def test_a_hooks_path_of_the_repository_itself_is_its_own(git_repo: Repo) -> None:
    git_repo.git("config", "core.hooksPath", ".git/own-hooks")
    hooks.install(git_repo.path, around(git_repo))
    assert sys.executable in (git_repo.path / ".git" / "own-hooks" / "pre-commit").read_text()


@pytest.mark.parametrize("scope", ["global", "local"])
def test_a_folder_of_many_repositories_is_written_to_only_where_that_is_said(git_repo: Repo, scope: str) -> None:
    own = git_repo.home / "gitconfig"
    git_repo.run(
        "config", "--file", str(own if scope == "global" else git_repo.path / ".git/config"), "core.hooksPath", "~/hooks"
    )
    more = {"GIT_CONFIG_GLOBAL": str(own)}
    said = refusal(git_repo, **more)
    assert re.match(rf"core\.hooksPath \({scope}, \S+\) says that git looks for hooks in \S+/home/hooks, which other", said)
    assert "say --shared" in said
    assert not (git_repo.home / "hooks").exists()
    hooks.install(git_repo.path, around(git_repo, **more), Wish(shared=True))
    assert is_ours(git_repo.home / "hooks" / "pre-push")
    assert "already installed" in hooks.install(git_repo.path, around(git_repo, **more))[0]
    with pytest.raises(UsageError, match="--shared"):
        hooks.uninstall(git_repo.path, around(git_repo, **more))
    hooks.uninstall(git_repo.path, around(git_repo, **more), Wish(shared=True))
    assert shape(git_repo.home / "hooks") == {}


def test_the_way_out_of_a_shared_folder_that_is_told_works(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    (config := tmp_path / "gitconfig").write_text("[core]\n\thooksPath = ~/hooks\n")
    lab.extra["GIT_CONFIG_GLOBAL"] = str(config)
    ran = lab.reviewbot("hook", "install")
    assert ran.code == 2
    told = re.search(r"hooks of its own: (git config .*)", ran.err)
    assert told
    lab.run("sh", "-c", told[1], check=True)
    assert lab.reviewbot("hook", "install").code == 0
    assert is_ours(lab.git_dir / "hooks" / "pre-commit")


@pytest.mark.parametrize("value", ["C:\\hooks", "C:/hooks", "c:", "hooks\\mine", "\\\\server\\hooks", "D:\\a b"])
def test_a_path_of_windows_is_refused_by_name(git_repo: Repo, value: str) -> None:
    git_repo.git("config", "core.hooksPath", value)
    before = git_repo.snapshot()
    said = refusal(git_repo)
    assert said.startswith(
        f"core.hooksPath (local, .git/config) is {value!r}, a path of Windows; set it to a folder of this system"
    )
    with pytest.raises(UsageError, match="a path of Windows"):
        hooks.uninstall(git_repo.path, around(git_repo))
    with pytest.raises(UsageError, match="a path of Windows"):
        hooks.status(git_repo.path, around(git_repo))
    assert git_repo.snapshot() == before
    assert {path.name for path in git_repo.path.iterdir()} == {".git"}


@pytest.mark.parametrize("line", ["hooksPath = C:\\hooks", "hooksPath", "worktree = C:\\hooks\\x"])
def test_a_configuration_that_git_cannot_read_is_one_sentence(git_repo: Repo, line: str) -> None:
    with (git_repo.path / ".git/config").open("a") as file:
        file.write(f"[core]\n\t{line}\n")
    with pytest.raises(ReviewbotError, match=r"config|missing value") as caught:
        hooks.install(git_repo.path, around(git_repo))
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_a_work_tree_that_windows_made_is_one_sentence(git_repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / ".git").write_text("gitdir: C:/work/repo/.git/worktrees/other\n")
    assert "names C:/work/repo/.git/worktrees/other, a path of Windows" in refusal(git_repo, directory=tmp_path / "other")


@pytest.mark.parametrize(("value", "told"), [("/dev/null", "git runs no hooks here"), ("", "is empty")])
def test_hooks_that_are_switched_off_stay_so(git_repo: Repo, value: str, told: str) -> None:
    git_repo.git("config", "core.hooksPath", value)
    said = refusal(git_repo)
    assert told in said
    assert "--unset-all core.hooksPath" in said


def test_a_folder_of_hooks_that_is_a_link_is_taken_for_what_it_leads_to(git_repo: Repo, tmp_path: Path) -> None:
    shutil.rmtree(folder_of(git_repo))
    (outside := tmp_path / "everybodys").mkdir()
    (git_repo.path / ".git" / "hooks").symlink_to(outside)
    assert "the folder of hooks is a link to" in refusal(git_repo)
    assert shape(outside) == {}
    (git_repo.path / ".git" / "hooks").unlink()
    (git_repo.path / "githooks").mkdir()
    (git_repo.path / ".git" / "hooks").symlink_to("../githooks")
    assert "installed as githooks/pre-commit; it is a part of the work tree" in hooks.install(git_repo.path, around(git_repo))[0]


def test_a_setting_that_came_later_does_not_hide_a_hook_from_uninstall(git_repo: Repo) -> None:
    hooks.install(git_repo.path, around(git_repo))
    git_repo.git("config", "core.hooksPath", ".githooks")
    assert (
        hooks.status(git_repo.path, around(git_repo))
        .notes[0]
        .startswith("pre-commit is installed as .git/hooks/pre-commit as well")
    )
    said = hooks.uninstall(git_repo.path, around(git_repo))
    assert said == tuple(f"{name}: removed from .git/hooks" for name in NAMES)
    assert shape(folder_of(git_repo)) == {}


# Repositories of every kind


def test_a_linked_work_tree_has_the_hooks_of_its_repository(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.commit()
    git_repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    said = hooks.install(tmp_path / "linked", around(git_repo))
    assert said[0] == f"pre-commit: installed as {git_repo.path}/.git/hooks/pre-commit"
    assert "already" in hooks.install(git_repo.path, around(git_repo))[0]
    looked = subprocess.check_output(
        ["git", "rev-parse", "--path-format=absolute", "--git-path", "hooks/pre-commit"], cwd=tmp_path / "linked", text=True
    )
    assert is_ours(Path(looked.strip()))


def test_a_submodule_has_hooks_of_its_own(git_repo: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path, name="other")
    other.commit()
    git_repo.git("submodule", "--quiet", "add", str(other.path), "sub")
    hooks.install(git_repo.path / "sub", around(git_repo))
    assert is_ours(git_repo.path / ".git" / "modules" / "sub" / "hooks" / "pre-commit")
    assert shape(folder_of(git_repo)) == {}
    hooks.uninstall(git_repo.path / "sub", around(git_repo))
    assert shape(git_repo.path / ".git" / "modules" / "sub" / "hooks") == {}


def test_a_clone_of_a_bare_remote_is_a_repository_like_others(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.commit()
    git_repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    git_repo.git("clone", "-q", str(tmp_path / "bare.git"), str(tmp_path / "clone"))
    hooks.install(tmp_path / "clone", around(git_repo))
    assert is_ours(tmp_path / "clone" / ".git" / "hooks" / "pre-push")
    assert "bare repository" in refusal(git_repo, directory=tmp_path / "bare.git")
    assert "bare repository" in refusal(git_repo, GIT_DIR=str(tmp_path / "bare.git"))
    assert shape(tmp_path / "bare.git" / "hooks") == {}


def test_in_no_repository_there_are_no_hooks(git_repo: Repo, tmp_path: Path) -> None:
    assert "is not in a git repository" in refusal(git_repo, directory=tmp_path)
    assert ".git folder" in refusal(git_repo, directory=git_repo.path / ".git")


@pytest.mark.parametrize("absolute", [True, False])
def test_a_repository_that_the_environment_names_is_the_one_that_is_meant(git_repo: Repo, tmp_path: Path, absolute: bool) -> None:
    start = str(tmp_path) if absolute else "."
    more = {"GIT_DIR": f"{start}/repo/.git", "GIT_WORK_TREE": f"{start}/repo"}
    hooks.install(tmp_path, around(git_repo, **more))
    assert is_ours(folder_of(git_repo) / "pre-commit")
    git_repo.git("config", "core.hooksPath", "tools/hooks")
    hooks.install(tmp_path, around(git_repo, **more))
    assert is_ours(git_repo.path / "tools" / "hooks" / "pre-commit")
    assert not (tmp_path / "tools").exists()


def test_a_program_that_could_not_be_started_from_a_hook_is_called_by_path(git_repo: Repo) -> None:
    from reviewbot.adapters.git import hooks as adapter

    assert adapter.starts(sys.executable)
    assert not adapter.starts("/bin/false")
    assert not adapter.starts("/nonexistent/python")


def test_a_folder_of_hooks_whose_name_steers_a_terminal_is_told_harmlessly(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.git("config", "core.hooksPath", ".git/\x1b]0;title\x07\x1b[31mhooks")
    for command in ("install", "status", "uninstall"):
        ran = lab.reviewbot("hook", command)
        assert ran.code == 0
        assert "hooks" in ran.out + ran.err
        assert not {"\x1b", "\x07"} & set(ran.out + ran.err)
