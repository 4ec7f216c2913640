"""What no fix may do, whoever made it."""

import ast
import io
import re
import sys
import tokenize
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import accumulate

from reviewbot.checks.scans import MAX_LINE, MAX_PARSED, find_syntax_errors, grammar_of
from reviewbot.git.change import Change, ChangedFile
from reviewbot.tasks import gate_tables as tables
from reviewbot.text.files import TEST, TEST_CLASS, classify, language_of
from reviewbot.text.hidden import find_hidden, find_line_ends
from reviewbot.text.plain import SUBSTITUTE, shortened
from reviewbot.text.secrets import find_secrets, shown

# Changed lines, and files.
MODEL_LIMITS = (400, 10)
TOOL_LIMITS = (2_000, 50)
MAX_QUOTE = 60  # characters of a file that a refusal quotes
WORD = re.compile(r"[^\W\d]\w*")
# Comments and text, in most languages. A string may hold the beginning of a comment.
NO_CODE = re.compile(
    r""""(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?|//[^\n]*+|(?:^|(?<=\s))#[^\n]*+"""
    r"|/\*(?:.*?\*/|.*\Z)",
    re.DOTALL | re.MULTILINE,
)
ONLY_ADD = "fixes may only add to tests"
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

    `step` is what differs between head and its tree. Of the content by path, `before` and `after`,
    files above 1 MB are absent.
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
    known = {part for path in existing for part in _prefixes(path)}
    for file in step.files:
        reasons = list(_kind_and_name(file, known))
        known.update(_prefixes(file.path))
        if not reasons:
            old, new = before.get(file.old_path), after.get(file.path)
            if file.is_binary or new is None or (old is None and file.status != "added"):
                reasons.append("is binary or too large to be read")
            else:
                reasons += _contents(file.path, old, new, is_tool)
        found += (f"`{_quote(file.path, 200)}` {reason}." for reason in dict.fromkeys(reasons))
    return found


def _kind_and_name(file: ChangedFile, known: Collection[str]) -> Iterator[str]:
    """What speaks against what a file is, and how it is called."""
    if file.status not in ("added", "modified"):
        yield f"is {file.status.replace('_', ' ')}: fixes only add files and change lines"
    elif file.mode not in ("100644", "100755"):
        yield "is no regular file"
    elif file.mode != (file.old_mode if file.status == "modified" else "100644"):
        yield f"gets the mode {file.mode}: fixes make no file executable"
    if not file.path.isprintable() or any(find_hidden(file.path)):
        yield "has a name with hidden or control characters"
    if file.status == "added":
        yield from _new_name(file.path, known)
    if protected := why_protected(file.path):
        yield f"is protected: {protected}"


def why_protected(path: str) -> str | None:
    """Why no fix may change a file of this name."""
    # As the most careless file system takes it: without case and width.
    parts = unicodedata.normalize("NFKC", path).casefold().split("/")
    name = parts[-1]
    if dotted := next((part for part in parts if part.startswith(".")), None):
        return f"tools read most names that begin with a dot, such as {_quote(dotted)}"
    kind, language = classify("/".join(parts)), language_of(name)
    is_code = kind in ("source", "test") and language not in (None, *tables.PROTECTED_LANGUAGES)
    if not is_code and kind != "documentation":
        return "fixes change the project's own code and documentation alone"
    is_protected = any(fnmatchcase(name, pattern) for pattern in tables.PROTECTED_NAMES)
    whole = "/".join(("", *parts))
    if is_protected or any(fnmatchcase(whole, pattern) for pattern in tables.PROTECTED_PATHS):
        return "it decides what runs, or who may say so"
    return None


def is_test(path: str) -> bool:
    """Whether a file is a test or read by one, by its name."""
    stem = path.rpartition("/")[2].split(".", 1)[0]
    named = TEST.search(path.lower()) or TEST_CLASS.search(path) or tables.TEST_NAME.search(stem)
    return bool(named) or classify(path) == "fixture"


def _new_name(path: str, known: Collection[str]) -> Iterator[str]:
    """What speaks against the name of a new file, beside these files and folders."""
    folded = {name.casefold(): name for name in known}
    for name in _prefixes(path):
        if name in known:
            continue
        if not tables.PLAIN_NAME.fullmatch(name.rpartition("/")[2]):
            yield "has a name that not every system takes: use letters, digits, and _ . - of ASCII"
        elif other := folded.get(name.casefold()):
            yield f"looks like `{_quote(other)}`, which exists"
    *folders, name = path.split("/")
    stem, _, extension = name.partition(".")
    if stem == "__init__" and folders:
        stem = folders.pop()
    is_known = stem in tables.RUNNERS or stem in sys.stdlib_module_names
    is_inside = folders and "/".join((*folders, "__init__.py")) in known
    if extension in ("py", "pyi") and is_known and not is_inside:
        yield f"would be imported in place of the module {stem}"


def _prefixes(path: str) -> Iterator[str]:
    """The folders above a file, and the file."""
    return accumulate(path.split("/"), "{}/{}".format)


def _contents(path: str, old: bytes | None, new: bytes, is_tool: bool) -> Iterator[str]:
    try:
        before, after = (old or b"").decode("utf-8"), new.decode("utf-8")
    except UnicodeDecodeError:
        yield "is not UTF-8"
        return
    if b"\0" in new:
        yield "contains a NUL character"
        return

    def added(find: Callable[[str], Iterable[str]]) -> list[str]:
        """What is there more often than before: what moves is not new."""
        return sorted(Counter(find(after)) - Counter(find(before)))

    def new_matches(pattern: re.Pattern[str]) -> list[str]:
        return added(lambda text: ("".join(m[0].split()) for m in pattern.finditer(text)))

    is_prose = classify(path) == "documentation"
    if new_matches(tables.CONFLICT):
        yield "has conflict markers of an unfinished merge"
    if found := new_matches(SUBSTITUTE):
        yield f"contains {found[0]}, which stands for text that was not shown"
    for mark in new_matches(tables.PROSE_SUPPRESSION if is_prose else tables.SUPPRESSION)[:3]:
        yield f"silences a tool instead of fixing what it reports: {_quote(mark)}"
    secrets = added(lambda text: {f"{s.name} {text[s.start : s.end]}" for s in find_secrets(text)})
    yield from (f"contains a new secret ({secret.split()[0]})" for secret in secrets)
    if more := added(lambda text: (f"U+{hidden.codepoint:04X}" for hidden in find_hidden(text))):
        yield f"contains a new hidden character ({more[0]})"
    if after.startswith("\ufeff") and not before.startswith("\ufeff"):
        yield "begins with a new byte order mark"
    hiding = added(lambda text: (message for _, message in find_line_ends(path, text)))
    yield from (f"hides code: {message}" for message in hiding)
    if "\n" in before and added(lambda text: set(re.findall(r"\r?\n", text))):
        yield "gets line ends that it did not have"
    wrong = _syntax_errors(path, after)
    if len(wrong) > len(_syntax_errors(path, before)):
        yield f"cannot be parsed: {_quote(wrong[0])}"
    if twins := _confusable_identifier(path, before, after):
        yield f"has a new identifier, {_quote(twins[0])}, that looks like {_quote(twins[1])}"
    is_python = language_of(path) == "python"
    if is_test(path) and old is not None and not (is_tool and is_python):
        yield f"is a test: {ONLY_ADD}, as new files"
    elif is_test(path) and is_python:
        yield from _python_test(path, before, after)
    elif path.endswith(".rs") and old is not None:
        old_tests, new_tests = map(tables.RUST_TESTS.findall, (before, after))
        if old_tests != new_tests:
            yield f"changes its tests: {ONLY_ADD}, as new files"


def _python_test(path: str, before: str, after: str) -> Iterator[str]:
    old, new = parse(before), parse(after)
    if not old or not new:
        yield f"is a test that cannot be read: {ONLY_ADD}"
        return
    if _assertions(new) < _assertions(old):
        yield f"loses an assertion or a test: {ONLY_ADD}"
    words = _words(_names(path, after), new) - _words(_names(path, before), old)
    for word in sorted(tables.SKIP_NAMES & words.keys())[:1]:
        yield f"adds {word}, which keeps tests from running or failing"


def parse(text: str | bytes, problems: list[str] | None = None) -> ast.Module | None:
    """The syntax tree of Python code; None, and why, if it has none."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        if problems is not None:
            problems.append(str(error).replace("<unknown>, ", ""))
        return None


def _syntax_errors(path: str, text: str) -> list[str]:
    found: list[str] = []
    if language_of(path) == "python" and path.endswith((".py", ".pyi", ".pyw")):
        parse(text, found)
    elif len(text) <= MAX_PARSED and all(len(line) <= MAX_LINE for line in text.split("\n")):
        errors = find_syntax_errors(path, text) if grammar_of(path) else ()
        found += (f"{error.message} ({error.location})" for error in errors)
    return found


def _confusable_identifier(path: str, before: str, after: str) -> tuple[str, str] | None:
    """A new identifier with letters of other scripts, and the one that it looks like."""
    if after.isascii() or classify(path) in ("documentation", "data", "fixture"):
        return None
    old, new = set(_names(path, before)), set(_names(path, after))

    def shape(name: str) -> str:
        return unicodedata.normalize("NFKC", name).translate(tables.LOOKALIKES)

    known = {shape(name): name for name in sorted(old | new, key=lambda name: (name in old, name))}
    for name in sorted(new - old):
        if not name.isascii() and (known[shape(name)] != name or shape(name).isascii()):
            return name, shape(name) if known[shape(name)] == name else known[shape(name)]
    return None


def _names(path: str, text: str) -> list[str]:
    """All names in code, as often as they are there."""
    if language_of(path) == "python":
        # From Python 3.12 on, it may read half a character after a lone carriage return.
        with suppress(tokenize.TokenError, SyntaxError, UnicodeDecodeError):
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            return [token.string for token in tokens if token.type == tokenize.NAME]
    return WORD.findall(NO_CODE.sub(" ", text))


def _quote(text: str, limit: int = MAX_QUOTE) -> str:
    """A piece of a candidate as everybody may see it."""
    return shortened(" ".join(shown(text).split()).replace("`", "'"), limit)


def _words(names: Iterable[str], tree: ast.AST) -> Counter[str]:
    """Names in Python code and those that it looks up by a text, but not exceptions that it
    expects: `with pytest.raises(SystemExit)`.
    """
    found = Counter(names)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=f) | ast.Attribute(attr=f), args=a) if f in LOOK_UPS:
                found.update(str(each.value) for each in a if isinstance(each, ast.Constant))
            case ast.With(items=[ast.withitem(ast.Call(ast.Attribute(attr="raises"), [*given]))]):
                found.subtract(each.id for each in given if isinstance(each, ast.Name))
    return found


def _assertions(tree: ast.AST) -> int:
    """How many assertions and tests Python code has. Constants and tuples assert nothing."""
    count = 0
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=test):
                count += not isinstance(test, ast.Constant | ast.Tuple)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=a):
                is_constant = a and all(isinstance(each, ast.Constant) for each in a)
                count += name.startswith(("assert", "raises", "fail")) and not is_constant
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                count += name.startswith("test")
    return count
