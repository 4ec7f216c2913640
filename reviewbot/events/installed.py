"""What is done where a hook is installed, taken away or looked at: one table over what stands there.

=========  ============================================  ================================  =====================================
standing   what is there                                 install                           uninstall
=========  ============================================  ================================  =====================================
absent     nothing                                       written                           nothing
installed  ours                                          written anew where it differs     removed
chained    ours, and what was there before               written anew where it differs     what was there before is put back
called     pre-commit's; it calls ours as its ``legacy`` the same, of that                 the same, of that
edited     ours, and somebody changed it                 refused, written with ``force``   refused, as above with ``force``
linked     a link to one of ours                         nothing                           refused
managed    of a program that writes hooks                refused, kept with ``force``      nothing
foreign    somebody else's                               kept: ours runs it first          nothing
=========  ============================================  ================================  =====================================

A folder that other repositories may use as well is changed only with ``shared``. A hook that is kept has a second name before
ours is written in its place: at no moment is there no hook, nor half of one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.hook import BEFORE, LEGACY, Act, FoundHook, Ground, HookFile, Step
from reviewbot.events import hook_text
from reviewbot.events.hook_text import HUSKY, Manager, Script


class Standing(StrEnum):
    """What stands where a hook has its place: the first column of the table."""

    ABSENT = "absent"
    INSTALLED = "installed"
    CHAINED = "chained"
    CALLED = "called"
    EDITED = "edited"
    LINKED = "linked"
    MANAGED = "managed"
    FOREIGN = "foreign"


RUNS = (Standing.INSTALLED, Standing.CHAINED, Standing.CALLED, Standing.EDITED, Standing.LINKED)
"""Those in which git comes to run a hook of ours."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Which hooks are meant, with which options of ``hook run``; whether a folder may be changed that other repositories use as
    well, and whether what is there may be overruled."""

    names: tuple[str, ...] = ("pre-commit", "pre-push")
    options: tuple[str, ...] = ()
    shared: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps for one hook in their order, and what is said of them. Where ``refusal`` says why, there are none; ``hint`` tells
    what to do instead, and ``snippet`` is text for that."""

    found: FoundHook
    steps: tuple[Step, ...] = ()
    said: str = ""
    refusal: str = ""
    hint: str = ""
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class HookStatus:
    """One hook as it is: ``path`` where git looks for it, ``words`` what that comes to, ``problems`` what keeps it from its work,
    each with what to do."""

    name: str
    standing: Standing
    path: str
    words: str
    problems: tuple[str, ...] = ()

    @property
    def installed(self) -> bool:
        """git comes to run ours."""
        return self.standing in RUNS


def standing(found: FoundHook) -> Standing:
    """What stands there."""
    hook = found.hook
    if hook is None:
        return Standing.ABSENT
    ours = hook_text.read(hook.content)
    if ours is None:
        return _of_others(found, hook)
    if hook.link is not None:
        return Standing.LINKED
    if not _is_whole(ours, found.name):
        return Standing.EDITED
    return Standing.CHAINED if found.before else Standing.INSTALLED


def install(found: FoundHook, wish: Wish, *, python: str) -> Plan:
    """Have git run ours, by this interpreter or (where it is empty) by ``PATH``."""
    what = standing(found)
    if found.folder.ground is Ground.SHARED and not wish.shared:
        return _of_all(found) if what in RUNS else _not_ours_to_change(found)
    if found.folder.path.endswith("/.husky/_"):
        return _managed(found, HUSKY)
    # What lies in the work tree may be committed: no place of this machine belongs there.
    text = hook_text.script(found.name, "" if found.folder.ground is Ground.TREE else python, wish.options)
    return _put(found, what, text, force=wish.force)


def uninstall(found: FoundHook, wish: Wish) -> Plan:
    """Take ours away, and put back what was there before."""
    what = standing(found)
    if what is Standing.ABSENT:
        return Plan(found, said="; ".join(("not installed", *_orphaned(found))))
    if what not in RUNS:
        return Plan(found, said=f"left as it is: {found.path} is not reviewbot's")
    if found.folder.ground is Ground.SHARED and not wish.shared:
        return _not_ours_to_change(found)
    if what is Standing.LINKED:
        return Plan(found, refusal=f"{found.path} is a link to a hook of reviewbot's", hint="remove the link by hand")
    if what is Standing.EDITED and not wish.force:
        return _edited(found)
    return _taken_away(found, found.name + LEGACY if what is Standing.CALLED else found.name)


def status(found: FoundHook, *, is_there: bool, on_path: bool) -> HookStatus:
    """How it is with one hook. ``is_there``: the interpreter that it calls exists; ``on_path``: so does the program."""
    what = standing(found)
    words = _WORDS[what].format(name=found.name, before=found.name + BEFORE, manager=_manager_name(found))
    problems = tuple(_problems(found, what, is_there=is_there, on_path=on_path))
    return HookStatus(found.name, what, found.path, words, problems)


def script_of(found: FoundHook) -> Script | None:
    """The script of ours that git comes to run."""
    file = found.legacy if standing(found) is Standing.CALLED else found.hook
    return hook_text.read(file.content) if file else None


_WORDS = {
    Standing.ABSENT: "not installed",
    Standing.INSTALLED: "installed",
    Standing.CHAINED: "installed; {before} runs first",
    Standing.CALLED: "installed; {manager}'s hook calls it as {name}.legacy",
    Standing.EDITED: "installed, and changed by hand since",
    Standing.LINKED: "a link to a hook of reviewbot's",
    Standing.MANAGED: "not installed: the hook is {manager}'s",
    Standing.FOREIGN: "not installed: there is another hook",
}


def _problems(found: FoundHook, what: Standing, *, is_there: bool, on_path: bool) -> list[str]:
    if what is Standing.ABSENT:
        return _orphaned(found)
    ours = script_of(found) if what in RUNS else None
    if ours is None or found.hook is None:
        return []
    said: list[str] = []
    if not found.hook.executable:
        said.append(f"it is not executable, so git does not run it: chmod +x {found.path}")
    if ours.python and not is_there:
        instead = "the one on PATH is called instead" if on_path else "nothing is reviewed"
        said.append(f"the program it calls, {ours.python}, is no longer there, so {instead}: run `reviewbot hook install` again")
    elif not ours.python and not on_path:
        said.append("reviewbot is not on PATH, so nothing is reviewed: install it, for example with pipx")
    if found.before and not found.before.executable:
        said.append(f"{found.name}{BEFORE} is not executable, so it is not run: chmod +x {found.path}{BEFORE}")
    if ours.version != hook_text.VERSION:
        said.append("it is of another version of reviewbot: run `reviewbot hook install` again")
    return said


def _orphaned(found: FoundHook) -> list[str]:
    """A hook that was kept, and that nobody runs since ours was removed by hand."""
    kept = f"{found.name}{BEFORE}"
    return [f"{kept} is there, and nothing runs it: rename it to {found.name} to have it back"] if found.before else []


def _of_others(found: FoundHook, hook: HookFile) -> Standing:
    if hook_text.manager(hook.content) is None:
        return Standing.FOREIGN
    legacy = hook_text.read(found.legacy.content) if found.legacy and found.legacy.link is None else None
    return Standing.CALLED if legacy and _is_whole(legacy, found.name) else Standing.MANAGED


def _is_whole(ours: Script, name: str) -> bool:
    return ours.intact and ours.name == name


def _put(found: FoundHook, what: Standing, text: bytes, *, force: bool) -> Plan:
    match what:
        case Standing.ABSENT:
            return Plan(found, (_written(found.name, text),), f"installed as {found.path}{_notes(found)}")
        case Standing.INSTALLED | Standing.CHAINED:
            return _renewed(found, found.name, found.hook, text=text)
        case Standing.CALLED:
            return _renewed(found, found.name + LEGACY, found.legacy, text=text)
        case Standing.LINKED:
            return Plan(found, said=f"left as it is: {found.path} is a link to a hook of reviewbot's")
        case Standing.EDITED:
            anew = Plan(found, (_written(found.name, text),), f"written anew as {found.path}, over what was changed in it")
            return anew if force else _edited(found)
        case Standing.MANAGED | Standing.FOREIGN:
            return _beside(found, text, force=force)


def _taken_away(found: FoundHook, file: str) -> Plan:
    writes = hook_text.manager(found.hook.content) if found.hook else None
    if found.before and writes and hook_text.manager(found.before.content) == writes:
        # It stands in its place again already, and pre-commit's refuses to be called by itself.
        steps = (Step(Act.REMOVE, found.name + BEFORE), Step(Act.REMOVE, file))
        return Plan(found, steps, f"removed from {found.folder.shown}; {found.path} is {writes.name}'s")
    if found.before:
        return Plan(found, (Step(Act.MOVE, found.name + BEFORE, file),), f"removed; {found.path} is again what it was before")
    return Plan(found, (Step(Act.REMOVE, file),), f"removed from {found.folder.shown}")


def _renewed(found: FoundHook, file: str, old: HookFile | None, *, text: bytes) -> Plan:
    """Ours again, where anything of it is another now."""
    if old and old.content == text and old.executable:
        return Plan(found, said=f"already installed as {found.folder.shown}/{file}")
    had = hook_text.read(old.content) if old else None
    before = f" (before: {' '.join(had.options) or 'no options'})" if had else ""
    return Plan(found, (_written(file, text),), f"brought up to date as {found.folder.shown}/{file}{before}")


def _beside(found: FoundHook, text: bytes, *, force: bool) -> Plan:
    """Keep what is there, and have it run first."""
    assert found.hook
    writes = hook_text.manager(found.hook.content)
    if writes and (writes.anew or not force):
        return _managed(found, writes)
    kept = f"{found.name}{BEFORE}"
    steps: tuple[Step, ...] = (_written(found.name, text),)
    if found.before != found.hook:
        if found.before:
            return Plan(
                found,
                refusal=f"{found.path} is not reviewbot's, and {kept} beside it keeps an older hook already",
                hint=f"make one hook of both, or remove {found.path}{BEFORE}; then run it again",
            )
        steps = (Step(Act.KEEP, found.name, kept), *steps)
    return Plan(found, steps, f"installed as {found.path}; what was there is now {kept}, and runs first{_notes(found)}")


def _notes(found: FoundHook) -> str:
    """What else is worth a word."""
    said = ""
    if found.folder.ground is Ground.TREE:
        said += "; it is a part of the work tree, so it calls reviewbot by PATH and can be committed"
    if found.before and not found.hook:
        said += f"; {found.name}{BEFORE}, which is there, runs first"
    if found.hook and not found.hook.executable:
        said += " once it is executable, which it is not"
    if found.hook and hook_text.asks_its_name(found.hook.content):
        said += "; it looks at its own name: see that it still does its work"
    return said


def _written(file: str, text: bytes) -> Step:
    return Step(Act.WRITE, file, content=text)


def _managed(found: FoundHook, writes: Manager) -> Plan:
    otherwise = "" if writes.anew else ", or keep its hook and run it first with --force"
    return Plan(
        found,
        refusal=f"the hooks in {found.folder.shown} are written by {writes.name}",
        hint=f"{writes.advice}{otherwise}",
        snippet=writes.snippet,
    )


def _edited(found: FoundHook) -> Plan:
    return Plan(
        found,
        refusal=f"{found.path} was changed by hand since reviewbot wrote it",
        hint=f"move what you added to {found.name}{BEFORE} beside it, which runs first; then say --force: it is written over",
    )


def _of_all(found: FoundHook) -> Plan:
    return Plan(found, said=f"already installed as {found.path}, for every repository that uses this folder")


def _not_ours_to_change(found: FoundHook) -> Plan:
    """Of a setting it is told how one repository gets out of it."""
    by = (
        f"{found.folder.setting} says that git looks for hooks in" if found.folder.setting else "the folder of hooks is a link to"
    )
    own = 'git config --local core.hooksPath "$(git rev-parse --git-common-dir)/hooks"'
    out = f", or give this repository hooks of its own: {own}" if found.folder.setting else ""
    return Plan(
        found,
        refusal=f"{by} {found.folder.shown}, which other repositories may use as well",
        hint=f"say --shared to change it for all of them{out}",
    )


def _manager_name(found: FoundHook) -> str:
    writes = hook_text.manager(found.hook.content) if found.hook else None
    return writes.name if writes else ""
