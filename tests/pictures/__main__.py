"""Make the pictures of ``docs/pictures``: ``python -m tests.pictures [--only NAME] [--out FOLDER]``.

It wants the source tree, a Python that has reviewbot and its extras, Chromium and the DejaVu fonts. Only seconds that are told,
the run's id and the sandbox differ from one time to the next.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.pictures import png
from tests.pictures.browser import Browser
from tests.pictures.scenes import SCENES

OUT = Path(__file__).parents[2] / "docs" / "pictures"
MOST_BYTES = 100_000


def main() -> None:
    """Make those that are wanted, and say how large each is."""
    parser = argparse.ArgumentParser(prog="python -m tests.pictures", description="Make the pictures of docs/pictures.")
    parser.add_argument("--only", choices=SCENES, help="one scene")
    parser.add_argument("--out", type=Path, default=OUT, help="where they go")
    options = parser.parse_args()
    for path in made([options.only] if options.only else SCENES, options.out):
        picture = path.read_bytes()
        facts = png.facts(picture)
        large = "  TOO LARGE" if len(picture) > MOST_BYTES else ""
        print(f"{path.name:<32} {facts.width:>5} × {facts.height:<5} {len(picture) / 1000:>5.0f} kB{large}")


def made(names: Iterable[str], out: Path) -> Iterable[Path]:
    """Each scene in light and in dark."""
    out.mkdir(parents=True, exist_ok=True)
    with Browser() as browser:
        for name in names:
            with tempfile.TemporaryDirectory(prefix="reviewbot-scene-") as folder:
                scene = SCENES[name](Path(folder))
                for scheme in ("light", "dark"):
                    path = out / f"{name}-{scheme}.png"
                    drawn = browser.picture(scene.page, width=scene.width, dark=scheme == "dark", tallest=scene.tallest)
                    path.write_bytes(png.reduced(drawn, browser))
                    yield path


if __name__ == "__main__":
    main()
