CREATE OR REPLACE VIEW :its_stat AS SELECT * FROM :schema.pgtaskd_stat(:table_text);
GRANT SELECT ON TABLE :its_stat TO PUBLIC;
COMMENT ON VIEW :its_stat IS 'Times of tasks, by group and state (:made)';
