-- The table and its columns. Defaults read the setting pg_task.<column>. After SET LOCAL a setting
-- is '' and not NULL, hence nullif; but for "null", escape and quote '' means none.

CREATE TABLE IF NOT EXISTS :table (id bigserial PRIMARY KEY);
ALTER TABLE :table ADD COLUMN IF NOT EXISTS parent int8 DEFAULT nullif(current_setting('pg_task.id', true), '')::int8;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS plan timestamptz NOT NULL DEFAULT statement_timestamp();
ALTER TABLE :table ADD COLUMN IF NOT EXISTS start timestamptz;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS stop timestamptz;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS active interval NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.active', true), ''), '1 hour')::interval;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS live interval NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.live', true), ''), '0')::interval;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS repeat interval NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.repeat', true), ''), '0')::interval;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS timeout interval NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.timeout', true), ''), '0')::interval;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS count int4 NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.count', true), ''), '0')::int4;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS max int4 NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.max', true), ''), '0')::int4;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS pid int4;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS state :state NOT NULL DEFAULT 'PLAN';
ALTER TABLE :table ADD COLUMN IF NOT EXISTS delete bool NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.delete', true), ''), 'true')::bool;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS drift bool NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.drift', true), ''), 'false')::bool;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS header bool NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.header', true), ''), 'true')::bool;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS save bool NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.save', true), ''), 'false')::bool;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS string bool NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.string', true), ''), 'true')::bool;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS delimiter "char" NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.delimiter', true), ''), E'\t')::"char";
ALTER TABLE :table ADD COLUMN IF NOT EXISTS escape "char" NOT NULL DEFAULT coalesce(current_setting('pg_task.escape', true), '')::"char";
ALTER TABLE :table ADD COLUMN IF NOT EXISTS quote "char" NOT NULL DEFAULT coalesce(current_setting('pg_task.quote', true), '')::"char";
ALTER TABLE :table ADD COLUMN IF NOT EXISTS data text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS error text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS "group" text NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.group', true), ''), 'group');
ALTER TABLE :table ADD COLUMN IF NOT EXISTS input text NOT NULL;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS "null" text NOT NULL DEFAULT coalesce(current_setting('pg_task.null', true), E'\\N');
ALTER TABLE :table ADD COLUMN IF NOT EXISTS output text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS remote text DEFAULT nullif(current_setting('pg_task.remote', true), '');
-- The number of the lane, as pg_task computes it; pgtaskd does not read it.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS hash int4 NOT NULL GENERATED ALWAYS AS (hashtext("group" || coalesce(remote, ''))) STORED;

-- The defaults come after the columns, so that rows which exist already get no invented values.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS created timestamptz;
ALTER TABLE :table ALTER COLUMN created SET DEFAULT statement_timestamp();
ALTER TABLE :table ADD COLUMN IF NOT EXISTS author text;
ALTER TABLE :table ALTER COLUMN author SET DEFAULT current_user;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS sqlstate text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS attempt int4 NOT NULL DEFAULT 0;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS interrupted int4 NOT NULL DEFAULT 0;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS rerun bool NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.rerun', true), ''), 'true')::bool;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS base timestamptz;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS next int8;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS cron text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS until timestamptz;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS priority int4 NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.priority', true), ''), '0')::int4;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS retry int4 NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.retry', true), ''), '0')::int4;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS backoff interval NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.backoff', true), ''), '1 min')::interval;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS catchup int4 NOT NULL DEFAULT 0;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS skipped int4 NOT NULL DEFAULT 0;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS overlap bool NOT NULL DEFAULT false;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS failures int4 NOT NULL DEFAULT 0;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS max_failures int4 NOT NULL DEFAULT 0;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS owner text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS after int8[];

-- The task waits for one of the tasks in after at a time, and freed is infinity; afterwards freed
-- is the end of the last of them. NULL: the leader has not looked yet.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS awaits int8;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS freed timestamptz;

-- created of the tasks in after, in the same order; NULL: there was none. An id may become free and
-- go to another row: created tells whether a row is the one that was meant.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS met timestamptz[];

-- created of the task in awaits: tells tasks apart in the index that wait for different rows with
-- one id.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS awaited timestamptz;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS key text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS on_fail text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS notify text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS settings jsonb;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS format text NOT NULL DEFAULT coalesce(nullif(current_setting('pg_task.format', true), ''), 'text');
ALTER TABLE :table ADD COLUMN IF NOT EXISTS notice text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS runs jsonb;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS atomic bool;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS xact int8;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS xact_at text;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS origin timestamptz;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS stopping bool;
ALTER TABLE :table ADD COLUMN IF NOT EXISTS succeeded timestamptz;

-- The columns of the indexes. Neither changes from PLAN to WORK, so those updates stay HOT; no
-- index on state would allow that. One statement, because each one rewrites a table with rows.
-- A task whose cron has yet to be read has an origin and is due before all others, whatever its
-- plan; so is a task whose after has yet to be read. A running task is due at its start if its plan
-- is later.
-- Each statement parses these expressions again, so they are short.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS wait_key text
    GENERATED ALWAYS AS (CASE
        WHEN state = 'PLAN'
            OR (state = 'STOP' AND stop IS NULL AND stopping IS NULL) THEN key
    END) STORED,
    ADD COLUMN IF NOT EXISTS due timestamptz
    GENERATED ALWAYS AS (CASE
        WHEN state = ANY ('{PLAN,TAKE,WORK}') THEN CASE
            WHEN cron IS NOT NULL AND origin IS NOT NULL OR after IS NOT NULL AND freed IS NULL THEN '-infinity'
            ELSE least(greatest(plan, freed), CASE WHEN state <> 'PLAN' THEN start END)
        END
    END) STORED;
