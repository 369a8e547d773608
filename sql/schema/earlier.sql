-- What a version before has made under names with the table's hash, and would be in the way.
DROP DOMAIN IF EXISTS :schema.pgtaskd_call_:hash CASCADE; -- of an earlier version
DROP FUNCTION IF EXISTS :schema.pgtaskd_own_:hash CASCADE;
