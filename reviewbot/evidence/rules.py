"""The linter rules that are believed, and how far: a small selection in which a result usually is a defect.

``precision`` is a judgement per rule, not yet calibrated. Names: https://docs.astral.sh/ruff/rules/
"""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.evidence import Category, Precision, Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """What a result of one rule means. ``title`` is empty where the tool's own message says it better."""

    code: str
    category: Category
    severity: Severity
    precision: Precision
    title: str
    trigger: str
    consequence: str


_CORRECTNESS, _SECURITY, _PERFORMANCE = Category.CORRECTNESS, Category.SECURITY, Category.PERFORMANCE
_MAINTAINABILITY, _TESTS = Category.MAINTAINABILITY, Category.TESTS
_LOW, _MEDIUM, _HIGH, _CRITICAL = Severity.LOW, Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL
_CERTAIN, _LIKELY, _HEURISTIC = Precision.CERTAIN, Precision.LIKELY, Precision.HEURISTIC

_EXECUTED = "the line is executed"
_CALLED_TWICE = "the function is called more than once"
_FORMATS = "the string is formatted"
_RAISES = "the operation raises instead of doing its work"
_FORMAT_FAILS = "formatting raises, and the message it was for is lost"
_UNTRUSTED = "a part of the value comes from outside"
_NEVER_CHECKS = "the test can never fail, whatever the code does"
_LISTENS_IN = "whoever sits on the way can read and change what is sent"
_EVENT_LOOP = "the coroutine runs beside others"
_ALL_STALL = "every other task of the event loop stands still meanwhile"
_READ = "somebody reads the code"

SYNTAX = Rule(
    *("invalid-syntax", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported"),
    "Python cannot read the file, and everything that imports it fails",
)

_TABLE = (
    Rule("F401", _MAINTAINABILITY, _LOW, _LIKELY, "", _READ, "an import that nothing uses slows the start and misleads"),
    Rule("F402", _CORRECTNESS, _LOW, _LIKELY, "", _EXECUTED, "the imported name is replaced by the loop's variable"),
    Rule("F501", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F502", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F503", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F505", _CORRECTNESS, _HIGH, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F506", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F507", _CORRECTNESS, _HIGH, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F509", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F521", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F523", _CORRECTNESS, _LOW, _LIKELY, "", _FORMATS, "an argument is passed that never shows"),
    Rule("F524", _CORRECTNESS, _HIGH, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("F541", _MAINTAINABILITY, _LOW, _LIKELY, "", _READ, "a placeholder may have been forgotten"),
    Rule("F601", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the dictionary is built", "the earlier value of the key is lost"),
    Rule("F602", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the dictionary is built", "the earlier value of the key is lost"),
    Rule("F631", _CORRECTNESS, _HIGH, _CERTAIN, "`assert` on a tuple is always true", _EXECUTED, _NEVER_CHECKS),
    Rule(
        "F632", _CORRECTNESS, _MEDIUM, _CERTAIN, "", "equal values are distinct objects", "the comparison gives the wrong answer"
    ),
    Rule("F634", _CORRECTNESS, _HIGH, _CERTAIN, "", _EXECUTED, "the condition is always true"),
    Rule("F702", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported", SYNTAX.consequence),
    Rule("F704", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported", SYNTAX.consequence),
    Rule("F706", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported", SYNTAX.consequence),
    Rule("F707", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported", SYNTAX.consequence),
    Rule(
        "F811", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the name is used", "the earlier definition is lost without having been used"
    ),
    Rule("F821", _CORRECTNESS, _HIGH, _LIKELY, "", _EXECUTED, "a NameError is raised"),
    Rule("F822", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the module is imported with a star", "an AttributeError is raised"),
    Rule("F823", _CORRECTNESS, _HIGH, _LIKELY, "", _EXECUTED, "an UnboundLocalError is raised"),
    Rule(
        "F841", _MAINTAINABILITY, _LOW, _LIKELY, "", _READ, "a value is computed and dropped: something may have been forgotten"
    ),
    Rule("F901", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _EXECUTED, "a TypeError is raised instead of NotImplementedError"),
    Rule(
        "E722",
        _CORRECTNESS,
        _LOW,
        _HEURISTIC,
        "",
        "anything goes wrong inside",
        "also Ctrl-C and the exit of the program are swallowed",
    ),
    Rule("B002", _CORRECTNESS, _MEDIUM, _LIKELY, "", _EXECUTED, "nothing is incremented"),
    Rule("B003", _CORRECTNESS, _MEDIUM, _LIKELY, "", _EXECUTED, "the environment of the process is not cleared"),
    Rule(
        "B005",
        _CORRECTNESS,
        _MEDIUM,
        _LIKELY,
        "",
        "the text begins or ends with some of these letters",
        "more is stripped than meant",
    ),
    Rule(
        *("B006", _CORRECTNESS, _MEDIUM, _LIKELY, "Mutable default argument is shared between calls", _CALLED_TWICE),
        "what one call puts into the default is still there in the next",
    ),
    Rule("B008", _CORRECTNESS, _LOW, _HEURISTIC, "", _CALLED_TWICE, "all calls share the value computed at import"),
    Rule("B012", _CORRECTNESS, _MEDIUM, _LIKELY, "", "an exception is on its way", "the exception is silently lost"),
    Rule(
        "B015",
        _CORRECTNESS,
        _MEDIUM,
        _LIKELY,
        "",
        _EXECUTED,
        "the comparison has no effect: an assert or an assignment was meant",
    ),
    Rule("B016", _CORRECTNESS, _HIGH, _CERTAIN, "", _EXECUTED, "a TypeError is raised instead of the error that was meant"),
    Rule("B017", _TESTS, _LOW, _LIKELY, "", "the code fails for another reason", "the test passes all the same"),
    Rule("B018", _CORRECTNESS, _LOW, _HEURISTIC, "", _EXECUTED, "the expression has no effect"),
    Rule(
        "B019",
        _PERFORMANCE,
        _MEDIUM,
        _LIKELY,
        "",
        "many instances are made",
        "the cache keeps every instance alive: memory grows",
    ),
    Rule("B020", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the loop has run", "the collection is replaced by its last element"),
    Rule("B022", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the exception is raised", "nothing is suppressed"),
    Rule("B023", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the function is called after the loop went on", "it sees the last value"),
    Rule("B025", _CORRECTNESS, _LOW, _LIKELY, "", "the exception is raised", "the second handler never runs"),
    Rule("B029", _CORRECTNESS, _MEDIUM, _CERTAIN, "", "anything is raised", "the handler never runs"),
    Rule("B031", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the group is used again", "it is empty the second time"),
    Rule("B032", _CORRECTNESS, _MEDIUM, _LIKELY, "", _EXECUTED, "nothing is assigned: this is an annotation"),
    Rule("B035", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the collection has two elements", "only the last one is kept"),
    Rule("B039", _CORRECTNESS, _MEDIUM, _LIKELY, "", "two contexts use the variable", "they share one object"),
    Rule("B904", _MAINTAINABILITY, _LOW, _HEURISTIC, "", "the exception is raised", "the traceback does not name its cause"),
    Rule("PLE0100", _CORRECTNESS, _HIGH, _CERTAIN, "", "the class is used", _RAISES),
    Rule("PLE0101", _CORRECTNESS, _HIGH, _CERTAIN, "", "the class is used", _RAISES),
    Rule("PLE0116", _CORRECTNESS, _MEDIUM, _LIKELY, "", _EXECUTED, _RAISES),
    Rule("PLE0117", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported", SYNTAX.consequence),
    Rule("PLE0118", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported", SYNTAX.consequence),
    Rule("PLE0241", _CORRECTNESS, _HIGH, _CERTAIN, "", "the file is imported", _RAISES),
    Rule("PLE0302", _CORRECTNESS, _MEDIUM, _LIKELY, "", "Python calls the method", _RAISES),
    Rule("PLE0604", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the module is imported with a star", _RAISES),
    Rule("PLE0605", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the module is imported with a star", _RAISES),
    Rule("PLE0643", _CORRECTNESS, _HIGH, _CERTAIN, "", _EXECUTED, "an IndexError is raised"),
    Rule(
        "PLE0704", _CORRECTNESS, _MEDIUM, _LIKELY, "", _EXECUTED, "a RuntimeError is raised instead of the error that was meant"
    ),
    Rule("PLE1132", _CORRECTNESS, _HIGH, _CERTAIN, "", _EXECUTED, "a TypeError is raised"),
    Rule("PLE1142", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported", SYNTAX.consequence),
    Rule("PLE1205", _CORRECTNESS, _MEDIUM, _CERTAIN, "", "the message is logged", "the record is lost in an error of the logger"),
    Rule("PLE1206", _CORRECTNESS, _MEDIUM, _CERTAIN, "", "the message is logged", "the record is lost in an error of the logger"),
    Rule("PLE1300", _CORRECTNESS, _HIGH, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("PLE1307", _CORRECTNESS, _HIGH, _CERTAIN, "", _FORMATS, _FORMAT_FAILS),
    Rule("PLE1310", _CORRECTNESS, _MEDIUM, _LIKELY, "", _EXECUTED, "more is stripped than meant"),
    Rule("PLE1507", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _EXECUTED, "a TypeError is raised"),
    Rule("PLE1700", _CORRECTNESS, _CRITICAL, _CERTAIN, "", "the file is imported", SYNTAX.consequence),
    Rule("PLW0127", _CORRECTNESS, _LOW, _LIKELY, "", _EXECUTED, "the assignment has no effect"),
    Rule("PLW0129", _TESTS, _MEDIUM, _CERTAIN, "", _EXECUTED, _NEVER_CHECKS),
    Rule("PLW0133", _CORRECTNESS, _HIGH, _CERTAIN, "", _EXECUTED, "the exception is made, but never raised"),
    Rule("PLW0177", _CORRECTNESS, _MEDIUM, _CERTAIN, "", _EXECUTED, "the comparison with NaN is never true"),
    Rule("PLW0711", _CORRECTNESS, _MEDIUM, _CERTAIN, "", "the second exception is raised", "it is not caught"),
    Rule("PLW1501", _CORRECTNESS, _HIGH, _CERTAIN, "", _EXECUTED, "a ValueError is raised"),
    Rule("PLW1507", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the copy is changed", "the environment of the process changes with it"),
    Rule("PLW2101", _CORRECTNESS, _HIGH, _LIKELY, "", "two threads come here", "the lock protects nothing"),
    Rule("PLR0124", _CORRECTNESS, _MEDIUM, _LIKELY, "", _EXECUTED, "the comparison always gives the same answer"),
    Rule("RUF006", _CORRECTNESS, _MEDIUM, _LIKELY, "", "the garbage collector runs", "the task may vanish before it is done"),
    Rule("RUF008", _CORRECTNESS, _MEDIUM, _LIKELY, "", "two instances are made", "they share one object"),
    Rule("RUF016", _CORRECTNESS, _HIGH, _CERTAIN, "", _EXECUTED, "a TypeError is raised"),
    Rule("RUF018", _CORRECTNESS, _MEDIUM, _LIKELY, "", "Python runs with -O", "the variable is never assigned"),
    Rule("RUF024", _CORRECTNESS, _MEDIUM, _LIKELY, "", "one value is changed", "the values of all keys change"),
    Rule("RUF034", _CORRECTNESS, _MEDIUM, _LIKELY, "", _EXECUTED, "both branches do the same"),
    Rule("RUF040", _TESTS, _LOW, _LIKELY, "", "the assertion fails", "its message says nothing"),
    Rule("ASYNC210", _PERFORMANCE, _MEDIUM, _LIKELY, "", _EVENT_LOOP, _ALL_STALL),
    Rule("ASYNC220", _PERFORMANCE, _MEDIUM, _LIKELY, "", _EVENT_LOOP, _ALL_STALL),
    Rule("ASYNC221", _PERFORMANCE, _MEDIUM, _LIKELY, "", _EVENT_LOOP, _ALL_STALL),
    Rule("ASYNC222", _PERFORMANCE, _MEDIUM, _LIKELY, "", _EVENT_LOOP, _ALL_STALL),
    Rule("ASYNC230", _PERFORMANCE, _LOW, _LIKELY, "", _EVENT_LOOP, _ALL_STALL),
    Rule("ASYNC251", _PERFORMANCE, _MEDIUM, _LIKELY, "", _EVENT_LOOP, _ALL_STALL),
    Rule(
        "S102", _SECURITY, _HIGH, _LIKELY, "`exec` runs text as a program", _UNTRUSTED, "whoever writes that text runs code here"
    ),
    Rule("S103", _SECURITY, _MEDIUM, _LIKELY, "", "somebody else uses the machine", "they can change the file"),
    Rule("S113", _CORRECTNESS, _LOW, _LIKELY, "", "the other side does not answer", "the call waits for ever"),
    Rule("S201", _SECURITY, _HIGH, _LIKELY, "", "an error page is shown", "its console lets a visitor run code"),
    Rule("S202", _SECURITY, _MEDIUM, _HEURISTIC, "", _UNTRUSTED, "the archive writes files outside of its folder"),
    Rule("S301", _SECURITY, _MEDIUM, _HEURISTIC, "", _UNTRUSTED, "unpickling runs whatever the data says"),
    Rule("S302", _SECURITY, _MEDIUM, _HEURISTIC, "", _UNTRUSTED, "loading runs whatever the data says"),
    Rule(
        "S306", _SECURITY, _MEDIUM, _LIKELY, "", "somebody else uses the machine", "they can be first to make a file of that name"
    ),
    Rule(
        "S307", _SECURITY, _HIGH, _LIKELY, "`eval` runs text as a program", _UNTRUSTED, "whoever writes that text runs code here"
    ),
    Rule("S323", _SECURITY, _HIGH, _LIKELY, "", "the connection is made", _LISTENS_IN),
    Rule("S324", _SECURITY, _LOW, _HEURISTIC, "", "the hash protects something", "a collision can be made"),
    Rule("S501", _SECURITY, _HIGH, _LIKELY, "", "the connection is made", _LISTENS_IN),
    Rule("S502", _SECURITY, _HIGH, _LIKELY, "", "the connection is made", _LISTENS_IN),
    Rule("S506", _SECURITY, _HIGH, _LIKELY, "", _UNTRUSTED, "loading the document runs whatever it says"),
    Rule("S507", _SECURITY, _HIGH, _LIKELY, "", "the connection is made", _LISTENS_IN),
    Rule("S602", _SECURITY, _HIGH, _LIKELY, "", _UNTRUSTED, "the shell runs whatever is written into the value"),
    Rule("S604", _SECURITY, _MEDIUM, _HEURISTIC, "", _UNTRUSTED, "the shell runs whatever is written into the value"),
    Rule("S605", _SECURITY, _HIGH, _LIKELY, "", _UNTRUSTED, "the shell runs whatever is written into the value"),
    Rule("S608", _SECURITY, _MEDIUM, _HEURISTIC, "", _UNTRUSTED, "the value is read as SQL: data leaks or is lost"),
    Rule("S609", _SECURITY, _MEDIUM, _LIKELY, "", "a file has the name of an option", "the command does something else"),
    Rule("S701", _SECURITY, _MEDIUM, _LIKELY, "", _UNTRUSTED, "the value is read as HTML: visitors run foreign scripts"),
)

RULES = {rule.code: rule for rule in _TABLE}
CODES = tuple(RULES)

AT_A_DISTANCE = frozenset({"F401", "F811", "F821", "F822", "F823", "F841"})
"""Rules whose result on an unchanged line a change elsewhere in the file brings about."""


def known(code: str | None) -> Rule | None:
    """The rule of a code; what has no code or says so is a syntax error."""
    if code is None or code in ("invalid-syntax", "E999"):
        return SYNTAX
    return RULES.get(code)
