-- Laid into a database before migrations are applied on top of it: the server itself then tells what each statement did to
-- the relations that were there already. Read reviewbot_watch.fact, then drop the schema.
--
-- lock     the strongest lock that the statement took, of those that keep others from writing (and reading, for the last)
-- scan     it read a whole table while it held such a lock
-- rewrite  it wrote a whole table anew
-- drop     it removed a relation or a column
CREATE SCHEMA reviewbot_watch;

CREATE TABLE reviewbot_watch.known AS
SELECT c.oid AS id, format('%I.%I', n.nspname, c.relname) AS name, c.relkind AS kind, c.relnatts AS columns
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('information_schema', 'reviewbot_watch');

CREATE TABLE reviewbot_watch.fact (
    id bigserial, moment timestamptz DEFAULT statement_timestamp(), kind text, object text, detail text, statement text
);

CREATE TABLE reviewbot_watch.blocking AS
SELECT * FROM (VALUES (1, 'ShareLock'), (2, 'ShareRowExclusiveLock'), (3, 'ExclusiveLock'), (4, 'AccessExclusiveLock')) AS b (rank, mode);

-- By relation: the rank of the strongest lock that this transaction holds, and how often the whole was read since the server
-- last collected its statistics, which it does between transactions only.
CREATE FUNCTION reviewbot_watch.state() RETURNS jsonb LANGUAGE sql SET search_path = pg_catalog AS $$
    SELECT coalesce(jsonb_object_agg(id, jsonb_build_object('rank', rank, 'scans', scans)) FILTER (WHERE rank > 0 OR scans > 0), '{}')
    FROM (
        SELECT k.id, coalesce(max(b.rank), 0) AS rank, pg_stat_get_xact_numscans(k.id) AS scans
        FROM reviewbot_watch.known k
        LEFT JOIN pg_locks l ON l.relation = k.id AND l.pid = pg_backend_pid() AND l.granted AND l.locktype = 'relation'
        LEFT JOIN reviewbot_watch.blocking b ON b.mode = l.mode
        WHERE k.kind IN ('r', 'p', 'm')
        GROUP BY k.id
    ) held
$$;

CREATE FUNCTION reviewbot_watch.begins() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    PERFORM set_config('reviewbot.before', reviewbot_watch.state()::text, false);
END
$$;

CREATE FUNCTION reviewbot_watch.ends() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
    before jsonb := coalesce(nullif(current_setting('reviewbot.before', true), ''), '{}')::jsonb;
BEGIN
    INSERT INTO reviewbot_watch.fact (kind, object, detail, statement)
    SELECT happened.kind, k.name, b.mode, current_query()
    FROM jsonb_each(reviewbot_watch.state()) AS a (id, state)
    JOIN reviewbot_watch.known k ON k.id = a.id::oid
    JOIN reviewbot_watch.blocking b ON b.rank = (a.state ->> 'rank')::int
    CROSS JOIN LATERAL (VALUES ('lock', 'rank'), ('scan', 'scans')) AS happened (kind, field)
    WHERE (a.state ->> happened.field)::bigint > coalesce((before -> a.id ->> happened.field)::bigint, 0)
    ORDER BY happened.kind, k.name;
END
$$;

CREATE FUNCTION reviewbot_watch.rewrites() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO reviewbot_watch.fact (kind, object, detail, statement)
    SELECT 'rewrite', k.name,
        CASE reason & 15
            WHEN 1 THEN 'persistence' WHEN 2 THEN 'default value' WHEN 4 THEN 'column type' WHEN 8 THEN 'access method' ELSE 'several reasons'
        END,
        current_query()
    FROM pg_event_trigger_table_rewrite_reason() AS reason
    JOIN reviewbot_watch.known k ON k.id = pg_event_trigger_table_rewrite_oid();
END
$$;

CREATE FUNCTION reviewbot_watch.drops() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
    INSERT INTO reviewbot_watch.fact (kind, object, detail, statement)
    SELECT 'drop', d.object_identity, d.object_type, current_query()
    FROM pg_event_trigger_dropped_objects() d JOIN reviewbot_watch.known k ON k.id = d.objid
    WHERE d.classid = 'pg_class'::regclass AND d.objsubid <= k.columns
        AND (d.original OR d.object_type IN ('table', 'table column', 'view', 'materialized view'))
    ORDER BY d.object_type, d.object_identity;
END
$$;

CREATE EVENT TRIGGER reviewbot_begins ON ddl_command_start EXECUTE FUNCTION reviewbot_watch.begins();
CREATE EVENT TRIGGER reviewbot_ends ON ddl_command_end EXECUTE FUNCTION reviewbot_watch.ends();
CREATE EVENT TRIGGER reviewbot_rewrites ON table_rewrite EXECUTE FUNCTION reviewbot_watch.rewrites();
CREATE EVENT TRIGGER reviewbot_drops ON sql_drop EXECUTE FUNCTION reviewbot_watch.drops();
ALTER EVENT TRIGGER reviewbot_begins ENABLE ALWAYS;
ALTER EVENT TRIGGER reviewbot_ends ENABLE ALWAYS;
ALTER EVENT TRIGGER reviewbot_rewrites ENABLE ALWAYS;
ALTER EVENT TRIGGER reviewbot_drops ENABLE ALWAYS;
