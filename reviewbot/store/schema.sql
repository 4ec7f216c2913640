-- The tables. A change of one that is there needs a migration, and another VERSION in database.py.
-- Times are ISO 8601 texts in UTC, money is whole nano-dollars.

CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS projects (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE IF NOT EXISTS tasks (
    id INTEGER PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    target TEXT NOT NULL,
    UNIQUE (project_id, kind, target)
);

-- review: the document as JSON. Calls of generations below the session's do not count.
CREATE TABLE IF NOT EXISTS sessions (
    id INTEGER PRIMARY KEY,
    task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    generation INTEGER NOT NULL,
    title TEXT NOT NULL,
    version TEXT NOT NULL,
    started TEXT NOT NULL,
    state TEXT NOT NULL,
    owner TEXT NOT NULL,
    review TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS ix_sessions_task_id ON sessions (task_id);

CREATE TABLE IF NOT EXISTS code_versions (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    side TEXT NOT NULL,
    "commit" TEXT NOT NULL,
    tree TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_code_versions_session_id ON code_versions (session_id);

CREATE TABLE IF NOT EXISTS agents (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    lens TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_agents_session_id ON agents (session_id);

CREATE TABLE IF NOT EXISTS findings (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    title TEXT NOT NULL,
    severity TEXT NOT NULL,
    status TEXT NOT NULL,
    path TEXT NOT NULL,
    line INTEGER
);
CREATE INDEX IF NOT EXISTS ix_findings_session_id ON findings (session_id);

-- What was tried for a task of a fix, in order. reasons: a line each.
CREATE TABLE IF NOT EXISTS trials (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    task TEXT NOT NULL,
    title TEXT NOT NULL,
    author TEXT NOT NULL,
    outcome TEXT NOT NULL,
    tree TEXT NOT NULL,
    diff TEXT NOT NULL,
    reasons TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS ix_trials_session_id ON trials (session_id);

-- worst: what the call may cost while it is claimed. lost: what earlier calls of the row that gave
-- no reply may have cost. A claim without owner was given up, and worst is what it did cost.
-- state: claimed; then done, failed, or rejected, if the question got no usable answer. Rejected
-- replies count while a session that has one as a turn is unfinished: resumed, it takes the same
-- course. After that the question is asked again, in the next generation.
CREATE TABLE IF NOT EXISTS calls (
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    provider TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT '',
    request TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL,
    owner TEXT NOT NULL DEFAULT '',
    reply TEXT NOT NULL DEFAULT '',
    fault TEXT NOT NULL DEFAULT '',
    message TEXT NOT NULL DEFAULT '',
    worst BIGINT NOT NULL DEFAULT 0,
    cost BIGINT NOT NULL DEFAULT 0,
    lost BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (key, generation)
);

CREATE TABLE IF NOT EXISTS turns (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    agent TEXT NOT NULL DEFAULT '',
    phase TEXT NOT NULL DEFAULT '',
    was_recorded BOOLEAN NOT NULL,
    cost BIGINT NOT NULL DEFAULT 0,
    seconds DOUBLE PRECISION NOT NULL,
    UNIQUE (session_id, key, generation),
    FOREIGN KEY (key, generation) REFERENCES calls (key, generation)
);
CREATE INDEX IF NOT EXISTS ix_turns_call ON turns (key, generation);
