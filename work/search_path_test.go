package work

import "testing"

// Tests of names that are found by search_path. Triggers of users find the same objects as in any
// other session of the role. Our own statements do not depend on the path.

// TestTriggersHaveThePathOfTheRole: a trigger looks up names without a schema in the server's own
// schema, then in the path of the role. It can find out that a name does not exist.
func TestTriggersHaveThePathOfTheRole(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec("CREATE SCHEMA audits; CREATE TABLE audits.audit (id int8, path text)")
	s.exec("ALTER DATABASE " + s.conn.Config().Database + " SET search_path = audits, public")
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (a int4)")
	s.exec("CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.state = 'DONE' AND to_regclass('audit') IS NOT NULL THEN " +
		"INSERT INTO audit VALUES (NEW.id, current_setting('search_path')); END IF; RETURN NULL; END$$")
	s.exec("CREATE TRIGGER audited AFTER UPDATE ON task FOR EACH ROW EXECUTE FUNCTION audited()")
	for _, input := range []string{"INSERT INTO public.effect VALUES (1)", "SET search_path = nowhere; INSERT INTO public.effect VALUES (1)"} {
		id := s.add("input", input)
		s.becomes(id, "DONE")
		if path := s.get("SELECT path FROM audits.audit WHERE id = $1", id); path != "pg_catalog, audits, public" {
			t.Errorf("%s: the trigger ran under the path %s", input, path)
		}
		if n := s.get("SELECT attempt FROM task WHERE id = $1", id); n != "1" {
			t.Errorf("%s: run %s times", input, n)
		}
	}
}

// TestASchemaBeforePgCatalogChangesNothing: the database's owner puts it there.
func TestASchemaBeforePgCatalogChangesNothing(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	s.exec("CREATE SCHEMA evil; CREATE FUNCTION evil.met(int4, int4) RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'met'; END$$; " +
		"CREATE OPERATOR evil.= (LEFTARG = int4, RIGHTARG = int4, FUNCTION = evil.met); CREATE DOMAIN evil.int4 AS text CHECK (VALUE IS NULL); CREATE DOMAIN evil.int8 AS text CHECK (VALUE IS NULL); " +
		"CREATE DOMAIN evil.timestamptz AS text CHECK (VALUE IS NULL); CREATE DOMAIN evil.name AS text CHECK (VALUE IS NULL); " +
		"CREATE FUNCTION evil.set_config(text, text, bool) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'met'; END$$; " +
		"CREATE FUNCTION evil.pg_is_in_recovery() RETURNS bool LANGUAGE plpgsql AS $$BEGIN RAISE 'met'; END$$")
	s.exec("ALTER DATABASE " + s.conn.Config().Database + " SET search_path = evil, pg_catalog, public")
	s.serve()
	s.settled()
	s.exec("CREATE TABLE public.effect (id pg_catalog.int8)")
	insert := "INSERT INTO public.effect VALUES (pg_catalog.current_setting('pg_task.id')::pg_catalog.int8)"
	for _, input := range []string{"SELECT 'x'", insert, insert + "; SELECT 'x'", "BEGIN; " + insert + "; COMMIT", "SELECT 'x'"} {
		for _, repeat := range []string{"0", "1 year"} {
			s.becomes(s.add("input, repeat", input, repeat), "DONE")
		}
	}
	id := s.add("input", "SELECT 1 = 1") // shows that the schema comes first
	s.becomes(id, "FAIL")
	s.becomes(s.add("input, remote", "SELECT 'x'", s.dsn+" target_session_attrs=primary"), "DONE")
	s.becomes(s.add("input, remote", insert, s.dsn+" target_session_attrs=prefer-standby"), "DONE")
}
