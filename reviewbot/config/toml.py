"""`[tool.reviewbot]` of a pyproject.toml. tomllib knows no lines, so messages name the file."""

from __future__ import annotations

import re
import tomllib

from reviewbot.config.values import Document
from reviewbot.errors import ConfigError

MAX_BYTES = 256 * 1024
# tomllib takes 20 s for a key of 30,000 parts.
LONG_KEY = re.compile(
    r"""(?:^|[\[{,])[ \t]*+(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""",
    re.MULTILINE,
)


def read_toml(content: bytes, name: str) -> Document:
    """What the file says below `tool.reviewbot`. Raises ConfigError."""
    if b"reviewbot" not in content:
        return Document(None)
    if len(content) > MAX_BYTES:
        hint = "Move [tool.reviewbot] to .reviewbot.yml."
        raise ConfigError(f"{name} has {len(content):,} bytes", hint=hint)
    try:
        text = content.decode()
        if LONG_KEY.search(text):
            raise ConfigError(f"{name} has a key of more than 16 parts")
        tool = tomllib.loads(text).get("tool")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name} is not UTF-8 (byte {error.start})") from error
    except RecursionError as error:
        raise ConfigError(f"{name} nests too deeply") from error
    except ValueError as error:  # TOMLDecodeError, and integers of more than 4,300 digits
        raise ConfigError(f"{name} is not TOML: {error}") from error
    return Document(tool.get("reviewbot") if isinstance(tool, dict) else None)
