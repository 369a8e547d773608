package work

import (
	"testing"
)

// TestRepetitionsArePlannedOnce in a session: to plan one takes longer than to make it. SQL of the
// user's behind the end is planned as the session has it.
func TestRepetitionsArePlannedOnce(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE TABLE seen (mode text, plans text);
		CREATE FUNCTION seen() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			INSERT INTO seen SELECT current_setting('plan_cache_mode'),
				(SELECT to_jsonb(p) ->> 'custom_plans' FROM pg_prepared_statements AS p WHERE p.name LIKE 'pgtaskd\_%\_repeat');
			RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER seen AFTER UPDATE ON task DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'DONE') EXECUTE FUNCTION seen()`)
	s.add("input, repeat, count", "CREATE TEMP TABLE IF NOT EXISTS made ()", "10 ms", 1000)
	s.eventually("true", "SELECT count(*) > 20 FROM seen")
	if modes := s.get("SELECT string_agg(DISTINCT mode, ' ') FROM seen"); modes != "auto" {
		t.Error("plan_cache_mode of SQL behind the end: ", modes)
	}
	plans := s.get("SELECT string_agg(DISTINCT coalesce(plans, 'none'), ' ') FROM seen")
	if told := s.get("SELECT current_setting('server_version_num')::int >= 140000") == "true"; told && plans != "0" {
		t.Errorf("a repetition has been planned %s times", plans)
	}
}
