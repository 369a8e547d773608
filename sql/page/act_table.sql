-- The acts of the page. It is the serving role's, as whoever can write it can let the role act.
-- position is the id from which the act goes on downwards; rows that were made meanwhile have
-- higher ids than upto. missed are tasks that were locked.
CREATE TABLE IF NOT EXISTS :its_act (
    id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT statement_timestamp(),
    by text NOT NULL,
    "do" text NOT NULL,
    task int8,
    filter jsonb,
    data text,
    matched int8,
    done int8 NOT NULL DEFAULT 0,
    upto int8,
    least int8,
    position int8,
    missed int8[],
    failed int8 NOT NULL DEFAULT 0,
    error text,
    stopped text,
    ended timestamptz
);
REVOKE ALL ON TABLE :its_act FROM PUBLIC;
COMMENT ON TABLE :its_act IS 'Acts of the page: who did what, and how far it is';
COMMENT ON COLUMN :its_act.by IS 'User of the page';
COMMENT ON COLUMN :its_act.task IS 'Id of the task; NULL: an act on all that the filter matches, or on a group';
COMMENT ON COLUMN :its_act.filter IS 'Parameters of the filter, or the columns of the group';
COMMENT ON COLUMN :its_act.data IS 'data of the copies of run; NULL: those of the tasks';
COMMENT ON COLUMN :its_act.matched IS 'How many tasks matched at first; 10001: over 10,000';
COMMENT ON COLUMN :its_act.done IS 'How many tasks it has changed';
COMMENT ON COLUMN :its_act.upto IS 'Highest id when it began';
COMMENT ON COLUMN :its_act.least IS 'Least id that it looks at';
COMMENT ON COLUMN :its_act.position IS 'All matching tasks with higher ids are done';
COMMENT ON COLUMN :its_act.missed IS 'Tasks that were locked, and are tried once more at the end';
COMMENT ON COLUMN :its_act.failed IS 'How many tasks it could not change';
COMMENT ON COLUMN :its_act.error IS 'Why not, for the last of them';
COMMENT ON COLUMN :its_act.stopped IS 'Who has stopped it';
COMMENT ON COLUMN :its_act.ended IS 'When it ended; NULL: it goes on';
