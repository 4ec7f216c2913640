"""A container engine for tests, with a small image made of this machine's own Python: nothing is pulled.

podman gets a storage of its own, so that nothing of its user's is touched and nothing is left.
"""

from __future__ import annotations

import atexit
import functools
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from reviewbot.adapters.sandbox import ContainerOptions, Host

IMAGE = "localhost/reviewbot-test:1"
OF_IMAGE = "a variable of the image"
PROGRAMS = (
    *(
        "env",
        "sh",
        "bash",
        "cat",
        "cp",
        "ls",
        "head",
        "tail",
        "wc",
        "sleep",
        "true",
        "false",
        "mkdir",
        "rm",
        "ln",
        "chmod",
        "touch",
    ),
    *("du", "dd", "yes", "id", "sort", "tr", "sed", "grep", "mount", "unshare", "setsid", "split"),
)
PACKAGES = ("py.py", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "coverage")
SETTINGS = """
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
"""


@functools.cache
def engine_host() -> Host | str:
    """What a sandbox is given to run containers here, or why it cannot."""
    reasons = []
    for name in ("podman", "docker"):
        if program := shutil.which(name):
            for runtime in ("", "runc"):
                host = _prepared(name, program, runtime)
                reason = _why_not(host, program)
                if not reason:
                    return host
                reasons.append(f"{name} {runtime}: {reason}")
    return "; ".join(reasons) or "neither podman nor docker is installed"


def _prepared(name: str, program: str, runtime: str) -> Host:
    folder = Path(tempfile.mkdtemp(prefix="rb-", dir="/var/tmp"))
    _at_end(shutil.rmtree, folder, ignore_errors=True)
    (folder / "containers.conf").write_text(SETTINGS)
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver = "overlay"\ngraphroot = "{folder}/graph"\nrunroot = "{folder}/run"\n'
        '[storage.options.overlay]\nskip_mount_home = "true"\n'
    )
    variables = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    variables |= {key: os.environ[key] for key in ("XDG_RUNTIME_DIR", "DOCKER_HOST") if key in os.environ}
    if name == "podman":
        variables |= {
            f"CONTAINERS{key}_CONF": f"{folder}/{file}.conf" for key, file in (("", "containers"), ("_STORAGE", "storage"))
        }
    options = ContainerOptions(name, IMAGE, runtime)
    return Host(path=(Path(program).parent,), container=options, engine_variables=tuple(variables.items()))


def _why_not(host: Host, program: str) -> str:
    """Bring the image in and run something in it."""
    variables = dict(host.engine_variables)
    runtime = ("--runtime", host.container.runtime) if host.container.runtime else ()
    before, after = (runtime, ()) if host.container.engine == "podman" else ((), runtime)
    for command, data in (
        ((program, "import", "--change", f'ENV SECRET="{OF_IMAGE}"', "-", IMAGE), _image()),
        ((program, *before, "run", "--rm", *after, "--network", "none", "--memory", "512m", IMAGE, "python3", "-c", "1"), b""),
    ):
        done = subprocess.run(command, env=variables, input=data, capture_output=True, check=False)
        if done.returncode:
            return done.stderr.decode(errors="replace").strip()[-200:]
    if host.container.engine == "docker":
        _at_end(subprocess.run, (program, "rmi", IMAGE), env=variables, capture_output=True, check=False)
    return ""


def _at_end(work: Callable[..., object], *words: object, **more: object) -> None:
    """When this process ends, and not when one that a test forked from it does."""
    owner = os.getpid()
    atexit.register(lambda: work(*words, **more) if os.getpid() == owner else None)


@functools.cache
def _image() -> bytes:
    """A root with the system's Python, a few programs, their libraries, and pytest where the versions fit."""
    python = Path(os.path.realpath("/usr/bin/python3"))
    library = Path("/usr/lib") / python.name
    programs = {f"usr/bin/{name}": Path(found) for name in PROGRAMS if (found := shutil.which(name, path="/usr/bin:/bin"))}
    programs["usr/bin/python3"] = python
    files = io.BytesIO()
    with tarfile.open(fileobj=files, mode="w", dereference=True) as tar:
        for name in ("bin", "lib", "lib64", "sbin"):
            tar.addfile(_link(name, f"usr/{name}"))
        for name in ("tmp", "etc", "proc", "sys", "dev", "run", "usr/sbin"):
            tar.addfile(_folder(name))
        for inside, place in (programs | _libraries(tuple(programs.values()))).items():
            tar.add(place, inside)
        tar.add(library, f"usr/lib/{python.name}", filter=_without_ballast)
        if python.name == f"python{sys.version_info[0]}.{sys.version_info[1]}":
            for name in PACKAGES:
                place = Path(sysconfig.get_path("purelib"), name)
                if place.exists():
                    tar.add(place, f"usr/lib/{python.name}/{name}", filter=_without_ballast)
    return files.getvalue()


def _libraries(programs: tuple[Path, ...]) -> dict[str, Path]:
    said = subprocess.run(("ldd", *programs), capture_output=True, text=True, check=False).stdout
    found = {Path(name) for name in re.findall(r"(?:=> |^\s)(/\S+)", said, re.MULTILINE)}
    return {str(Path("usr", *place.parts[1:])) if place.parts[1] != "usr" else str(place)[1:]: place for place in found}


def _without_ballast(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if re.search(r"/(?:test|__pycache__|config-[^/]*|idlelib|lib2to3|ensurepip)$", member.name) else member


def _folder(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
    return member


def _link(name: str, goal: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = tarfile.SYMTYPE, goal
    return member
