"""Wheels of what is installed beside the tests, so that ``pip install`` of this repository needs no package index.

pip takes its real way, build isolation and resolving included: give it ``offline(folder)`` as its environment, where
``stock(folder, "reviewbot", …)`` put the wheels. What pip needs of a distribution is packed again from what it left of it.
"""

from __future__ import annotations

import sysconfig
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from packaging.requirements import Requirement

BUILDING = ("hatchling",)
"""What ``pyproject.toml`` asks for to build."""

LEFT_BY_PIP = ("INSTALLER", "RECORD", "REQUESTED", "direct_url.json")


def offline(folder: Path) -> dict[str, str]:
    """Variables with which pip, and a virtualenv that seeds itself, ask nobody."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_NO_COMPILE": "1",
        "VIRTUALENV_NO_PERIODIC_UPDATE": "1",
        "VIRTUALENV_NO_DOWNLOAD": "1",
    }


def stock(folder: Path, *wanted: str) -> Path:
    """A wheel of each of these distributions and of all that they need; of reviewbot itself only what it needs."""
    folder.mkdir(parents=True, exist_ok=True)
    for found in _needed([*wanted, *BUILDING]):
        if found.name != "reviewbot":
            _pack(found, folder)
    return folder


def _needed(wanted: list[str]) -> list[Distribution]:
    seen: dict[tuple[str, str], Distribution] = {}
    left = [Requirement(name) for name in wanted]
    while left:
        one = left.pop()
        for extra in ("", *sorted(one.extras)):
            if (one.name.lower(), extra) in seen:
                continue
            try:
                found = distribution(one.name)
            except PackageNotFoundError:  # for another platform, or an extra that nobody installed
                continue
            seen[one.name.lower(), extra] = found
            asked = [Requirement(text) for text in found.requires or ()]
            left += [need for need in asked if need.marker is None or need.marker.evaluate({"extra": extra})]
    return list({found.name: found for found in seen.values()}.values())


def _pack(found: Distribution, folder: Path) -> None:
    name = f"{found.name.replace('-', '_')}-{found.version}"
    files = dict(_files(found, f"{name}.data/scripts"))
    (wheel,) = (content for path, content in files.items() if path.endswith(".dist-info/WHEEL"))
    tags = [line.split(": ", 1)[1] for line in wheel.decode().splitlines() if line.startswith("Tag: ")]
    record = next(path for path in files if path.endswith(".dist-info/WHEEL")).replace("/WHEEL", "/RECORD")
    with zipfile.ZipFile(folder / f"{name}-{_tag(tags)}.whl", "w", zipfile.ZIP_STORED) as archive:
        for path, content in files.items():
            info = zipfile.ZipInfo(path)
            info.external_attr = 0o100755 << 16
            archive.writestr(info, content)
        archive.writestr(record, "".join(f"{path},,\n" for path in (*files, record)))


def _files(found: Distribution, scripts: str) -> list[tuple[str, bytes]]:
    """Its files by their names in a wheel. Programs that pip makes of entry points it makes again."""
    made = {f"{point.name}" for point in found.entry_points if point.group in ("console_scripts", "gui_scripts")}
    programs = Path(sysconfig.get_path("scripts")).resolve()
    packed = []
    for file in found.files or ():
        place, path = Path(str(found.locate_file(file))).resolve(), PurePosixPath(file)
        if "__pycache__" in path.parts or path.name in LEFT_BY_PIP or not place.is_file():
            continue
        if place.parent == programs:
            if place.name not in made:
                packed.append((f"{scripts}/{place.name}", place.read_bytes()))
        elif ".." not in path.parts:
            packed.append((path.as_posix(), place.read_bytes()))
    return packed


def _tag(tags: list[str]) -> str:
    """One compressed tag for all: ``cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64``."""
    parts = zip(*(tag.split("-") for tag in tags), strict=True)
    return "-".join(".".join(dict.fromkeys(part)) for part in parts)
