package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// TestAMembershipThatOthersHaveGrantedIsNoReasonToTrust: whoever has a role to give can give it to
// anybody, a superuser among them. $s serves the table, $o owns it, $x is somebody with $o to give.
func TestAMembershipThatOthersHaveGrantedIsNoReasonToTrust(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	onlySet, onlyInherit, options := "", "", serverVersion(connect(t, dsn)) >= 160000 // before, each membership gives both
	if options {
		onlySet, onlyInherit = " WITH INHERIT FALSE, SET TRUE", " WITH INHERIT TRUE, SET FALSE"
	}
	for i, c := range []struct {
		name, sql         string
		worker, superuser bool // whether each trusts $o
	}{
		{"none", "", false, false},
		{"by a superuser", "GRANT $o TO $s", true, true},
		{"by who has it to give", "GRANT $o TO $x WITH ADMIN OPTION; SET ROLE $x; GRANT $o TO $s", false, false},
		{"by who serves", "GRANT $o TO $s WITH ADMIN OPTION; REVOKE ADMIN OPTION FOR $o FROM $s; GRANT $o TO $x WITH ADMIN OPTION; SET ROLE $x; GRANT $o TO $s", true, true},
		{"through one in between", "GRANT $b TO $s; GRANT $o TO $x WITH ADMIN OPTION; SET ROLE $x; GRANT $o TO $b", false, false},
		{"through one in between, all by superusers", "GRANT $b TO $s; GRANT $o TO $b", true, true},
		{"by one that can become it", "GRANT $o TO $x WITH ADMIN OPTION; GRANT $s TO $x; SET ROLE $x; GRANT $o TO $s", true, true},
		{"through a role of the server's own", "GRANT pg_monitor TO $s; GRANT $o TO pg_monitor", false, false},
		{"the other way round", "GRANT $s TO $o", true, true},
		{"by SET up to one, and INHERIT from there", "GRANT $b TO $s" + onlySet + "; GRANT $o TO $b" + onlyInherit, true, true},
		{"the other way round, likewise", "GRANT $b TO $o" + onlySet + "; GRANT $s TO $b" + onlyInherit, true, true},
		{"by INHERIT up to one, and SET from there", "GRANT $b TO $s" + onlyInherit + "; GRANT $o TO $b" + onlySet, !options, !options},
		{"the other way round, likewise in vain", "GRANT $b TO $o" + onlyInherit + "; GRANT $s TO $b" + onlySet, !options, !options},
		{"by INHERIT up to one who has it to give", "GRANT $b TO $o" + onlyInherit + "; GRANT $s TO $b WITH ADMIN OPTION", true, true},
	} {
		for _, who := range []string{"worker", "superuser"} {
			t.Run(c.name+" "+who, func(t *testing.T) {
				t.Parallel()
				name := fmt.Sprint(who, i)
				fill := strings.NewReplacer("$s", "s_"+name, "$o", "o_"+name, "$x", "x_"+name, "$b", "b_"+name).Replace
				conn := connect(t, dsn)
				execute(t, conn, fill("CREATE ROLE $s; CREATE ROLE $o; CREATE ROLE $x; CREATE ROLE $b"))
				t.Cleanup(func() {
					if _, err := conn.Exec(context.Background(), fill("RESET ROLE; DROP ROLE $s; DROP ROLE $o; DROP ROLE $b; DROP ROLE $x"), pgx.QueryExecModeSimpleProtocol); err != nil {
						t.Error(err)
					}
				})
				want := c.worker
				if who == "superuser" {
					want = c.superuser
					execute(t, conn, fill("ALTER ROLE $s SUPERUSER"))
				}
				if c.sql != "" {
					execute(t, conn, fill(c.sql+"; RESET ROLE"))
				}
				trusted, err := trustedBy(t.Context(), conn, fill("$s"), Table{}, Options{})
				if err != nil {
					t.Fatal(err)
				}
				owner, err := pgx.CollectExactlyOneRow(query(t, conn, "SELECT oid::int8 FROM pg_roles WHERE rolname = '"+fill("$o")+"'"), pgx.RowTo[int64])
				if err != nil {
					t.Fatal(err)
				}
				if got := slices.Contains(trusted, owner); got != want {
					t.Errorf("it trusts the owner: %v", got)
				}
			})
		}
	}
}

// TestAPredefinedRoleIsNoReasonToTrust: it is given for what it may do, and each of its members can
// make things that belong to it. To become a member is no way to have them served.
func TestAPredefinedRoleIsNoReasonToTrust(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	for i, who := range []string{"superuser", "worker"} {
		t.Run(who, func(t *testing.T) {
			t.Parallel()
			owners := newOwners(t, dsn, who, 1000+i)
			owners.admin("CREATE TABLE $s.task (id bigserial PRIMARY KEY, input text NOT NULL); ALTER TABLE $s.task OWNER TO pg_monitor; GRANT pg_monitor TO $w, $p, $m")
			_, installed := Install(t.Context(), owners.conn, owners.table(), Options{})
			want := owners.fill("table $s.task belongs to role pg_monitor, whom role ")
			if !IsUntrusted(installed) || !strings.HasPrefix(installed.Error(), want) || strings.Contains(installed.Error(), "GRANT") {
				t.Errorf("Install: %v", installed)
			}
			_, printed := owners.conn.Exec(t.Context(), DDL(owners.table(), Options{}), pgx.QueryExecModeSimpleProtocol)
			if !isState(printed, "42501") || !strings.Contains(printed.Error(), want) {
				t.Errorf("DDL: %v", printed)
			}
		})
	}
}

// TestWhoMayInsertIsNotTrusted: where tasks run under the roles that insert them, the role that serves
// the table is a member of these to log in as them. What belongs to them is refused by name, and
// served where they can become that role.
func TestWhoMayInsertIsNotTrusted(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	for i, c := range []struct {
		name, sql string
		inserters bool
		served    bool
	}{
		{"all tasks under one role", "ALTER ROLE $m LOGIN; GRANT $m TO $w, $p", false, true},
		{"who may log in", "ALTER ROLE $m LOGIN; GRANT $m TO $w, $p", true, false},
		{"who was shut out", "GRANT $m TO $w, $p; ALTER ROLE $m NOLOGIN", true, false},
		{"through one who may log in", "CREATE ROLE b_$w LOGIN; GRANT $m TO b_$w; GRANT b_$w TO $w, $p", true, false},
		{"who can become the role", "ALTER ROLE $m LOGIN; GRANT $w, $p TO $m", true, true},
	} {
		for _, who := range []string{"superuser", "worker"} {
			t.Run(c.name+" "+who, func(t *testing.T) {
				t.Parallel()
				owners := newOwners(t, dsn, who, 2000+i)
				t.Cleanup(func() { owners.super.Exec(context.Background(), owners.fill("DROP ROLE IF EXISTS b_$w")) })
				owners.admin("CREATE TABLE $s.task (id bigserial PRIMARY KEY, input text NOT NULL); ALTER TABLE $s.task OWNER TO $m; " + c.sql)
				serving := owners.fill(map[string]string{"superuser": "$p", "worker": "$w"}[who])
				o := Options{Inserter: c.inserters, Role: serving, Serving: serving}
				_, missing := Missing(t.Context(), owners.conn, owners.table(), o)
				_, printed := owners.conn.Exec(t.Context(), DDL(owners.table(), o), pgx.QueryExecModeSimpleProtocol)
				if refusal := owners.fill("table $s.task belongs to role $m, whom role "); IsUntrusted(missing) == c.served || (printed != nil && strings.Contains(printed.Error(), refusal)) == c.served ||
					!c.served && (!strings.HasPrefix(missing.Error(), refusal) || !strings.Contains(missing.Error(), owners.fill(" TO $m (if "))) {
					t.Errorf("run says %v, the script %v", missing, printed)
				}
				if !c.served {
					owners.admin(`CREATE FUNCTION $s.sets() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
						CREATE TRIGGER pgtaskd_role BEFORE INSERT ON $s.task FOR EACH ROW EXECUTE FUNCTION $s.sets()`)
				}
				execute(t, owners.conn, "ROLLBACK")
				if _, err := Describe(t.Context(), owners.conn, owners.table()); IsUntrusted(err) == c.served {
					t.Errorf("when it is complete: %v", err)
				}
			})
		}
	}
}

func query(t *testing.T, conn *pgx.Conn, sql string) pgx.Rows {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestTheScriptLooksAtWhoHasLoggedIn: a database's owner can have each session there begin as a
// role of theirs, whose expressions can take the other one again.
func TestTheScriptLooksAtWhoHasLoggedIn(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	admin := connect(t, dsn)
	database := value(t, admin, "current_database()")
	role := "owner_" + database
	execute(t, admin, fmt.Sprintf("CREATE ROLE %s; ALTER DATABASE %s SET role = %s; GRANT CREATE ON SCHEMA public TO %s; SET ROLE %s; CREATE TABLE task (id bigserial PRIMARY KEY, input text NOT NULL)", role, database, role, role, role))
	t.Cleanup(func() {
		if _, err := admin.Exec(context.Background(), fmt.Sprintf("RESET ROLE; ALTER DATABASE %s RESET role; DROP OWNED BY %s; DROP ROLE %s", database, role, role), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Error(err)
		}
	})
	conn := connect(t, dsn)
	if as := value(t, conn, "current_user::text"); as != role {
		t.Fatal("the session is that of ", as)
	}
	_, err := conn.Exec(t.Context(), DDL(task, Options{}), pgx.QueryExecModeSimpleProtocol)
	if !isState(err, "42501") || !strings.Contains(err.Error(), "belongs to role "+role+", whom role postgres has no reason to trust") {
		t.Error(err)
	}
}
