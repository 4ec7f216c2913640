"""Effective settings: flags > environment > repository file > user file > defaults."""

import difflib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.inspect import FloatType, IntType, Metadata, type_info

from reviewbot.config.settings import Settings
from reviewbot.errors import ConfigError
from reviewbot.text.secrets import redact, safe

Key = tuple[str, ...]
# Where a key was set, as messages and `config show` say it.
Where = Callable[[Key], str]

fields = cache(msgspec.structs.fields)  # a millisecond for each struct
LayerKind = Literal["user", "repository", "environment", "flags"]  # the last counts most

# What the file of a repository may say about a section, or key: "lower" only values below those of
# the user file and the defaults, "operator" nothing. All else it may set.
WHO_MAY_SET: Mapping[str, Literal["lower", "operator"]] = {
    "limits": "lower",
    **dict.fromkeys(("providers", "sandbox", "store", "tools"), "operator"),
}
PREFIX = "REVIEWBOT_"
VARIABLE = re.compile(f"{PREFIX}(.*__.*|{'|'.join(Settings.__struct_fields__).upper()})")
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


class Layer(Struct, frozen=True):
    """What one source says. `name` is a file as the user would write it, or what else sets keys.

    With `is_text`, values are texts to be read as their type.
    """

    name: str
    kind: LayerKind
    document: Document
    is_text: bool = False

    def where(self, key: Key) -> str:
        if self.kind == "environment":
            return PREFIX + "__".join(key).upper().partition("__[")[0]
        line = self.document.line(key)
        prefix = "user file " if self.kind == "user" else ""
        return f"{prefix}{self.name}:{line}" if line else f"{prefix}{self.name}"


class Loaded(Struct, frozen=True):
    """Settings, and where each comes from.

    Attributes:
        origins: by dotted key: "default", ".reviewbot.yml:7", "the options", ...
        notices: a sentence for each value that was given and does not count.
    """

    settings: Settings
    origins: Mapping[str, str]
    notices: tuple[str, ...] = ()


def read_layer(name: str, kind: LayerKind, content: bytes) -> Layer:
    """A file: `[tool.reviewbot]` of one whose name ends in .toml, else YAML. Raises ConfigError."""
    if name.endswith(".toml"):
        return Layer(name, kind, read_toml(content, name))
    from reviewbot.config.yaml import read_yaml  # where there is something to parse

    return Layer(name, kind, read_yaml(content, name))


def read_toml(content: bytes, name: str) -> Document:
    """What the file says below `tool.reviewbot`, without lines. Raises ConfigError."""
    if b"reviewbot" not in content:
        return Document(None)
    import tomllib  # where there is something to parse

    try:
        if LONG_KEY.search(text := content.decode()):
            raise ConfigError(f"{name} has a key of more than 16 parts")
        tool = tomllib.loads(text).get("tool")
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name} is not TOML: {error}") from error
    return Document(tool.get("reviewbot") if isinstance(tool, dict) else None)


def environment_layer(variables: Mapping[str, str]) -> Layer:
    """`REVIEWBOT_REVIEW__FAIL_ON` sets `review.fail_on`; an empty variable says nothing."""
    values = {
        tuple(match[1].lower().split("__")): text
        for name, text in variables.items()
        if text and (match := VARIABLE.fullmatch(name))
    }
    return Layer("environment", "environment", Document(_nested(values)), is_text=True)


def flag_layer(values: Mapping[str, object], name: str = "the options") -> Layer:
    """Values by dotted key, for example {"review.fail_on": "high"}; None is a flag not given."""
    given = {tuple(key.split(".")): value for key, value in values.items() if value is not None}
    return Layer(name, "flags", Document(_nested(given)), is_text=True)


def load_settings(layers: Sequence[Layer]) -> Loaded:
    """Put layers, in any order, on top of each other. Of several repository files the first counts.

    Raises ConfigError.
    """
    defaults = _leaves(msgspec.to_builtins(Settings()))
    values = {key: value for key, value in defaults if value not in (None, {})}
    origins = dict.fromkeys(values, "default")
    notices, repository = list[str](), ""
    for layer in sorted(layers, key=lambda layer: get_args(LayerKind).index(layer.kind)):
        said, is_text = layer.document.value, layer.is_text
        said = validate(said, Settings, (), layer.where, is_text=is_text, is_part=True)
        found = [(key, value) for key, value in _leaves(said) if value != {}]
        if layer.kind == "repository" and found:
            if repository:
                notices.append(f"{layer.name} does not count, because {repository} exists.")
                continue
            repository = layer.name
        for key, value in found:
            place = layer.where(key)
            limit = WHO_MAY_SET.get(key[0]) if layer.kind == "repository" else None
            if limit == "operator":
                hint = "Set it in the user file, the environment or with a flag."
                raise ConfigError(f"{place}: a repository may not set {dotted(key)}", hint=hint)
            if limit == "lower" and value > values[key]:
                stays = f"{values[key]} ({origins[key]}) stays"
                notices.append(f"{place}: a repository may only lower {dotted(key)}; {stays}.")
                continue
            values[key], origins[key] = value, place

    def where(key: Key) -> str:
        return next(place for inner, place in origins.items() if inner[: len(key)] == key)

    settings = msgspec.convert(validate(_nested(values), Settings, (), where), Settings)
    names = [check.name for check in settings.checks if check.run]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"{where(('checks',))}: two checks are called {twice[0]}")
    keys = [key for key, _ in _leaves(msgspec.to_builtins(settings))]
    origin_of = {dotted(key): origins.get(key, "default") for key in keys}
    return Loaded(settings, origin_of, tuple(notices))


def describe(loaded: Loaded) -> list[tuple[str, str, str]]:
    """(key, value, origin) of every setting; secrets in values are redacted."""
    rows = []
    for key, value in _leaves(msgspec.to_builtins(loaded.settings)):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        rows.append((dotted(key), safe(text), loaded.origins[dotted(key)]))
    return rows


def _leaves(value: Any, key: Key = ()) -> Iterator[tuple[Key, Any]]:
    """The values below a mapping by key. Lists, and a mapping without entries, are values."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*key, name))
    else:
        yield key, value


def _nested(values: Mapping[Key, object]) -> object:
    """The reverse of `_leaves`."""
    if () in values:
        return values[()]
    return {
        name: _nested({key[1:]: value for key, value in values.items() if key[0] == name})
        for name in dict.fromkeys(key[0] for key in values)
    }


def dotted(key: Key) -> str:
    return ".".join(key).replace(".[", "[")


def validate(
    value: object,
    kind: object,
    key: Key,
    where: Where,
    *,
    is_text: bool = False,
    is_part: bool = False,
) -> object:
    """The value, and all in it, as plain values of the right type.

    With `is_text`, values are texts to be read as their type; with `is_part`, keys that are
    required may be missing beside others, but not in a list. Raises ConfigError.
    """
    options = get_args(kind)
    if type(None) in options:
        kind = options[0]
    if get_origin(kind) is tuple:
        if is_text and isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if not isinstance(value, list | tuple):
            raise _wrong(key, where, "a list")
        return [
            validate(item, options[0], (*key, f"[{number}]"), where, is_text=is_text)
            for number, item in enumerate(value)
        ]
    known = fields(kind) if isinstance(kind, type) and issubclass(kind, Struct) else ()
    if not known and get_origin(kind) is not dict:
        try:
            return msgspec.convert(value, kind, strict=not is_text)
        except msgspec.ValidationError:
            raise _wrong(key, where, allowed(kind)) from None
    value = {} if value is None else value
    if not isinstance(value, dict):
        raise _wrong(key, where, "a mapping")
    kinds = {field.name: field.type for field in known} or dict.fromkeys(value, options[-1])
    found = {}
    for name, inner in value.items():
        place = (*key, name)
        if name not in kinds:
            near = difflib.get_close_matches(name, kinds, n=1)
            nearest = dotted((*key, *near))
            hint = f"did you mean {nearest}?" if near else f"known are {', '.join(kinds)}"
            what = f"unknown key {redact(dotted(place))[0][:80]}"
            raise ConfigError(f"{where(place)}: {what}; {hint}")
        if not known and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name):
            what = f"a name in {dotted(key)} has letters, digits, '-' and '_', at most 64"
            raise ConfigError(f"{where(place)}: {what}")
        found[name] = validate(inner, kinds[name], place, where, is_text=is_text, is_part=is_part)
    may_lack = is_part and (found or type(None) in options)
    for field in known:
        if field.required and field.name not in found and not may_lack:
            raise ConfigError(f"{where(key)}: {dotted((*key, field.name))} is missing")
    return found


def allowed(kind: object) -> str:
    """The values of a type, in words."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    info = type_info(kind)
    if isinstance(info, Metadata) and info.extra_json_schema:
        return str(info.extra_json_schema["title"])
    if isinstance(info, IntType | FloatType):
        name = "a whole number" if isinstance(info, IntType) else "a number"
        return f"{name} from {info.ge} to {info.le}"
    return "true or false" if kind is bool else "a text"


def _wrong(key: Key, where: Where, what: str) -> ConfigError:
    """An error that does not quote the value, which may be a secret."""
    return ConfigError(f"{where(key)}: {dotted(key) or 'the file'} must be {what}")
