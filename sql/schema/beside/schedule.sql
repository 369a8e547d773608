CREATE OR REPLACE VIEW :its_schedule AS SELECT * FROM :schema.pgtaskd_schedule(:table_text, :its_leader_text);
GRANT SELECT ON TABLE :its_schedule TO PUBLIC;
COMMENT ON VIEW :its_schedule IS 'Repeating jobs: next and last runs (:made)';
