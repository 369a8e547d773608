package smoke

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/programtest"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"--version", "version"} {
		stdout, stderr, status := command(t, "", arg)
		if !versionLine.MatchString(stdout) || stderr != "" || status != 0 {
			t.Errorf("%s: got %q, %q and %d", arg, stdout, stderr, status)
		}
	}
}

var versionLine = regexp.MustCompile(`^pgtaskd [\w.+-]+\n$`)

func TestHelp(t *testing.T) {
	t.Parallel()
	stdout, _, status := command(t, "", "--help")
	for _, word := range []string{"run", "check", "schema", "demo", "version", "--log-level"} {
		if !strings.Contains(stdout, word) {
			t.Errorf("--help does not say %q:\n%s", word, stdout)
		}
	}
	if status != 0 {
		t.Errorf("--help ends with %d", status)
	}
	for _, name := range []string{"run", "check", "schema", "version"} {
		if stdout, _, status := command(t, "", name, "--help"); status != 0 || !strings.Contains(stdout, name) {
			t.Errorf("%s --help ends with %d: %s", name, status, stdout)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"walk"}, {"run", "--confg", "x"}, {"check"}, {"--log-level", "loud", "version"}, {"run", "--config", "main_test.go", "dbname=x"}} {
		stdout, stderr, status := command(t, "", args...)
		if status != 2 || stderr == "" {
			t.Errorf("pgtaskd %s ends with %d: %s%s", strings.Join(args, " "), status, stdout, stderr)
		}
	}
}

// TestBadConfiguration: the errors say where the configuration is wrong, and nothing is served.
func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "bad.json")
	const text = "[\n  {\"data\": \"x\", \"slep\": 100},\n  {\"data\": 7},\n  {\"data\": \"z\", \"dsn\": \"host=x password='hush\"}\n]"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run", "check"} {
		_, stderr, status := command(t, "", name, "--config", path)
		for _, want := range []string{"bad.json", "line 2", "targets[0].slep", `did you mean "sleep"?`, "targets[1].data", "targets[2].dsn"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s does not say %q:\n%s", name, want, stderr)
			}
		}
		if status != 1 || strings.Contains(stderr, "hush") || strings.Contains(stderr, "goroutine") {
			t.Errorf("%s ends with %d:\n%s", name, status, stderr)
		}
	}
}

// TestSchema: psql makes a complete table from the output of schema.
func TestSchema(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	psql := func(stdin string) {
		t.Helper()
		out, faults, status := programtest.Shell(t, stdin, postgres.Program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", postgres.DSN(database))
		if status != 0 || faults != "" {
			t.Fatalf("psql ends with %d: %s%s", status, out, faults)
		}
	}
	for _, args := range [][]string{{"schema"}, {"schema", "--schema", `a "b"`, "--table", "c;d"}} {
		ddl, stderr, status := command(t, "", args...)
		if status != 0 || stderr != "" {
			t.Fatalf("schema ends with %d: %s", status, stderr)
		}
		psql(ddl)
		psql("SET client_min_messages TO warning;\n" + ddl) // running it again does no harm
	}
	stdout, stderr, status := command(t, "", "check", "--config",
		configure(t, database, object{"create": false}, object{"create": false, "schema": `a "b"`, "table": "c;d"}))
	if want := "targets[0] " + database + "/public/task: ready\ntargets[1] " + database + `/a "b"/c;d: ready` + "\nremote \"elsewhere\": effects happen exactly once\n"; stdout != want || status != 0 {
		t.Errorf("check ends with %d: %s%s", status, stdout, stderr)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	check := func(status int, stdout, stderr []string, targets ...object) {
		t.Helper()
		out, faults, got := command(t, "", "check", "--config", configure(t, database, targets...))
		if got != status {
			t.Errorf("check ends with %d, want %d:\n%s%s", got, status, out, faults)
		}
		for _, want := range stdout {
			if !strings.Contains(out, want) {
				t.Errorf("check does not say %q:\n%s", want, out)
			}
		}
		for _, want := range stderr {
			if !strings.Contains(faults, want) {
				t.Errorf("check does not complain %q:\n%s", want, faults)
			}
		}
	}
	u := connect(t, postgres.DSN(database))
	check(0, []string{`targets[0] ` + database + `/public/task: would create table "public"."task"`}, nil, object{})
	u.is("to_regclass('task') IS NULL", "t")
	check(1, nil, []string{"targets[1] " + database + "/public/other: ", `does not exist, and "create" is false`}, object{}, object{"table": "other", "create": false})
	check(0, []string{`would create role "check's"`}, nil, object{"user": "check's"})
	check(1, nil, []string{"cannot connect"}, object{"dsn": "host=/nowhere"})
	u.exec("CREATE ROLE check_low LOGIN; CREATE TABLE task (id bigserial PRIMARY KEY)")
	low := object{"dsn": strings.Replace(postgres.DSN(database), "user=postgres", "user=check_low", 1), "user": "check_low", "schema": "new"}
	check(1, nil, []string{"targets[0] " + database + "/new/task: ", "permission denied for database"}, low)
	u.is("to_regclass('task') IS NOT NULL AND (SELECT count(*) = 1 FROM pg_attribute WHERE attrelid = 'task'::regclass AND attnum > 0)", "t")

	// If pgtaskd cannot create an object, it names the missing right.
	p := run(t, "run", "--config", configure(t, database, low))
	p.says(t, "needs CREATE on the database", 1)
	p.says(t, "GRANT CREATE ON DATABASE "+database+" TO check_low", 1)
}

// TestRunWithoutConfiguration serves one table of a connection string.
func TestRunWithoutConfiguration(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	p := run(t, "run", postgres.DSN(database))
	p.says(t, `"leading"`, 1)
	u := connect(t, postgres.DSN(database))
	u.shows(u.becomes(u.add("input", "'SELECT session_user'"), "DONE"), "output", "postgres")
}

// TestPasswordsInSight: a password that others can see causes a warning, not an error.
func TestPasswordsInSight(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	path := configure(t, database, object{})
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := command(t, "", "check", "--config", path)
	if status != 0 || !strings.Contains(stderr, "warning: "+path+": the configuration contains a password") || strings.Contains(stderr, "secret") {
		t.Errorf("check ends with %d: %s", status, stderr)
	}
	run(t, "run", "--config", path).says(t, "the configuration contains a password", 1)
	p := run(t, "run", postgres.DSN(database)+" password=hush")
	p.says(t, "which every user of this machine can see", 1)
	if strings.Contains(p.Log.String(), "hush") {
		t.Error(p.Log)
	}
}

// printed returns the statements that schema prints, without the lines for psql.
func printed(t *testing.T) string {
	t.Helper()
	ddl, _, _ := command(t, "", "schema")
	_, statements, _ := strings.Cut(ddl, "\n-- ")
	return "-- " + statements
}

// TestSchemaOfAConfiguration: the output is enough for a configuration that creates nothing.
func TestSchemaOfAConfiguration(t *testing.T) {
	t.Parallel()
	psql := postgres.Program("psql")
	u := connect(t, postgres.DSN("postgres"))
	databases := []string{newDatabase(t), `odd "name" it's \a :b ` + "`c` =%"}
	u.exec(`CREATE DATABASE ` + pgx.Identifier{databases[1]}.Sanitize())
	for _, role := range []string{`printed`, `odd "role" it's \a`} {
		u.exec("CREATE ROLE " + pgx.Identifier{role}.Sanitize() + " LOGIN")
	}
	targets := []object{
		{"data": databases[0], "user": "printed", "defaults": object{"active": "1 day", "delete": false, "data": `it's \`}},
		{"data": databases[1], "user": `odd "role" it's \a`, "schema": `s "x"`, "table": "t;u", "wake": "poll", "defaults": object{"max": 3}},
		{"data": databases[0], "user": `odd "role" it's \a`, "table": "other"},
		{"data": databases[0], "user": "postgres", "table": "third"},
	}
	for _, target := range targets {
		target["create"] = false
	}
	path, err := writeConf(t.TempDir(), targets...)
	if err != nil {
		t.Fatal(err)
	}
	ddl, stderr, status := command(t, "", "schema", "--config", path)
	if status != 0 || stderr != "" || strings.Contains(ddl, "secret") {
		t.Fatalf("schema ends with %d: %s", status, stderr)
	}
	for range 2 { // running it again does no harm
		if out, faults, status := programtest.Shell(t, ddl, psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", postgres.DSN("postgres")); status != 0 || out != "" {
			t.Fatalf("psql ends with %d: %s%s", status, out, faults)
		}
	}
	out, faults, status := command(t, "", "check", "--config", path)
	if status != 0 || strings.Count(out, ": ready\n") != len(targets) {
		t.Errorf("check ends with %d: %s%s", status, out, faults)
	}

	// A login that acts as another role: that one gets the rights, as when run grants them.
	u.exec("CREATE ROLE acting LOGIN NOINHERIT; GRANT printed TO acting; ALTER ROLE acting SET role = printed")
	acts := configure(t, databases[0], object{"create": false, "user": "acting"})
	ddl, _, _ = command(t, "", "schema", "--config", acts)
	if strings.Contains(ddl, "TO acting") || !strings.Contains(ddl, "TO printed") || !strings.Contains(ddl, `which role "printed" serves (login "acting" acts as it, `) {
		t.Errorf("a login that acts as another: %s", ddl)
	}
	u.exec("ALTER ROLE acting CONNECTION LIMIT 0")
	if ddl, _, _ = command(t, "", "schema", "--config", acts); !strings.Contains(ddl, "TO acting") || !strings.Contains(ddl, "(not asked, ") {
		t.Errorf("a login that cannot connect: %s", ddl)
	}

	one, _, status := command(t, "", "schema", "--config", path, "--data", databases[0], "--user", "printed")
	if status != 0 || strings.Count(one, "\nBEGIN ISOLATION") != 1 || strings.Contains(one, `\connect`) || !strings.Contains(one, "1 day") {
		t.Errorf("of one database and one user: %s", one)
	}
	for _, args := range [][]string{{"--config", path, "--data", "nowhere"}, {"--data", "x"}, {"--config", path, "--wake", "poll"}} {
		if out, faults, status := command(t, "", append([]string{"schema"}, args...)...); status == 0 || out != "" || faults == "" {
			t.Errorf("schema %q ends with %d: %s%s", args, status, out, faults)
		}
	}
}
