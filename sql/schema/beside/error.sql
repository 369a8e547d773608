CREATE OR REPLACE VIEW :its_error AS SELECT * FROM :schema.pgtaskd_error(:table_text);
GRANT SELECT ON TABLE :its_error TO PUBLIC;
COMMENT ON VIEW :its_error IS 'Errors by SQLSTATE and first line (:made)';
