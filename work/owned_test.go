package work

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgtaskd/remote"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

// withRoles is a stage whose target is served by a role of its own (or by the superuser, as whom
// the dsn logs in), and another role that may create in the schema. In statements $w and $m stand
// for them, and $o for one more.
func withRoles(t *testing.T, super bool) (s *stage, do func(sql string)) {
	t.Helper()
	s = prepared(t)
	database := s.target.Connect["dbname"]
	fill := strings.NewReplacer("$w", "worker_"+database, "$m", "mallory_"+database, "$o", "other_"+database)
	do = func(sql string) {
		t.Helper()
		if _, err := s.conn.PgConn().Exec(t.Context(), fill.Replace(sql)+"; RESET ROLE").ReadAll(); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	do("REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE $w LOGIN; CREATE ROLE $m LOGIN; CREATE ROLE $o; GRANT CREATE ON SCHEMA public TO $m") // 14 gives CREATE to all
	t.Cleanup(func() {
		_, err := s.conn.PgConn().Exec(context.Background(), fill.Replace("DROP OWNED BY $w, $m, $o CASCADE; DROP ROLE $w, $m, $o")).ReadAll()
		if err != nil {
			t.Error(err)
		}
	})
	if !super {
		s.target.Connect = s.target.Connect.With(remote.Settings{"user": fill.Replace("$w")})
	}
	return s, do
}

// has tells whether there is a role of that name.
func (s *stage) has(role string) bool {
	s.t.Helper()
	return s.get("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", role) == "true"
}

// TestWhatBelongsToOthersIsRefused: by run, which logs it and does not lead, and by check; and
// served when it is gone.
func TestWhatBelongsToOthersIsRefused(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		name            string
		super           bool
		sql, want, undo string
	}{
		{"table", true, "SET ROLE $m; CREATE TABLE task (id bigserial)", "table public.task belongs to role mallory_", "DROP TABLE task"},
		{
			"function", false, "SET ROLE $m; CREATE FUNCTION pgtaskd_wake_" + strings.TrimPrefix(sql.Channel(sql.Table{Schema: "public", Name: "task"}), "pgtaskd_") + "() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
			"function public.pgtaskd_wake_", "DROP OWNED BY $m CASCADE",
		},
		{"schema", true, "ALTER SCHEMA public OWNER TO $m", "schema public belongs to role mallory_", "ALTER SCHEMA public OWNER TO CURRENT_USER"},
		{
			"database's owner", false, "ALTER SCHEMA public OWNER TO pg_database_owner; DO $$BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO $m', current_database()); END$$",
			"schema public belongs to role mallory_", "DO $$BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO CURRENT_USER', current_database()); END$$",
		},
	} {
		if !servertest.Thorough && i%4 != 1 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, do := withRoles(t, c.super)
			if strings.Contains(c.sql, "pg_database_owner") && !s.has("pg_database_owner") {
				return // before 14
			}
			do(c.sql)
			report := Check(t.Context(), s.target)
			if faults := strings.Join(report.Faults, "\n"); !strings.Contains(faults, c.want) || !strings.Contains(faults, "whom role") {
				t.Errorf("check says %q and complains %q", report.Lines, faults)
			}
			s.serve()
			s.until("refused", func() bool { return strings.Contains(s.logged(), c.want) })
			if s.leads() > 0 {
				t.Error("it is served")
			}
			do(c.undo)
			s.settled()
			s.becomes(s.add("input", "SELECT 1"), "DONE")
		})
	}
}

// TestTheDsnsUserTouchesNothingOfOthers: a role's task makes an operator, drops an index of ours,
// takes CREATE from itself and ends our session.
func TestTheDsnsUserTouchesNothingOfOthers(t *testing.T) {
	t.Parallel()
	s, do := withRoles(t, false)
	do("GRANT CREATE ON SCHEMA public TO $w")
	s.serve()
	s.settled()
	do("DO $$BEGIN EXECUTE 'DROP INDEX ' || (SELECT indexname FROM pg_indexes WHERE indexname LIKE 'pgtaskd_open_%'); END$$")
	do(`CREATE TABLE captured (who name); GRANT ALL ON captured TO PUBLIC; SET ROLE $w;
		CREATE FUNCTION capture(name, name) RETURNS bool LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.captured VALUES (current_user); RETURN $1 = $2; END$$;
		CREATE OPERATOR ~~ (LEFTARG = name, RIGHTARG = name, FUNCTION = capture);
		CREATE OPERATOR = (LEFTARG = name, RIGHTARG = name, FUNCTION = capture)`)
	do("REVOKE CREATE ON SCHEMA public FROM $w")
	do("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datid = (SELECT oid FROM pg_database WHERE datname OPERATOR(pg_catalog.=) current_database()) AND pid <> pg_backend_pid()")
	s.until("said what is missing", func() bool { return strings.Contains(s.logged(), "changes nothing that belongs to others") })
	if faults := strings.Join(Check(t.Context(), s.target).Faults, "\n"); !strings.Contains(faults, "index on due, id: needs") {
		t.Errorf("check complains %q", faults)
	}
	if got := s.get("SELECT count(*) FROM captured"); got != "0" {
		t.Errorf("%s calls by %s", got, s.get("SELECT string_agg(DISTINCT who, ' ') FROM captured"))
	}
	do("GRANT CREATE ON SCHEMA public TO $w")
	s.until("leads again", func() bool { return s.leads() > 1 })
}

// TestTheDsnsUserMakesWhatIsNotThere: the table is its own, and the role gets what it takes to
// serve it.
func TestTheDsnsUserMakesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s, _ := withRoles(t, false)
	if report := Check(t.Context(), s.target); len(report.Faults) > 0 {
		t.Errorf("check complains %q", report.Faults)
	}
	s.serve()
	s.settled()
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	if owner := s.get("SELECT tableowner FROM pg_tables WHERE tablename = 'task'"); owner != s.target.Admin["user"] {
		t.Error("the owner is ", owner)
	}
	s.exec("ALTER TABLE task DROP COLUMN notice")
	s.eventually("1", "SELECT count(*) FROM pg_attribute WHERE attrelid = 'task'::regclass AND attname = 'notice'")
}

// TestAnotherUsersHelpIsNotTaken: a role has no reason to trust a dsn's user who is neither a
// superuser nor one of its own.
func TestAnotherUsersHelpIsNotTaken(t *testing.T) {
	t.Parallel()
	s, do := withRoles(t, false)
	worker := s.target.Connect["user"]
	s.target.Admin = s.target.Admin.With(remote.Settings{"user": strings.Replace(worker, "worker", "mallory", 1)})
	s.serve()
	s.until("refused", func() bool { return strings.Contains(s.logged(), "has no reason to trust what user") })
	do("GRANT $m TO $w") // now it may make the table itself
	s.settled()
	s.becomes(s.add("input", "SELECT 1"), "DONE")
}

// TestOwnersThatChangeAreNoticed: what could run with the table becomes somebody else's while it is
// served.
func TestOwnersThatChangeAreNoticed(t *testing.T) {
	t.Parallel()
	for what, sql := range someOf(map[string]string{
		"schema public":                 "DO $$BEGIN EXECUTE format('ALTER SCHEMA public OWNER TO pg_database_owner; ALTER DATABASE %I OWNER TO $m', current_database()); END$$",
		"table public.p1":               "ALTER TABLE p1 OWNER TO $m",
		"type public.state":             "ALTER TYPE state OWNER TO $m",
		"function public.pgtaskd_state": "DO $$BEGIN EXECUTE format('ALTER FUNCTION %s OWNER TO $m', (SELECT oid::regprocedure FROM pg_proc WHERE proname LIKE 'pgtaskd\\_state\\_%')); END$$",
		"function public.pgtaskd_cron":  overloads("cron"),
		"function public.pgtaskd_async": overloads("async_columns"),
	}) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, do := withRoles(t, true)
			if strings.Contains(sql, "pg_database_owner") && !s.has("pg_database_owner") {
				return // before 14
			}
			must(t, s.conn, parts)
			s.serve()
			s.settled()
			do(sql)
			defer do("DO $$BEGIN EXECUTE format('ALTER DATABASE %I OWNER TO CURRENT_USER', current_database()); END$$")
			s.says(what)
			if !strings.Contains(s.logged(), "belongs to role mallory_") {
				t.Error(s.logged())
			}
		})
	}
}

// overloads makes a function of a stranger's of which a call of ours could not be told, as only who
// may use the type that ours take can.
func overloads(function string) string {
	return strings.ReplaceAll(`DO $$DECLARE call text := (SELECT format('%s_%s(%s', 'pgtaskd_%NAME', right(typname, 16), typname) FROM pg_type WHERE typname ~ '^pgtaskd_call_'); BEGIN
		EXECUTE format('CREATE FUNCTION %s, int DEFAULT 0) RETURNS text LANGUAGE sql AS ''SELECT NULL::text''', call); EXECUTE format('ALTER FUNCTION %s, int) OWNER TO $m', call); END$$`, "%NAME", function)
}

// TestWhoMayMakeFunctionsLikeOursIsNamed: where the table may not be changed. Else the right is taken
// back.
func TestWhoMayMakeFunctionsLikeOursIsNamed(t *testing.T) {
	t.Parallel()
	for _, create := range []bool{false, true} {
		t.Run(fmt.Sprint(create), func(t *testing.T) {
			t.Parallel()
			s, do := withRoles(t, true)
			s.installed()
			do("DO $$BEGIN EXECUTE format('GRANT USAGE ON DOMAIN %I TO $m', (SELECT typname FROM pg_type WHERE typname LIKE 'pgtaskd\\_call\\_%')); END$$")
			s.target.Create = create
			s.serve()
			s.settled()
			if create {
				s.says("rights of others to domain pgtaskd_call_")
				s.eventually("0", "SELECT count(*) FROM pg_type, aclexplode(typacl) AS x WHERE typname LIKE 'pgtaskd\\_call\\_%' AND x.grantee <> typowner")
			} else {
				s.says("may make functions that are taken for those of table")
			}
		})
	}
}

// TestTrustThatEndsIsNoticed: what could run with the table belongs to somebody whom the serving
// role has no reason to trust any more.
func TestTrustThatEndsIsNoticed(t *testing.T) {
	t.Parallel()
	const called = "DO $$BEGIN EXECUTE format('ALTER FUNCTION %s OWNER TO $m', (SELECT oid::regprocedure FROM pg_proc WHERE proname LIKE 'pgtaskd\\_cron\\_%')); END$$"
	for what, c := range someOf(map[string]struct {
		before, sql string
		function    bool // belongs to them, in place of a type
		upTo        int  // version of the server
	}{
		"membership":                     {before: "GRANT $m TO $w", sql: "REVOKE $m FROM $w"},
		"membership, given by another":   {before: "GRANT $m TO $w; GRANT $m TO $o WITH ADMIN OPTION", sql: "REVOKE $m FROM $w; SET ROLE $o; GRANT $m TO $w"},
		"membership of the giver":        {before: "GRANT $m TO $o WITH ADMIN OPTION; GRANT $w TO $o; SET ROLE $o; GRANT $m TO $w", sql: "REVOKE $w FROM $o"},
		"superuser, the giver":           {before: "ALTER ROLE $o SUPERUSER; SET ROLE $o; GRANT $m TO $w", sql: "ALTER ROLE $o NOSUPERUSER", upTo: 15},
		"member":                         {before: "GRANT $w TO $m", sql: "REVOKE $w FROM $m"},
		"member, through one between":    {before: "GRANT $w TO $o; GRANT $o TO $m", sql: "REVOKE $w FROM $o"},
		"member, with a function":        {before: "GRANT $w TO $m", sql: "REVOKE $w FROM $m", function: true},
		"creator of roles":               {before: "ALTER ROLE $m CREATEROLE", sql: "ALTER ROLE $m NOCREATEROLE", upTo: 15},
		"superuser":                      {before: "ALTER ROLE $m SUPERUSER", sql: "ALTER ROLE $m NOSUPERUSER"},
		"superuser, the serving role":    {before: "GRANT $m TO $w; ALTER ROLE $w SUPERUSER", sql: "ALTER ROLE $w NOSUPERUSER; REVOKE $m FROM $w"},
		"creator, of whom now superuser": {before: "ALTER ROLE $m CREATEROLE", sql: "ALTER ROLE $w SUPERUSER", upTo: 15},
	}) {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, do := withRoles(t, false)
			if c.upTo > 0 && s.get("SELECT current_setting('server_version_num')::int4 / 10000 > "+fmt.Sprint(c.upTo)) == "true" {
				return
			}
			do("GRANT CREATE ON SCHEMA public TO $w; " + c.before)
			s.installed()
			owned, says := "ALTER TYPE state OWNER TO $m", "type public.state belongs to role mallory_"
			if c.function {
				owned, says = called, "function public.pgtaskd_cron_"
			}
			do(owned)
			s.serve()
			s.settled()
			s.becomes(s.add("input", "SELECT 1"), "DONE")
			do(c.sql)
			s.says(says)
		})
	}
}
