"""Tests may be added to and mended, and not be made to say less: nothing removed, skipped, emptied or left without assertions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reviewbot.autofix import lexical
from reviewbot.autofix.content import Texts
from reviewbot.autofix.suite import Family, Function, Suite, read
from reviewbot.domain.change import is_test_path

_NAMED = re.compile(r"(?:^|[._-])(?:tests?|specs?|unittests?)$|(?:Tests?|Specs?|TestCase|IT)$|^Tests?(?=[A-Z_]|$)")
"""The name of a test file without its ending, where ``is_test_path`` does not know it: ``tests.py``, ``FooTest.java``."""


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


_HARMLESS = _words("""
    parametrize expand usefixtures patch object dict multiple given example settings django_db asyncio anyio trio timeout
    override_settings modify_settings freeze_time mock_aws responses activate
""")
"""Decorators that a test may get: none of them keeps it from being run. Any other may."""

_KEEPING = _words("""
    skip skipif skipIf skipUnless skip_if skip_unless skipTest SkipTest Skipped xfail XFailed expectedFailure importorskip
    nottest exit _exit quit abort __test__ pytestmark collect_ignore collect_ignore_glob pytest_ignore_collect load_tests
    pytest_generate_tests pytest_collection_modifyitems pytest_collect_file suppress
""")
"""Names that keep tests from being run, from failing, or the run from coming to its end."""


_NO_CASES = _words("pytestmark __all__ __slots__")
"""Tables of a module that hold nothing to test with."""


def is_test(path: str) -> bool:
    """The file is test code by its name."""
    return is_test_path(path) or bool(_NAMED.search(path.rpartition("/")[2].split(".", 1)[0]))


def faults(texts: Texts) -> Iterator[str]:
    """How a file's tests are less than they were."""
    if not texts.path.endswith((".py", ".pyi")):
        yield from lexical.faults(texts, is_test=is_test(texts.path))
        return
    if not is_test(texts.path):
        return
    old, new = Suite.empty() if texts.old is None else read(texts.old), read(texts.new)
    if old is None:
        yield from lexical.faults(texts, is_test=True)
    elif new is None:
        yield "its tests cannot be read any more"
    else:
        yield from _differences(old, new)


def _differences(old: Suite, new: Suite) -> Iterator[str]:
    yield from _spoken(old, new)
    for name, size in old.tables.items():
        if new.tables.get(name, size) < size and name not in _NO_CASES:
            yield f"of the {size} items of {name!r} {new.tables[name]} are left"
    for name, family in old.classes.items():
        if name in new.classes and any(test.startswith(f"{name}.") for test in old.tests):
            yield from _less_of_a_class(name, family, new.classes[name])
    for name, found in old.functions.items():
        yield from _lost(found, new.functions.get(name, ()))
    for name, again in new.functions.items():
        if again[-1].is_test and len(again) > max(len(old.functions.get(name, ())), 1):
            yield f"it defines {name!r} more than once: only the last one is run"


def _spoken(old: Suite, new: Suite) -> Iterator[str]:
    """Names that say more often than before what a test file should not say."""
    for name in sorted(set(new.spoken) & _KEEPING):
        if new.spoken[name] > old.spoken[name]:
            yield f"it brings {name!r}, which keeps tests from being run or from failing"
    names = {part for name in old.tests for part in name.split(".")}
    for name in sorted(names & set(new.rebound)):
        if new.rebound[name] > old.rebound[name]:
            yield f"it gives the name of the test {name!r} to something else"


def _lost(old: Sequence[Function], new: Sequence[Function]) -> Iterator[str]:
    """What became of a function that a file had."""
    known = old[-1]
    if new:
        yield from _less(known, new[-1])
    elif known.is_test:
        yield f"it removes the test {known.name!r}"
    elif known.assertions:
        yield f"it removes assertions with {known.name!r}"


def _less(old: Function, new: Function) -> Iterator[str]:
    if new.assertions < old.assertions:
        yield f"it removes assertions from {old.name!r}: {old.assertions} were there, {new.assertions} are left"
    if not old.is_test:
        return
    said = (
        (old.calls and not new.calls, "it empties it"),
        (new.guards > old.guards, "it is put under a condition"),
        (new.exits > old.exits, "it can end before its end now, or catch its own failure"),
        (new.kind != old.kind, "it is made something that is not run as it was"),
        (new.cases < old.cases, f"of its {old.cases} cases {new.cases} are left"),
    )
    yield from (f"the test {old.name!r}: {why}" for holds, why in said if holds)
    yield from _decorated(old, new, f"the test {old.name!r}")


def _less_of_a_class(name: str, old: Family, new: Family) -> Iterator[str]:
    if old.bases - new.bases:
        yield f"it takes a base from the test class {name!r}"
    if new.is_built and not old.is_built:
        yield f"it gives the test class {name!r} a constructor: such a class is not collected"
    if new.cases < old.cases:
        yield f"it takes cases from the test class {name!r}"
    yield from _decorated(old, new, f"the test class {name!r}")


def _decorated(old: Function | Family, new: Function | Family, said: str) -> Iterator[str]:
    for name in sorted(set(new.decorators - old.decorators) - _HARMLESS):
        yield f"it puts {name!r} on {said}, which may keep it from being run"
