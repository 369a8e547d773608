package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// cast makes a type of states with a cast of its owner's to text.
const cast = `CREATE TYPE $s.state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP');
	CREATE FUNCTION $s.evil($s.state) RETURNS text LANGUAGE sql AS $$SELECT ''$$;
	CREATE CAST ($s.state AS text) WITH FUNCTION $s.evil($s.state) AS IMPLICIT;`

// premade is what somebody may have made before the table is, in the schema $s. Roles: $m, who
// makes it, and $w, who serves the table.
var premade = []struct {
	name, as string // role that makes it; "": a superuser
	sql      string
	want     string // what is refused; "": nothing
	ddl      string // what the printed DDL refuses besides
}{
	{name: "nothing"},
	{"an empty table", "$m", "CREATE TABLE $s.task (id bigserial PRIMARY KEY, input text NOT NULL)", "table $s.task", ""},
	{"a table that claims a later version", "$m", "CREATE TABLE $s.task (id bigserial); COMMENT ON TABLE $s.task IS '(pgtaskd schema 999)'", "table $s.task", ""},
	{
		"a function", "$m",
		"CREATE FUNCTION $s.pgtaskd_wake_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", "function $s.pgtaskd_wake_$h()", "",
	},
	{
		"a function that claims a later version", "$m",
		`CREATE FUNCTION $s.pgtaskd_accept_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		COMMENT ON FUNCTION $s.pgtaskd_accept_$h() IS '(pgtaskd schema 999)'`, "function $s.pgtaskd_accept_$h()", "",
	},
	{"a function with arguments that nobody calls", "$m", "CREATE FUNCTION $s.pgtaskd_cron_$h(text, int DEFAULT 0) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'", "", ""},
	{"a type that our functions take", "$m", "CREATE DOMAIN $s.pgtaskd_call_$h AS text", "type $s.pgtaskd_call_$h", "name $s.pgtaskd_call_$h"},
	{"a table in the place of that type", "$m", "CREATE TABLE $s.pgtaskd_call_$h ()", "relation $s.pgtaskd_call_$h", ""},
	{
		"a function that takes that type", "", `CREATE DOMAIN $s.pgtaskd_call_$h AS text; SET ROLE $m; CREATE FUNCTION $s.pgtaskd_cron_$h($s.pgtaskd_call_$h)
		RETURNS text LANGUAGE sql AS 'SELECT NULL::text'; RESET ROLE`, "function $s.pgtaskd_cron_$h($s.pgtaskd_call_$h)", "",
	},
	{"a function without the parameters of ours", "$m", "CREATE FUNCTION $s.pgtaskd_cron_$h() RETURNS text LANGUAGE sql AS 'SELECT NULL::text'; COMMENT ON FUNCTION $s.pgtaskd_cron_$h() IS '(pgtaskd schema 999)'", "", ""},
	{"a function that takes a type like that", "$m", `CREATE DOMAIN $s.pgtaskd_call_mine AS text; CREATE FUNCTION $s.pgtaskd_cron_$h($s.pgtaskd_call_mine)
		RETURNS text LANGUAGE sql AS 'SELECT NULL::text'`, "", ""},
	{"a function that only other targets have", "$m", "CREATE FUNCTION $s.pgtaskd_role_$h() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", "", ""},
	{"a type of an index's name", "$m", "CREATE DOMAIN $s.pgtaskd_open_$h AS text", "", ""},
	{"a function of another table's name", "$m", "CREATE FUNCTION $s.pgtaskd_wake_0123456789abcdef() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", "", ""},
	{"a type of states", "$m", "CREATE TYPE $s.state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP')", "", "type $s.state"},
	{"a type of states with a cast", "$m", cast, "", "type $s.state"},
	{
		"a type of states with a cast, given away", "",
		cast + "ALTER FUNCTION $s.evil($s.state) OWNER TO $m; CREATE TABLE $s.task (id bigserial, state $s.state)", "cast ($s.state AS text)", "",
	},
	{"a cast from a type of their own", "", `CREATE TYPE $s.state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP'); SET ROLE $m;
		CREATE TYPE $s.evil AS ENUM (); CREATE FUNCTION $s.evil($s.evil) RETURNS $s.state LANGUAGE sql AS $$SELECT 'PLAN'::$s.state$$;
		CREATE CAST ($s.evil AS $s.state) WITH FUNCTION $s.evil($s.evil) AS IMPLICIT`, "", ""},
	{"the schema", "", "ALTER SCHEMA $s OWNER TO $m", "schema $s", ""},
	{"a sequence behind id", "", "CREATE SEQUENCE $s.ids; CREATE TABLE $s.task (id int8 PRIMARY KEY DEFAULT nextval('$s.ids')); ALTER SEQUENCE $s.ids OWNER TO $m", "sequence $s.ids", ""},
	{"a column's domain", "", "CREATE DOMAIN $s.evil AS interval CHECK (VALUE IS NOT NULL); CREATE TABLE $s.task (id bigserial PRIMARY KEY, active $s.evil); ALTER DOMAIN $s.evil OWNER TO $m", "type $s.evil", ""},
	{"a domain of a domain of an array", "", `CREATE DOMAIN $s.evil AS interval; CREATE DOMAIN $s.middle AS $s.evil[];
		CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.middle); ALTER DOMAIN $s.evil OWNER TO $m`, "type $s.evil", ""},
	{"a domain of an array", "", "CREATE DOMAIN $s.evil AS text[]; CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.evil); ALTER DOMAIN $s.evil OWNER TO $m", "type $s.evil", ""},
	{"an array of a domain of an array", "", "CREATE DOMAIN $s.evil AS text[]; CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.evil[]); ALTER DOMAIN $s.evil OWNER TO $m", "type $s.evil", ""},
	{"a field", "", `CREATE TYPE $s.evil AS ENUM (); CREATE TYPE $s.middle AS (mine $s.evil[]);
		CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.middle); ALTER TYPE $s.evil OWNER TO $m`, "type $s.evil", ""},
	{"a field of a row of another table", "", `CREATE DOMAIN $s.evil AS text; CREATE TABLE $s.other (mine $s.evil);
		CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.other[]); ALTER DOMAIN $s.evil OWNER TO $m`, "type $s.evil", ""},
	{"a row of another table", "", `CREATE TABLE $s.other (); CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.other); ALTER TABLE $s.other OWNER TO $m`, "type $s.other", ""},
	{"the subtype of a range", "", `CREATE TYPE $s.evil AS ENUM (); CREATE TYPE $s.middle AS RANGE (SUBTYPE = $s.evil);
		CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.middle); ALTER TYPE $s.evil OWNER TO $m`, "type $s.evil", ""},
	{"the range of a multirange", "", `DO $$BEGIN
			IF current_setting('server_version_num')::int < 140000 THEN CREATE DOMAIN $s.evil AS int; CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.evil); ALTER DOMAIN $s.evil OWNER TO $m;
			ELSE CREATE TYPE $s.evil AS RANGE (SUBTYPE = int, MULTIRANGE_TYPE_NAME = $s.many); CREATE TABLE $s.task (id bigserial PRIMARY KEY, mine $s.many); ALTER TYPE $s.evil OWNER TO $m;
			END IF; END$$`, "type $s.evil", ""},
	{"a column of a child alone", "", `CREATE DOMAIN $s.evil AS text; CREATE TABLE $s.task (id bigserial PRIMARY KEY, input text NOT NULL);
		CREATE TABLE $s.child (mine $s.evil) INHERITS ($s.task); ALTER DOMAIN $s.evil OWNER TO $m`, "type $s.evil", ""},
	{"something of an index's name", "$m", "CREATE TABLE $s.pgtaskd_open_$h (id int)", "relation $s.pgtaskd_open_$h", ""},
	{"an index of an index's name", "$m", "CREATE TABLE $s.mine (id int); CREATE INDEX pgtaskd_wait_key_$h ON $s.mine (id)", "relation $s.pgtaskd_wait_key_$h", ""},
	{"a table of the register's name", "$m", "CREATE TABLE $s.pgtaskd_session_$h (pid int4, started timestamptz)", "relation $s.pgtaskd_session_$h", ""},
	{"a view of the register's name", "$m", "CREATE VIEW $s.pgtaskd_session_$h AS SELECT 1 AS pid, now() AS started", "relation $s.pgtaskd_session_$h", ""},
	{"a type of the register's name", "$m", "CREATE TYPE $s.pgtaskd_session_$h AS ENUM ()", "type $s.pgtaskd_session_$h", "name $s.pgtaskd_session_$h"},
	{"a table that it inherits from", "", "CREATE TABLE $s.above (id bigserial); CREATE TABLE $s.task (PRIMARY KEY (id)) INHERITS ($s.above); ALTER TABLE $s.above OWNER TO $m", "table $s.above", ""},
	{"the whole of a partition", "", `CREATE TABLE $s.above (id bigserial, input text) PARTITION BY LIST (input);
		CREATE TABLE $s.task PARTITION OF $s.above FOR VALUES IN ('x'); ALTER TABLE $s.above OWNER TO $m`, "table $s.above", ""},
	{"a partition", "", `CREATE TABLE $s.task (id bigserial, input text NOT NULL) PARTITION BY LIST (input);
		CREATE TABLE $s.below PARTITION OF $s.task FOR VALUES IN ('x'); ALTER TABLE $s.below OWNER TO $m`, "table $s.below", ""},
	{"a trigger of our name", "", `CREATE TABLE $s.task (id bigserial PRIMARY KEY); GRANT TRIGGER ON $s.task TO $m; SET ROLE $m;
		CREATE FUNCTION $s.evil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
		CREATE TRIGGER pgtaskd_accept BEFORE INSERT ON $s.task FOR EACH ROW EXECUTE FUNCTION $s.evil()`, "function $s.evil()", ""},
	{"a table of a role that one is a member of", "", "CREATE TABLE $s.task (id bigserial PRIMARY KEY); ALTER TABLE $s.task OWNER TO $m; GRANT $m TO $w, $p", "", ""},
	{"a table of a member", "", "CREATE TABLE $s.task (id bigserial PRIMARY KEY); ALTER TABLE $s.task OWNER TO $m; GRANT $w, $p TO $m", "", ""},
}

// TestWhatOthersHaveMadeBeforeIsRefusedByName: as a superuser and as another role, by what run,
// check and the printed DDL do.
func TestWhatOthersHaveMadeBeforeIsRefusedByName(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	admin := connect(t, dsn)
	execute(t, admin, "GRANT CREATE ON DATABASE "+value(t, admin, "current_database()")+" TO PUBLIC")
	for i, c := range premade {
		for n, who := range []string{"superuser", "worker"} {
			if !servertest.Thorough && (i+n)%9 != 0 {
				continue
			}
			t.Run(c.name+" "+who, func(t *testing.T) {
				t.Parallel()
				owners := newOwners(t, dsn, who, i)
				if c.as != "" {
					owners.admin("SET ROLE " + c.as + "; " + c.sql + "; RESET ROLE")
				} else {
					owners.admin(c.sql + "; RESET ROLE")
				}
				table := owners.table()
				_, installed := Install(t.Context(), owners.conn, table, Options{})
				owners.refuses("Install", installed, c.want)
				_, missing := Missing(t.Context(), owners.conn, table, Options{})
				owners.refuses("Missing", missing, c.want)
				if !strings.Contains(c.name, "of an index's name") { // which is in the way only of one that is to be made
					_, described := Describe(t.Context(), owners.conn, table)
					owners.refuses("Describe", described, c.want)
				}
				if c.want != "" {
					_, rehearsed := Rehearse(t.Context(), owners.conn, table, Options{})
					owners.refuses("Rehearse", rehearsed, c.want)
				}
				want := cmp.Or(c.ddl, c.want)
				_, printed := owners.conn.Exec(t.Context(), DDL(table, Options{}), pgx.QueryExecModeSimpleProtocol)
				switch {
				case want == "" && printed != nil && strings.Contains(printed.Error(), "belongs to"):
					t.Errorf("DDL: %v", printed)
				case want != "" && (!isState(printed, "42501") || !strings.Contains(printed.Error(), owners.fill(want)+" belongs to role "+owners.mallory)):
					t.Errorf("DDL: %v, want a refusal of %s", printed, owners.fill(want))
				}
			})
		}
	}
}

// owners are the roles of a test, and a connection as one of them.
type ownersTest struct {
	*testing.T
	super                   *pgx.Conn
	conn                    *pgx.Conn
	schema, mallory, worker string
}

func newOwners(t *testing.T, dsn, who string, i int) *ownersTest {
	t.Helper()
	o := &ownersTest{T: t, super: connect(t, dsn)}
	name := fmt.Sprint(who, i)
	o.schema, o.mallory, o.worker = "s_"+name, "mallory_"+name, "worker_"+name
	o.admin("CREATE ROLE $m; CREATE ROLE $w; CREATE ROLE $p SUPERUSER; CREATE SCHEMA $s; GRANT CREATE, USAGE ON SCHEMA $s TO $m, $w")
	t.Cleanup(func() {
		ctx := context.Background()
		if _, err := o.super.Exec(ctx, o.fill("DROP SCHEMA $s CASCADE; DROP OWNED BY $m, $w, $p; DROP ROLE $m, $w, $p"), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	})
	o.conn = connect(t, dsn)
	role := map[string]string{"superuser": "$p", "worker": "$w"}[who]
	execute(t, o.conn, o.fill("SET SESSION AUTHORIZATION "+role))
	return o
}

func (o *ownersTest) table() Table { return Table{o.schema, "task"} }

func (o *ownersTest) fill(s string) string {
	return strings.NewReplacer("$$", "$$", "$s", o.schema, "$m", o.mallory, "$w", o.worker, "$p", "p_"+o.worker, "$h", o.table().hash()).Replace(s)
}

func (o *ownersTest) admin(sql string) {
	o.Helper()
	execute(o.T, o.super, o.fill(sql))
}

// refuses checks that an error names the object, its owner, and what to do.
func (o *ownersTest) refuses(what string, err error, want string) {
	o.Helper()
	var u *Untrusted
	switch {
	case want == "" && IsUntrusted(err):
		o.Errorf("%s: %v", what, err)
	case want != "" && (!errors.As(err, &u) || !strings.HasPrefix(u.Error(), o.fill(want)+" ") || u.Objects[0].Owner != o.mallory || !strings.Contains(u.Error(), "GRANT") && !strings.Contains(u.Error(), "drop or rename it")):
		o.Errorf("%s: got %v, want a refusal of %s", what, err, o.fill(want))
	}
}
