"""What a configuration file says, before it is known to be right; and TOML."""

import re
from collections.abc import Mapping

from msgspec import Struct

from reviewbot.errors import ConfigError

Key = tuple[str, ...]
# tomllib takes 20 s for a key of 30,000 parts.
LONG_KEY = re.compile(
    r"""(?:^|[\[{,])[ \t]*+(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){16}""",
    re.MULTILINE,
)


class Document(Struct, frozen=True):
    """A value as JSON has them, and the lines where keys, and the items "[0]" of lists, begin."""

    value: object
    lines: Mapping[Key, int] = {}

    def line(self, key: Key) -> int | None:
        """The line of the key, or else of the nearest one around it."""
        around = (key[:end] for end in range(len(key), -1, -1))
        return next((self.lines[key] for key in around if key in self.lines), None)


def read_toml(content: bytes, name: str) -> Document:
    """What the file says below `tool.reviewbot`, without lines. Raises ConfigError."""
    if b"reviewbot" not in content:
        return Document(None)
    if len(content) > 256 * 1024:
        hint = "Move [tool.reviewbot] to .reviewbot.yml."
        raise ConfigError(f"{name} has {len(content):,} bytes", hint=hint)
    import tomllib  # where there is something to parse

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
