"""Applies the base's migrations, on top of them the head's new ones, and in a second cluster all of the head's; compares. SPEC::

    {"base": [path…], "head": [path…], "base_tree": folder, "head_tree": folder, "report": file, "seconds": 60,
     "queries": [{"path": file, "name": text, "sql": text, "base_sql": text}]}

Lists are in the order of application, paths relative to their tree; ``base_sql`` may be left out where it is the same, and is
empty where there was none. Of files that hold both ways (goose, dbmate, sql-migrate, tern), the way up is taken. The report is
JSON lines, each with its ``type`` and number ``n``:

``start``      ``server``: its version
``history``    ``what path``: a base's migration was ``edited`` or ``removed``, or a new one stands before one (``out_of_order``)
``role``       ``name``: a role that migrations speak of and none makes; it was made for them
``error``      ``stage (upgrade fresh) path line code message statement``: line 1-based or 0, code an SQLSTATE or empty
``fact``       ``what path line statement object detail``: what the upgrade did to relations of the base, as the server told
               (``reviewbot_watch.sql``); path is empty where the statement is not found in a file
``change``     ``object base head``: definitions in the schema before and after the upgrade, ``null`` where there is none
``difference`` ``object upgraded fresh``: the same for the upgraded schema and one made anew
``plan``       ``side path name cost nodes error``: what EXPLAIN says; a node is ``[depth, type, relation, index]``
``left_out``   ``what count``: how many more records of a type there would have been
``finish``     everything was done

Plans of tables without rows are those that PostgreSQL makes before it knows them, as if they held ten pages. A report without
``finish`` goes with exit code 3. What runs meanwhile is not trusted: the report is written when all of it has ended.
Python 3.8 and later; imports nothing of reviewbot but the program beside it.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

from reviewbot_cluster import SAID, CannotRun, Cluster, text

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_ROLES, MOST_RECORDS, MOST_NODES = 20, 500, 200
TEXT_LIMIT = 2000
UP = re.compile(r"\s*--\s*(?:\+goose\s+up|\+migrate\s+up|migrate:up)\b", re.IGNORECASE)
DOWN = re.compile(
    r"\s*--\s*(?:\+goose\s+down|\+migrate\s+down|migrate:down)\b|\s*----\s*create above\s*/\s*drop below", re.IGNORECASE
)
ALONE = re.compile(r"^\s*--.*(?:\+goose\s+no transaction|\bnotransaction\b|\btransaction:\s*false)", re.IGNORECASE | re.MULTILINE)
"""The migration asks to be run outside of a transaction."""
STATEMENT = re.compile(r"^psql:.*?:\d+: STATEMENT:  (?P<text>.*)\Z", re.MULTILINE | re.DOTALL)
POINTER = re.compile(r"^LINE (\d+): ", re.MULTILINE)
NO_ROLE = re.compile(r'role "(.+)" does not exist$')
IN_TRANSACTION, UNDEFINED = "25001", "42704"
VERSION = "SELECT to_json(split_part(current_setting('server_version'), ' ', 1))"
ANALYZE = """DO $$ DECLARE one regclass; filled boolean; BEGIN
FOR one IN SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY c.oid
LOOP EXECUTE format('SELECT EXISTS (SELECT FROM %s)', one) INTO filled; IF filled THEN EXECUTE format('ANALYZE %s', one); END IF;
END LOOP; END $$"""
"""Of tables without rows PostgreSQL would learn that they have none, and never look at an index again."""
EXPLAIN = """DO $$ DECLARE words text; plan text; BEGIN
SELECT 'EXPLAIN (FORMAT JSON) EXECUTE reviewbot_query' || CASE cardinality(parameter_types) WHEN 0 THEN ''
  ELSE '(' || repeat('NULL, ', cardinality(parameter_types) - 1) || 'NULL)' END INTO STRICT words
FROM pg_prepared_statements WHERE name = 'reviewbot_query';
EXECUTE words INTO plan; PERFORM set_config('reviewbot.plan', plan, true); END $$"""


class Report:
    """Records, kept until the end."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self.counts: Counter[str] = Counter()

    def say(self, kind: str, **fields: Any) -> None:
        self.counts[kind] += 1
        if self.counts[kind] <= MOST_RECORDS:
            self.records.append({"type": kind, "n": len(self.records), **fields})

    def finish(self) -> None:
        for kind, count in tuple(self.counts.items()):
            if count > MOST_RECORDS:
                self.say("left_out", what=kind, count=count - MOST_RECORDS)
        self.say("finish")

    def write(self, path: str) -> None:
        lines = [json.dumps(record, ensure_ascii=False).replace("\\u0000", "\\ufffd") + "\n" for record in self.records]
        with open(path, "w", encoding="utf-8", errors="replace") as file:
            file.writelines(lines)


class Examination:
    """Two trees' migrations, applied and compared."""

    def __init__(self, spec: dict[str, Any], report: Report, deadline: float) -> None:
        self.spec = spec
        self.report = report
        self.deadline = deadline
        self.new = [path for path in spec["head"] if path not in spec["base"]]

    def run(self) -> bool:
        """Whether the head's migrations get through, and to the same schema by both ways. Raises CannotRun, also where the
        base's do not get through by themselves."""
        self.tell_history()
        with tempfile.TemporaryDirectory(prefix="rb", dir="/tmp") as folder:
            pattern = os.path.join(folder, "empty")
            upgraded = self.upgrade(pattern)
            fresh = self.make_anew(pattern, explain=upgraded is None)
        if upgraded is not None and fresh is not None:
            self.tell_schemas("difference", upgraded=upgraded, fresh=fresh)
        self.report.finish()
        return not (self.report.counts["error"] or self.report.counts["difference"])

    def tell_history(self) -> None:
        base, head = self.spec["base"], self.spec["head"]
        for path in base:
            if path not in head:
                self.report.say("history", what="removed", path=path)
            elif content(self.spec["base_tree"], path) != content(self.spec["head_tree"], path):
                self.report.say("history", what="edited", path=path)
        last = max((number for number, path in enumerate(head) if path in base), default=-1)
        for path in head[: last + 1]:
            if path in self.new:
                self.report.say("history", what="out_of_order", path=path)

    def upgrade(self, pattern: str) -> dict[str, str] | None:
        """The schema that the new migrations make of the base's; ``None`` where one of them fails."""
        with Cluster(self.deadline, pattern) as cluster:
            self.report.say("start", server=cluster.ask("-c", VERSION))
            for path in self.spec["base"]:
                error = self.apply(cluster, self.spec["base_tree"], path)
                if error:
                    raise CannotRun("a migration of the base fails here: {path}:{line}: {code} {message}".format(**error))
            before = schema(cluster)
            self.explain(cluster, "base")
            cluster.psql("-f", os.path.join(HERE, "reviewbot_watch.sql"))
            done = self.apply_all(cluster, self.new, "upgrade")
            self.tell_facts(cluster)
            if not done:
                return None
            after = schema(cluster)
            self.tell_schemas("change", base=before, head=after)
            self.explain(cluster, "head")
            return after

    def make_anew(self, pattern: str, *, explain: bool) -> dict[str, str] | None:
        """The schema of the head's migrations alone. In a cluster of its own: roles belong to all of a cluster's databases."""
        with Cluster(self.deadline, pattern) as cluster:
            if not self.apply_all(cluster, self.spec["head"], "fresh"):
                return None
            if explain:
                self.explain(cluster, "head")
            return schema(cluster)

    def apply_all(self, cluster: Cluster, paths: list[str], stage: str) -> bool:
        for path in paths:
            error = self.apply(cluster, self.spec["head_tree"], path)
            if error:
                self.report.say("error", stage=stage, **error)
                return False
        return True

    def apply(self, cluster: Cluster, tree: str, path: str) -> dict[str, Any] | None:
        """Apply one migration, in a transaction where it allows one. What went wrong, or ``None``."""
        source = content(tree, path)
        name, part = path, way_up(source)
        if part != source:
            name = os.path.join(cluster.folder, "up.sql")
            with open(name, "wb") as file:
                file.write(part)
        whole = () if ALONE.search(text(source)) else ("--single-transaction",)
        error = None
        for _ in range(MOST_ROLES):
            done = cluster.psql("-b", *whole, "-f", name, folder=tree)
            if not done.returncode:
                return None
            error = understood(text(done.stderr), text(source))
            error["path"] = path if error["path"] in ("", name) else error["path"]
            role = NO_ROLE.search(error["message"])
            if whole and error["code"] == IN_TRANSACTION:
                whole = ()
            elif whole and error["code"] == UNDEFINED and role:
                cluster.psql("-c", 'CREATE ROLE "{}"'.format(role[1].replace('"', '""')))
                self.report.say("role", name=role[1])
            else:
                break
        return error

    def tell_facts(self, cluster: Cluster) -> None:
        facts = cluster.ask("-c", "SELECT json_agg(f ORDER BY id) FROM reviewbot_watch.fact f") or []
        cluster.psql("-c", "DROP SCHEMA reviewbot_watch CASCADE")
        rewritten = {(fact["moment"], fact["object"]) for fact in facts if fact["kind"] == "rewrite"}
        sources = [(path, text(content(self.spec["head_tree"], path))) for path in self.new]
        for fact, path, line in located(facts, sources):
            if fact["kind"] != "scan" or (fact["moment"], fact["object"]) not in rewritten:
                said = {"statement": cut(fact["statement"]), "object": cut(fact["object"]), "detail": fact["detail"]}
                self.report.say("fact", what=fact["kind"], path=path, line=line, **said)

    def tell_schemas(self, kind: str, **sides: dict[str, str]) -> None:
        (one, first), (other, second) = sides.items()
        for name in sorted(first.keys() | second.keys()):
            if first.get(name) != second.get(name):
                self.report.say(kind, object=cut(name), **{one: cut(first.get(name)), other: cut(second.get(name))})

    def explain(self, cluster: Cluster, side: str) -> None:
        queries = self.spec.get("queries", [])
        if queries:
            cluster.psql("-c", ANALYZE)
        for query in queries:
            sql = query.get("base_sql", query["sql"]) if side == "base" else query["sql"]
            if sql:
                self.report.say("plan", side=side, path=query["path"], name=query["name"], **planned(cluster, sql))


def schema(cluster: Cluster) -> dict[str, str]:
    found: dict[str, str] = cluster.ask("-f", os.path.join(HERE, "reviewbot_schema.sql"))
    return found


def planned(cluster: Cluster, sql: str) -> dict[str, Any]:
    """The plan of a query whose parameters are not known, as a prepared statement keeps it."""
    prepare = "PREPARE reviewbot_query AS " + sql.strip().rstrip(";")
    steps = ("BEGIN", "SET LOCAL plan_cache_mode = force_generic_plan", prepare, EXPLAIN)
    words = [word for step in (*steps, "SELECT current_setting('reviewbot.plan')", "ROLLBACK") for word in ("-c", step)]
    try:
        top = cluster.ask(*words)[0]["Plan"]
    except (CannotRun, TypeError, LookupError, OSError) as exc:
        return {"cost": 0.0, "nodes": [], "error": cut(str(exc)) or "no plan"}
    return {"cost": top["Total Cost"], "nodes": list(nodes(top))[:MOST_NODES], "error": ""}


def nodes(top: dict[str, Any]) -> Iterator[list[Any]]:
    waiting = [(0, top)]
    while waiting:
        depth, node = waiting.pop()
        yield [depth, node["Node Type"], node.get("Relation Name", ""), node.get("Index Name", "")]
        waiting += [(depth + 1, inner) for inner in reversed(node.get("Plans", []))]


def way_up(source: bytes) -> bytes:
    """The file without what takes it back; lines keep their numbers."""
    lines = source.split(b"\n")
    marks = [UP if UP.match(text(line)) else DOWN if DOWN.match(text(line)) else None for line in lines]
    way = DOWN if UP in marks else UP
    for number, mark in enumerate(marks):
        way = mark or way
        if way is DOWN:
            lines[number] = b""
    return b"\n".join(lines)


def understood(said: str, source: str) -> dict[str, Any]:
    """The last error of psql, at the line that the server points at, or where the statement begins, or ends."""
    errors = list(SAID.finditer(said))
    if not errors:
        return {"path": "", "line": 0, "code": "", "message": cut(said.strip()), "statement": ""}
    found = errors[-1]
    statement, pointer = STATEMENT.search(said, found.end()), POINTER.search(said, found.end())
    words = statement["text"].strip() if statement else ""
    begin = line_of(source, source.find(words)) if words else 0
    line = begin + int(pointer[1]) - 1 if begin and pointer else begin or int(found["line"] or 0)
    said_of = {"path": "" if begin else found["file"] or "", "line": line, "code": found["code"] or ""}
    return {**said_of, "message": cut(found["message"]), "statement": cut(words)}


def located(facts: list[dict[str, Any]], sources: list[tuple[str, str]]) -> Iterator[tuple[dict[str, Any], str, int]]:
    """Each fact with path and line of its statement. Facts come in the order of statements, statements in that of files."""
    number, begin, moment = 0, -1, None
    path, line = "", 0
    for fact in facts:
        if fact["moment"] != moment:
            moment = fact["moment"]
            starts = [begin + 1] + [0] * len(sources)
            places = ((n, sources[n][1].find(fact["statement"], starts[n - number])) for n in range(number, len(sources)))
            found = next((pair for pair in places if pair[1] >= 0), None)
            number, begin = found or (number, begin)
            path, line = (sources[number][0], line_of(sources[number][1], begin)) if found else ("", 0)
        yield fact, path, line


def line_of(source: str, place: int) -> int:
    return source.count("\n", 0, place) + 1 if place >= 0 else 0


def content(tree: str, path: str) -> bytes:
    try:
        with open(os.path.join(tree, path), "rb") as file:
            return file.read()
    except OSError as exc:
        raise CannotRun(f"{path} cannot be read: {exc.strerror}") from None


def cut(words: str | None) -> str | None:
    return words if words is None else words[:TEXT_LIMIT]
