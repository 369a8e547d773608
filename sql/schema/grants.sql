-- The rights of the role that serves the table.
GRANT USAGE ON SCHEMA :schema TO :serving_role;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE :table, :its_leader, :its_group, :its_act TO :serving_role;
GRANT SELECT, INSERT, DELETE ON TABLE :its_session TO :serving_role;
GRANT SELECT ON SEQUENCE :its_group_changes TO :serving_role;
GRANT USAGE ON SEQUENCE :id_sequence TO :serving_role;
