-- The table and its columns. A default is an expression over the setting pg_task.<column>: after
-- SET LOCAL a setting is '' and not NULL, hence nullif, but for "null", escape and quote, where ''
-- means none.

CREATE TABLE IF NOT EXISTS :table (id bigserial PRIMARY KEY);

ALTER TABLE :table ADD COLUMN IF NOT EXISTS parent pg_catalog.int8
    DEFAULT nullif(pg_catalog.current_setting('pg_task.id', true), '')::pg_catalog.int8;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS plan pg_catalog.timestamptz NOT NULL
    DEFAULT pg_catalog.statement_timestamp();

ALTER TABLE :table ADD COLUMN IF NOT EXISTS start pg_catalog.timestamptz;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS stop pg_catalog.timestamptz;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS active pg_catalog.interval NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.active', true), ''), '1 hour')::pg_catalog.interval;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS live pg_catalog.interval NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.live', true), ''), '0')::pg_catalog.interval;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS repeat pg_catalog.interval NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.repeat', true), ''), '0')::pg_catalog.interval;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS timeout pg_catalog.interval NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.timeout', true), ''), '0')::pg_catalog.interval;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS count pg_catalog.int4 NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.count', true), ''), '0')::pg_catalog.int4;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS max pg_catalog.int4 NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.max', true), ''), '0')::pg_catalog.int4;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS pid pg_catalog.int4;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS state :state NOT NULL
    DEFAULT 'PLAN';

ALTER TABLE :table ADD COLUMN IF NOT EXISTS delete pg_catalog.bool NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.delete', true), ''), 'true')::pg_catalog.bool;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS drift pg_catalog.bool NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.drift', true), ''), 'false')::pg_catalog.bool;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS header pg_catalog.bool NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.header', true), ''), 'true')::pg_catalog.bool;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS save pg_catalog.bool NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.save', true), ''), 'false')::pg_catalog.bool;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS string pg_catalog.bool NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.string', true), ''), 'true')::pg_catalog.bool;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS delimiter pg_catalog."char" NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.delimiter', true), ''), E'\t')::pg_catalog."char";

ALTER TABLE :table ADD COLUMN IF NOT EXISTS escape pg_catalog."char" NOT NULL
    DEFAULT coalesce(pg_catalog.current_setting('pg_task.escape', true), '')::pg_catalog."char";

ALTER TABLE :table ADD COLUMN IF NOT EXISTS quote pg_catalog."char" NOT NULL
    DEFAULT coalesce(pg_catalog.current_setting('pg_task.quote', true), '')::pg_catalog."char";

ALTER TABLE :table ADD COLUMN IF NOT EXISTS data pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS error pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS "group" pg_catalog.text NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.group', true), ''), 'group');

ALTER TABLE :table ADD COLUMN IF NOT EXISTS input pg_catalog.text NOT NULL;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS "null" pg_catalog.text NOT NULL
    DEFAULT coalesce(pg_catalog.current_setting('pg_task.null', true), E'\\N');

ALTER TABLE :table ADD COLUMN IF NOT EXISTS output pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS remote pg_catalog.text
    DEFAULT nullif(pg_catalog.current_setting('pg_task.remote', true), '');

-- A lane's number, as pg_task has it; nothing of ours reads it.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS hash pg_catalog.int4 NOT NULL
    GENERATED ALWAYS AS (pg_catalog.hashtext("group" OPERATOR(pg_catalog.||) coalesce(remote, ''))) STORED;

-- Rows that were there before the column get no invented values, so the default comes after it.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS created pg_catalog.timestamptz;
ALTER TABLE :table ALTER COLUMN created SET
    DEFAULT pg_catalog.statement_timestamp();

ALTER TABLE :table ADD COLUMN IF NOT EXISTS author pg_catalog.text;
ALTER TABLE :table ALTER COLUMN author SET
    DEFAULT current_user;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS sqlstate pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS attempt pg_catalog.int4 NOT NULL
    DEFAULT 0;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS interrupted pg_catalog.int4 NOT NULL
    DEFAULT 0;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS rerun pg_catalog.bool NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.rerun', true), ''), 'true')::pg_catalog.bool;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS base pg_catalog.timestamptz;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS next pg_catalog.int8;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS cron pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS until pg_catalog.timestamptz;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS priority pg_catalog.int4 NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.priority', true), ''), '0')::pg_catalog.int4;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS retry pg_catalog.int4 NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.retry', true), ''), '0')::pg_catalog.int4;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS backoff pg_catalog.interval NOT NULL
    DEFAULT coalesce(nullif(pg_catalog.current_setting('pg_task.backoff', true), ''), '1 min')::pg_catalog.interval;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS catchup pg_catalog.int4 NOT NULL
    DEFAULT 0;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS skipped pg_catalog.int4 NOT NULL
    DEFAULT 0;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS overlap pg_catalog.bool NOT NULL
    DEFAULT false;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS failures pg_catalog.int4 NOT NULL
    DEFAULT 0;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS max_failures pg_catalog.int4 NOT NULL
    DEFAULT 0;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS owner pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS after pg_catalog.int8[];

-- Of the tasks in after it waits for one at a time, and freed is infinity; then freed is when the
-- last of them had ended. NULL: it is still to be found out what it waits for.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS awaits pg_catalog.int8;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS freed pg_catalog.timestamptz;

-- An id may come to be free and be given to another row: created tells it from the one that was
-- meant. In the order of after; NULL among them: there was none.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS met pg_catalog.timestamptz[];

-- That of awaits, by which those stand apart in the index that wait for different rows of one id.
-- What an earlier version has made wait has -infinity, and is looked at again. A default for good
-- would cost 8 bytes of every row.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS awaited pg_catalog.timestamptz DEFAULT '-infinity';
ALTER TABLE :table ALTER COLUMN awaited DROP DEFAULT;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS key pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS on_fail pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS notify pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS settings pg_catalog.jsonb;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS notice pg_catalog.text;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS runs pg_catalog.jsonb;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS atomic pg_catalog.bool;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS origin pg_catalog.timestamptz;

ALTER TABLE :table ADD COLUMN IF NOT EXISTS stopping pg_catalog.bool;

-- What the indexes below stand on: neither changes from PLAN to WORK, so that those updates stay
-- HOT, which no index that names state would let them. One statement, because each rewrites a table
-- that has rows.
-- A task whose cron is still to be looked at has an origin, and is due before all others, whenever
-- it is planned for. So is one whose after is. Each statement reads the expression again, which
-- takes the longer the more there is of it.
ALTER TABLE :table ADD COLUMN IF NOT EXISTS wait_key pg_catalog.text
    GENERATED ALWAYS AS (CASE
        WHEN state OPERATOR(pg_catalog.=) 'PLAN'
            OR (state OPERATOR(pg_catalog.=) 'STOP' AND stop IS NULL AND stopping IS NULL) THEN key
    END) STORED,
    ADD COLUMN IF NOT EXISTS due pg_catalog.timestamptz
    GENERATED ALWAYS AS (CASE
        WHEN state OPERATOR(pg_catalog.=) ANY ('{PLAN,TAKE,WORK}') THEN CASE
            WHEN cron IS NOT NULL AND origin IS NOT NULL OR after IS NOT NULL AND freed IS NULL THEN '-infinity'
            ELSE greatest(plan, freed)
        END
    END) STORED;
