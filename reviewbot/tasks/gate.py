"""What no fix may do, whoever made it."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import unicodedata
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from reviewbot.checks.scans import MAX_LINE, MAX_PARSED, find_syntax_errors, grammar_of
from reviewbot.git.change import Change, ChangedFile
from reviewbot.tasks import gate_tables as tables
from reviewbot.text.files import TEST, TEST_CLASS, classify, language_of
from reviewbot.text.hidden import find_hidden, visible
from reviewbot.text.line_ends import find_line_ends
from reviewbot.text.secrets import find_secrets, redact

# Changed lines, and files.
MODEL_LIMITS = (400, 10)
TOOL_LIMITS = (2_000, 50)
MAX_NAME, MAX_PATH = 255, 1_024  # bytes: of ext4, APFS and NTFS; of a path on any system
MAX_QUOTE = 60  # characters of a file that a refusal quotes
WORD = re.compile(r"[^\W\d]\w*")
# Comments and text, in most languages. A string may hold the beginning of a comment.
NO_CODE = re.compile(
    r""""(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?|//[^\n]*+|(?:^|(?<=\s))#[^\n]*+"""
    r"|/\*(?:.*?\*/|.*\Z)",
    re.DOTALL | re.MULTILINE,
)
ONLY_ADD = "fixes may only add to tests"
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
LOOK_UPS = frozenset(
    {"getattr", "setattr", "delattr", "pop", "import_module", "__import__", "__getattribute__"}
)


def refusals_of(
    step: Change,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    existing: Collection[str],
    is_tool: bool,
) -> list[str]:
    """What speaks against a candidate, a sentence each; empty if it may be tried. Pure.

    Args:
        step: what differs between head and the candidate's tree, as git lists it.
        before, after: content by path. Files above 1 MB are absent.
        existing: all paths of the head tree.
        is_tool: a linter's own fix; otherwise a model wrote it.
    """
    max_lines, max_files = TOOL_LIMITS if is_tool else MODEL_LIMITS
    lines = sum(line.is_changed for f in step.files for h in f.hunks for line in h.lines)
    found: list[str] = []
    if len(step.files) > max_files:
        found.append(f"It changes {len(step.files)} files; a fix may change {max_files}.")
    if lines > max_lines:
        found.append(f"It changes {lines:,} lines; a fix may change {max_lines:,}.")
    if found:
        return found
    names = frozenset(existing)
    added = {file.path for file in step.files if file.status == "added"}
    for file in step.files:
        reasons = [*_kind(file), *_name(file.path)]
        if file.status == "added":
            reasons += _confusable_name(file.path, names | added - {file.path}, names)
        if protected := why_protected(file.path):
            reasons.append(f"is protected: {protected}")
        if not reasons:
            old, new = before.get(file.old_path), after.get(file.path)
            if file.is_binary or new is None or (old is None and file.status != "added"):
                reasons.append("is binary or too large to be read")
            else:
                reasons += _contents(file.path, old, new, is_tool)
        found += (f"`{_quote(file.path, 200)}` {reason}." for reason in dict.fromkeys(reasons))
    return found


def why_protected(path: str) -> str | None:
    """Why no fix may change a file of this name."""
    parts = folded(path)
    name = parts[-1]
    if dotted := next((part for part in parts if part.startswith(".")), None):
        return f"tools read most names that begin with a dot, such as {_quote(dotted)}"
    kind, language = classify("/".join(parts)), language_of(name)
    is_code = kind in ("source", "test") and language not in (None, *tables.PROTECTED_LANGUAGES)
    if not is_code and kind != "documentation":
        return "fixes change the project's own code and documentation alone"
    if (
        name in tables.PROTECTED_NAMES
        or name.startswith(tables.PROTECTED_STARTS)
        or name.endswith(tables.PROTECTED_ENDS)
        or any(part in name for part in tables.PROTECTED_PARTS)
        or tables.REQUIREMENTS.fullmatch(name)
        or any(f in parts[:-1] and name.endswith(e) for f, e in tables.PROTECTED_IN.items())
    ):
        return "it decides what runs, or who may say so"
    return None


def folded(path: str) -> tuple[str, ...]:
    """The parts of a path as the most careless file system or reader takes them.

    Without case, width, hidden characters, NTFS streams, and dots and spaces at the end. Letters of
    other scripts become those that they look like.
    """
    text = path.replace("\\", "/").lower()
    if not path.isascii():
        for _ in range(2):  # a hidden character may separate letters that are composed without it
            text = unicodedata.normalize("NFKC", tables.IGNORABLE.sub("", text).casefold())
        text = text.translate(tables.LOOKALIKES).replace("i\u0307", "i").lower()
    return tuple(part.partition(":")[0].rstrip(". ") or part for part in text.split("/"))


def is_test(path: str) -> bool:
    """Whether a file is a test or read by one, by its name."""
    stem = path.rpartition("/")[2].split(".", 1)[0]
    named = TEST.search(path.lower()) or TEST_CLASS.search(path) or tables.TEST_NAME.search(stem)
    return bool(named) or classify(path) == "fixture"


def _kind(file: ChangedFile) -> Iterator[str]:
    if file.status in ("deleted", "renamed", "type_changed"):
        yield f"is {file.status.replace('_', ' ')}: fixes only add files and change lines"
    elif file.mode == "120000" or file.old_mode == "120000":
        yield "is a symbolic link"
    elif file.mode == "160000" or file.old_mode == "160000":
        yield "is a submodule"
    elif file.status == "added" and file.mode != "100644":
        yield f"is new with the mode {file.mode}: fixes add no executable files"
    elif file.status == "modified" and file.old_mode != file.mode:
        yield f"changes its mode from {file.old_mode} to {file.mode}"


def _name(path: str) -> Iterator[str]:
    parts = path.split("/")
    raw = [part.encode("utf-8", "surrogatepass") for part in parts]
    is_hidden = not path.isprintable() or tables.IGNORABLE.search(path) or any(find_hidden(path))
    is_windows = any(tables.SHORT_NAME.fullmatch(p) or tables.DEVICE.fullmatch(p) for p in parts)
    is_long = len(b"/".join(raw)) > MAX_PATH or max(map(len, raw)) > MAX_NAME
    reasons = (
        (unicodedata.normalize("NFC", path) != path, "not in Unicode's composed form (NFC)"),
        (is_hidden, "with hidden or control characters"),
        (not {"", ".", ".."}.isdisjoint(parts), "that leads elsewhere"),
        (any(mark in path for mark in "\\:"), "that other systems divide in another way"),
        (
            any(part[-1:] in (".", " ") for part in parts),
            "with a dot or a space at the end, which Windows leaves out",
        ),
        (is_windows, "that means something else on Windows"),
        (is_long, "that is longer than file systems allow"),
    )
    yield from (f"has a name {reason}" for is_wrong, reason in reasons if is_wrong)


def _confusable_name(path: str, others: Iterable[str], existing: frozenset[str]) -> Iterator[str]:
    wanted = dict(zip(_prefixes(folded(path)), _prefixes(tuple(path.split("/"))), strict=False))
    for other in sorted(others):
        pairs = zip(_prefixes(folded(other)), _prefixes(tuple(other.split("/"))), strict=False)
        for key, known in pairs:
            if wanted.get(key, known) != known:
                yield f"looks like `{_quote('/'.join(known))}`, which exists"
                return
    *folders, name = path.split("/")
    stem, _, extension = name.partition(".")
    if stem == "__init__" and folders:
        stem = folders.pop()
    is_known = stem in tables.RUNNERS or stem in sys.stdlib_module_names
    is_inside = folders and "/".join((*folders, "__init__.py")) in existing
    if extension in ("py", "pyi") and is_known and not is_inside:
        yield f"would be imported in place of the module {stem}"


def _prefixes(parts: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [parts[:depth] for depth in range(1, len(parts) + 1)]


def _contents(path: str, old: bytes | None, new: bytes, is_tool: bool) -> Iterator[str]:
    try:
        texts = (old or b"").decode("utf-8"), new.decode("utf-8")
    except UnicodeDecodeError:
        yield "is not UTF-8"
        return
    if b"\0" in new:
        yield "contains a NUL character"
        return
    before, after = texts
    yield from _text(path, before, after)
    if _syntax_errors(path, after) > _syntax_errors(path, before):
        yield "has more syntax errors than before"
    if found := _confusable_identifier(path, before, after):
        yield f"has a new identifier, {_quote(found[0])}, that looks like {_quote(found[1])}"
    if is_test(path) and old is not None and not (is_tool and language_of(path) == "python"):
        yield f"is a test: {ONLY_ADD}, as new files"
    elif is_test(path) and language_of(path) == "python":
        yield from _losses(before, after)
    elif path.endswith(".rs") and _rust_tests(before) != _rust_tests(after):
        yield f"changes its tests: {ONLY_ADD}"


def _text(path: str, before: str, after: str) -> Iterator[str]:
    """What must not be in lines that are new. A line that moves is not new."""
    old_lines, new_lines = Counter(before.split("\n")), Counter(after.split("\n"))
    fresh = "\n".join((new_lines - old_lines).elements())
    gone = "\n".join((old_lines - new_lines).elements())

    def new_matches(pattern: re.Pattern[str]) -> list[str]:
        found = (
            Counter("".join(m[0].split()) for m in pattern.finditer(text)) for text in (fresh, gone)
        )
        return sorted(next(found) - next(found))

    is_prose = classify(path) == "documentation"
    if new_matches(tables.CONFLICT):
        yield "has conflict markers of an unfinished merge"
    if found := new_matches(tables.PLACEHOLDER):
        yield f"contains {found[0]}, which stands for text that was not shown"
    for mark in new_matches(tables.PROSE_SUPPRESSION if is_prose else tables.SUPPRESSION)[:3]:
        yield f"silences a tool instead of fixing what it reports: {_quote(mark)}"
    old_secrets = {(s.name, before[s.start : s.end]) for s in find_secrets(before)}
    new_secrets = {(s.name, after[s.start : s.end]) for s in find_secrets(after)}
    for name in sorted({name for name, _ in new_secrets - old_secrets}):
        yield f"contains a new secret ({name})"
    hidden = [Counter(h.codepoint for h in find_hidden(text)) for text in (after, before)]
    if more := hidden[0] - hidden[1]:
        yield f"contains a new hidden character (U+{min(more):04X})"
    if after.startswith("\ufeff") and not before.startswith("\ufeff"):
        yield "begins with a new byte order mark"
    ends = [Counter(message for _, message in find_line_ends(path, t)) for t in (after, before)]
    yield from sorted(f"hides code: {message}" for message in ends[0] - ends[1])
    kinds = [set(re.findall(r"\r?\n", text)) for text in (after, before)]
    if before and (len(kinds[0]) > 1 or kinds[1]) and kinds[0] - kinds[1]:
        yield "gets line ends that it did not have"


def _syntax_errors(path: str, text: str) -> int:
    if language_of(path) == "python" and path.endswith((".py", ".pyi", ".pyw")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return 1
        return 0
    if len(text) > MAX_PARSED or any(len(line) > MAX_LINE for line in text.split("\n")):
        return 0
    return sum(1 for _ in find_syntax_errors(path, text)) if grammar_of(path) else 0


def _confusable_identifier(path: str, before: str, after: str) -> tuple[str, str] | None:
    """A new identifier with letters of other scripts, and the one that it looks like."""
    if after.isascii() or classify(path) in ("documentation", "data", "fixture"):
        return None
    old, new = _identifiers(path, before), _identifiers(path, after)
    known: dict[str, str] = {}
    for name in sorted(old | new, key=lambda name: (name not in old, not name.isascii(), name)):
        shape = unicodedata.normalize("NFKC", name).translate(tables.LOOKALIKES)
        if name not in old and not name.isascii():
            if known.get(shape, name) != name:
                return name, known[shape]
            if shape.isascii():
                return name, shape
        known.setdefault(shape, name)
    return None


def _identifiers(path: str, text: str) -> set[str]:
    if language_of(path) == "python":
        try:
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            return {token.string for token in tokens if token.type == tokenize.NAME}
        except (tokenize.TokenError, SyntaxError):
            pass
    return set(WORD.findall(NO_CODE.sub(" ", text)))


def _quote(text: str, limit: int = MAX_QUOTE) -> str:
    """A piece of a candidate as everybody may see it."""
    line = " ".join(visible(redact(text)[0]).split()).replace("`", "'")
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def _rust_tests(text: str) -> str:
    """The tests of a Rust file that also contains what they test."""
    match = tables.RUST_TESTS.search(text)
    return text[match.start() :] if match else ""


def _losses(before: str, after: str) -> Iterator[str]:
    """What a candidate takes from tests in Python."""
    try:
        old, new = ast.parse(before), ast.parse(after)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield f"is a test that cannot be read: {ONLY_ADD}"
        return
    counts = _counts(new)
    for name, count in _counts(old).items():
        if counts.get(name, -1) < count:
            yield f"loses an assertion or a test ({name}): {ONLY_ADD}"
    words = [Counter(n for n in _names(t) if n in tables.SKIP_NAMES) for t in (old, new)]
    for word in sorted(words[1] - words[0])[:1]:
        yield f"adds {_quote(word)}, which keeps tests from running or failing"


def _names(node: ast.AST) -> Iterator[str]:
    """Names in code, and those that are looked up by a text."""
    for n in ast.walk(node):
        match n:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name):
                yield from name.split(".")
            case ast.Call(func=ast.Name(id=f) | ast.Attribute(attr=f), args=a) if f in LOOK_UPS:
                yield from (str(c.value) for c in a if isinstance(c, ast.Constant))


def _counts(tree: ast.AST, prefix: str = "") -> dict[str, int]:
    """Assertions by function, with the names of its classes."""
    found: dict[str, int] = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, DEFINITIONS):
            name = f"{prefix}{node.name}"
            if isinstance(node, ast.ClassDef):
                found |= _counts(node, f"{name}.")
            elif node.name.startswith("test") or _assertions(node):
                found[name] = _assertions(node)
        else:
            found |= _counts(node, prefix)
    return found


def _assertions(tree: ast.AST) -> int:
    """A constant and a tuple assert nothing."""
    count = 0
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=ast.Constant() | ast.Tuple()):
                pass
            case ast.Assert():
                count += 1
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                is_constant = node.args and all(isinstance(a, ast.Constant) for a in node.args)
                count += name.startswith(("assert", "raises", "fail")) and not is_constant
    return count
