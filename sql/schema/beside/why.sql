-- Says in one line why a task waits.
CREATE OR REPLACE FUNCTION :its_why(id int8) RETURNS text LANGUAGE sql AS $$
    SELECT :schema.pgtaskd_why(:table_text, id, :lead_class, :lead_first, :lead_last, :its_leader_text, :its_group_text);
$$;
COMMENT ON FUNCTION :its_why(int8) IS 'Says why a task waits (:made)';
