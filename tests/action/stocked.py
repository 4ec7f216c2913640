"""The Action's environment with all that its package brings along, as pip leaves it where there is a package index."""

from __future__ import annotations

import os
import shutil
import sysconfig
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

EXTRAS = ("github", "models", "gemini")
"""Those that ``action.yml`` asks for."""


def stock(empty: Path, folder: Path) -> Path:
    """A copy of an environment in which reviewbot stands alone and looks elsewhere for the rest, with the rest beside it: a
    sandbox shows one folder and not what it points to."""
    shutil.copytree(empty, folder, symlinks=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    (site / "tests.pth").unlink(missing_ok=True)
    for found in brought():
        _lay(found, site)
    return folder


def brought() -> list[Distribution]:
    """Everything that reviewbot with its extras needs, itself left out."""
    wanted: list[tuple[str, tuple[str, ...]]] = [("reviewbot", EXTRAS)]
    seen: dict[tuple[str, str], Distribution] = {}
    while wanted:
        name, extras = wanted.pop()
        for extra in ("", *extras):
            if (name, extra) not in seen:
                try:
                    seen[name, extra] = distribution(name)
                except PackageNotFoundError:
                    continue
                wanted += _needed(seen[name, extra], extra)
    return list({name: found for (name, _), found in seen.items() if name != "reviewbot"}.values())


def _needed(found: Distribution, extra: str) -> list[tuple[str, tuple[str, ...]]]:
    requirements = [Requirement(text) for text in found.requires or ()]
    meant = [one for one in requirements if one.marker is None or one.marker.evaluate({"extra": extra})]
    return [(one.name.lower(), tuple(sorted(one.extras))) for one in meant]


def _lay(found: Distribution, site: Path) -> None:
    """Its files at the same places; links of one disk cost nothing."""
    own = Path(sysconfig.get_path("purelib"))
    for file in found.files or ():
        origin, place = own / file, Path(os.path.normpath(site / file))
        if origin.is_file() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                place.hardlink_to(origin)
            except OSError:
                shutil.copy2(origin, place)
