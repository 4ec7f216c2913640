"""A `uv` that needs no network: environments that it creates see the packages of the tests' own.

This file is the program as well. It understands `uv venv FOLDER` and `uv pip install|sync`.
"""

from __future__ import annotations

import re
import shutil
import sys
import sysconfig
from pathlib import Path


def install(folder: Path) -> Path:
    """Write `uv` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "uv"
    text = Path(__file__).read_text(encoding="utf-8")
    program.write_text(f"#!{sys.executable}\n{text}", encoding="utf-8")
    program.chmod(0o755)
    return program


def create_environment(folder: Path) -> None:
    """Link to the packages one by one: nothing that is installed here gets among them."""
    if (folder / "pyvenv.cfg").exists():
        shutil.rmtree(folder)
    packages = Path(sysconfig.get_path("purelib")).relative_to(sys.prefix)
    for name in ("bin", packages):
        (folder / name).mkdir(parents=True)
        for path in Path(sys.prefix, name).iterdir():
            is_python = re.fullmatch(r"python[\d.]*", path.name)
            target = Path(sys.executable).resolve() if is_python else path
            (folder / name / path.name).symlink_to(target)
    shutil.copyfile(Path(sys.prefix, "pyvenv.cfg"), folder / "pyvenv.cfg")


def check_requirements(file: Path) -> None:
    text = re.sub(r"(?m)(^|\s)#.*$|\\\n", "", file.read_text(encoding="utf-8"))
    for line in filter(str.strip, text.splitlines()):
        if not re.search(r"==.*--hash=sha256:[0-9a-f]{64}", line):
            sys.exit(f"error: with `--require-hashes`, this needs `==` and a hash: {line}")


def main() -> None:
    words, files, python, arguments = [], [], "", iter(sys.argv[1:])
    for word in arguments:
        if word in ("-r", "--requirement", "--requirements"):
            files.append(next(arguments))
        elif word in ("-p", "--python"):
            python = next(arguments)
        elif not word.startswith("-"):
            words.append(word)
    match words:
        case ["venv", folder]:
            create_environment(Path(folder))
        case ["pip", "install" | "sync", *rest]:
            if not Path(python).is_file():
                sys.exit(f"error: No interpreter found at path `{python}`")
            for file in map(Path, [*files, *rest]):
                if not file.exists():
                    sys.exit(f"error: File not found: `{file}`")
                if "--require-hashes" in sys.argv:
                    check_requirements(file)
        case _:
            sys.exit(f"error: this stub does not simulate `uv {' '.join(words)}`")


if __name__ == "__main__":
    main()
