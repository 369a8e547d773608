package work

import (
	"strings"
	"testing"

	"pgtaskd/sql"
)

// TestARoleThatServesInsertersTrustsNoneOfThemElsewhere: it is a member of their roles to log in as
// them, for another target, and what they have made before this one is first served runs as nobody.
func TestARoleThatServesInsertersTrustsNoneOfThemElsewhere(t *testing.T) {
	t.Parallel()
	c := founded(t, func(c *company) { c.target.Inserter, c.target.Roles, c.target.Wary = false, nil, true })
	c.exec(c.named(`GRANT CREATE ON SCHEMA public TO $alice; SET ROLE $alice; CREATE TABLE proof (who text); GRANT ALL ON proof TO PUBLIC;
		CREATE TABLE task_leader (controller text PRIMARY KEY, leads bool NOT NULL, since timestamptz NOT NULL, seen timestamptz NOT NULL, host text, pid int4, version text, run int4, timezone text);
		GRANT ALL ON task_leader TO PUBLIC; CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO proof VALUES (current_user); RETURN NEW; END$$;
		CREATE TRIGGER trap BEFORE INSERT OR UPDATE ON task_leader FOR EACH ROW EXECUTE FUNCTION trap(); RESET ROLE`))
	c.exec("DO $$BEGIN EXECUTE format('COMMENT ON TABLE task_leader IS %L', concat('Tasks (pgtaskd schema " + "1 00000000 #', (SELECT system_identifier FROM pg_control_system()), '-', 'task_leader'::regclass::oid)); END$$")
	want := "user \"" + c.serving + `" serves another target under "as": "inserter"`
	if faults := strings.Join(Check(t.Context(), c.target).Faults, "\n"); !strings.HasPrefix(faults, want) || !strings.Contains(faults, c.alice) {
		t.Errorf("check complains %q", faults)
	}
	c.serve()
	c.says(`serves another target under`)
	script := sql.DDL(table(c.target), sql.Options{Wary: true, Serving: c.serving})
	if _, err := c.as(c.serving).PgConn().Exec(t.Context(), script).ReadAll(); err != nil && !strings.Contains(err.Error(), c.alice) {
		t.Errorf("the script says %v", err)
	}
	c.exec(c.named("REVOKE $alice, $bob FROM $serving"))
	c.settled()
	if got := c.get("SELECT count(*) FROM proof"); got != "0" {
		t.Errorf("the trap has run as %s", c.get("SELECT min(who) FROM proof"))
	}
}
