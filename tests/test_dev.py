"""``./dev`` on machines that lack something: it says what, and how to get it, and never asks."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
NEEDED = ("sh", "cat", "cksum", "dirname", "env", "id", "rm")

PYTHON_WITHOUT_VENV = """\
#!/bin/sh
case "$*" in
*ensurepip*) exit 1 ;;
*print*) echo python3.12-venv ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with ``dev`` and a ``bin`` that holds nothing but a few plain tools."""
    (tmp_path / "bin").mkdir()
    for tool in NEEDED:
        found = shutil.which(tool)
        assert found
        (tmp_path / "bin" / tool).symlink_to(found)
    shutil.copy(TOP / "dev", tmp_path / "dev")
    shutil.copy(TOP / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def install(machine: Path, name: str, script: str = "#!/bin/sh\n") -> None:
    path = machine / "bin" / name
    path.write_text(script)
    path.chmod(0o755)


def dev(machine: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [machine / "dev", *words],
        cwd=cwd or machine,
        env={"PATH": str(machine / "bin"), "HOME": str(machine)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("words", [(), ("help",), ("--help",)])
def test_without_a_known_word_it_says_what_it_can_do(machine: Path, words: tuple[str, ...]):
    done = dev(machine, *words)
    assert done.returncode == 2
    assert "./dev try" in done.stderr
    assert "./dev test" in done.stderr


def test_a_machine_without_git_is_told_how_to_get_it(machine: Path):
    done = dev(machine, "try")
    assert done.returncode == 2
    assert done.stderr.endswith("git is missing. Install it: sudo apt-get install git\n")


def test_a_machine_without_a_new_enough_python_is_told(machine: Path, tmp_path: Path):
    install(machine, "git")
    install(machine, "bwrap")
    install(machine, "python3", "#!/bin/sh\nexit 1\n")
    done = dev(machine, "try", cwd=Path("/"))
    assert done.returncode == 2
    assert done.stderr == "dev: no Python >= 3.11 is found. Install one: sudo apt-get install python3 python3-venv\n"


def test_a_python_that_cannot_make_environments_is_told_the_package(machine: Path):
    install(machine, "git")
    install(machine, "python3", PYTHON_WITHOUT_VENV)
    done = dev(machine, "test")
    assert done.returncode == 2
    assert "bubblewrap is missing" in done.stderr
    assert "sudo apt-get install python3.12-venv" in done.stderr


def test_what_is_missing_is_installed_where_that_is_permitted(machine: Path):
    """``id`` says root; this ``apt-get`` fails until its lists are fetched, as on a fresh machine."""
    log = machine / "apt.log"
    installs = f'#!/bin/sh\necho "$*" >>{log}\ncase "$*" in *update*) ;; *) [ "$(cat {log} | {{ read a; read b; echo "$b"; }})" ] ;; esac\n'
    install(machine, "git")
    install(machine, "apt-get", installs)
    (machine / "bin" / "id").unlink()
    install(machine, "id", "#!/bin/sh\necho 0\n")
    done = dev(machine, "try")
    assert log.read_text().splitlines() == [
        "install -qq -y --no-install-recommends bubblewrap",
        "update -qq",
        "install -qq -y --no-install-recommends bubblewrap",
    ]
    assert "no Python >= 3.11 is found" in done.stderr


def test_both_scripts_are_plain_shell():
    for script in ("dev", ".ci/run"):
        subprocess.run(["sh", "-n", TOP / script], check=True)
        assert (TOP / script).read_text().startswith("#!/bin/sh\n")
        assert (TOP / script).stat().st_mode & 0o111
