CREATE OR REPLACE VIEW :its_run AS SELECT * FROM :schema.pgtaskd_run(:table_text);
GRANT SELECT ON TABLE :its_run TO PUBLIC;
COMMENT ON VIEW :its_run IS 'Tasks that run (:made)';
