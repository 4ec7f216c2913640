"""Make docs/demo.svg, a picture of what `reviewbot demo` prints: python docs/make_picture.py"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).with_name("demo.svg")
# rich loads them from another host; without them, readers see a font of their own.
FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def main() -> None:
    command = (sys.executable, "-m", "reviewbot", "demo", "--color", "always")
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ reviewbot demo\n\n{ended.stdout.rstrip()}"))
    picture = FONTS.sub("", console.export_svg(title="reviewbot", unique_id="demo"))
    PICTURE.write_text(re.sub(r"[ \t]+$", "", picture, flags=re.MULTILINE) + "\n", "utf-8")


if __name__ == "__main__":
    main()
