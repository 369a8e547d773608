-- The acts of the page, one in each row. One on many tasks goes on downwards from position; tasks
-- made meanwhile have higher ids than upto. missed are tasks that were locked. Whoever may write the
-- table may act as the serving role.
CREATE TABLE IF NOT EXISTS :its_act (
    id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz DEFAULT statement_timestamp(), by text, "do" text, task int8, filter jsonb, data text,
    matched int8, done int8 DEFAULT 0, failed int8 DEFAULT 0, upto int8, least int8, position int8, missed int8[], error text, stopped text, ended timestamptz
);
COMMENT ON TABLE :its_act IS 'Acts of the page (:made)';
