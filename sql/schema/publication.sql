-- Replaces the trigger for new tasks if the leader reads the write-ahead log. Inserts alone: to
-- publish updates a table needs a replica identity, which a partitioned table may not have.

DROP PUBLICATION IF EXISTS pgtaskd_:hash;
CREATE PUBLICATION pgtaskd_:hash FOR TABLE :table WITH (publish = 'insert':root);
COMMENT ON PUBLICATION pgtaskd_:hash IS 'Shows the leader new tasks in the write-ahead log (:version)';
