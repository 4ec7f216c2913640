"""What hooks remember, as plain files, each written whole or not at all. One that is broken counts as none."""
# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH116, PTH118, PTH208
# pathlib would be half of what this costs.

from __future__ import annotations

import os
from hashlib import blake2b

MOST_BYTES = 1_000_000
"""Of a file that configures."""
MOST_RECORDS, MOST_MARKS = 200, 4_000


def record(path: str) -> tuple[int, str, str] | None:
    """A record whose stamps still hold; ``None`` where there is none, or it is not whole."""
    data = content(path)
    if not data or data[1:33] != digest(data[33:]).encode("ascii"):
        return None
    parts = []
    rest = data[33:]
    while rest:
        size, _, rest = rest.partition(b":")
        parts.append(rest[: int(size)].decode("utf-8", "surrogateescape"))
        rest = rest[int(size) :]
    code, out, err, stamps = parts
    if any(stamp(line.partition("\0")[0]) != line for line in stamps.split("\n") if line):
        return None
    return int(code), out, err


def stamp(path: str) -> str:
    """A file as it is now, without reading it."""
    try:
        status = os.stat(path)
    except OSError:
        return f"{path}\0none"
    return f"{path}\0{status.st_size} {status.st_mtime_ns} {status.st_ino} {status.st_dev}"


def content(path: str) -> bytes | None:
    """A file's bytes, empty where there is none; ``None`` where it cannot be read, or is no file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError:
        return None
    try:
        data = os.read(handle, MOST_BYTES)
        return None if len(data) == MOST_BYTES else b"." + data
    except OSError:
        return None
    finally:
        os.close(handle)


def digest(of: object) -> str:
    data = of if isinstance(of, bytes) else repr(of).encode("utf-8", "surrogateescape")
    return blake2b(data, digest_size=16).hexdigest()


def write(folder: str, name: str, data: bytes, *, most: int) -> None:
    """Whole or not at all; where there is no room for it, nothing is remembered. The oldest go where there are too many."""
    beside = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)
        os.replace(beside, os.path.join(folder, name))
        _prune(folder, most)
    except OSError:
        return


def _prune(folder: str, most: int) -> None:
    names = os.listdir(folder)
    if len(names) <= most:
        return
    paths = [os.path.join(folder, name) for name in names]
    ages = sorted((os.stat(path).st_mtime_ns, path) for path in paths if os.path.exists(path))
    for _, path in ages[: len(ages) - most // 2]:
        os.unlink(path)
