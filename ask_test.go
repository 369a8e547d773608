package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/ask"
	"pgtaskd/human"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

// command runs a command, and returns its output.
func command(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	out, errs := &screen{}, &screen{}
	err = run(t.Context(), args, out, errs)
	return out.String(), errs.String(), err
}

// environment makes the PG* variables lead to a database.
func environment(t *testing.T, dsn string) {
	t.Helper()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"PGHOST": cfg.Host, "PGPORT": fmt.Sprint(cfg.Port), "PGUSER": cfg.User, "PGDATABASE": cfg.Database} {
		t.Setenv(name, value)
	}
}

// TestCommandsTakeWhatRunTakes: a configuration, a connection string, or only PG* variables; from a
// configuration, one target or all.
func TestCommandsTakeWhatRunTakes(t *testing.T) {
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	database := value(t, conn, "SELECT current_database()")
	tasktest.Public(t, conn).Add("input, data", "SELECT 1", "\x1b[2J")
	if _, err := schema.Install(t.Context(), conn, sql.Table{Schema: "public", Name: "other"}, schema.Options{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pgtaskd.json")
	config := fmt.Sprintf(`{"dsn": %q, "targets": [{"data": %[2]q, "user": "postgres"}, {"data": %[2]q, "user": "postgres", "table": "other"}]}`, dsn, database)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := conn.Config()
	address := fmt.Sprintf("postgres://postgres@/%s?host=%s&port=%d", database, url.QueryEscape(cfg.Host), cfg.Port)
	for _, args := range [][]string{
		{"ls", dsn},
		{"ls", "--dsn", dsn},
		{"ls", address},
		{"ls", "--config", file},
		{"ls", "--config", file, "--target", database + "/public/task"},
		{"show", "1", dsn},
		{"show", "1", "--dsn", dsn},
		{"show", "1", "--config", file, "--target", database + "/public/task"},
		{"stop", "1", "--dsn", dsn},
		{"ls", "--json", dsn},
		{"show", "1", "--json", dsn},
		{"ls", dsn, "--target", database + "/public/other"},
	} {
		out, errs, err := command(t, args...)
		if err != nil || !strings.Contains(out, "1") && !slices.Contains(args, database+"/public/other") || strings.Contains(out, "\x1b") {
			t.Errorf("%q: %v\n%s%s", args, err, out, errs)
		}
	}
	for _, c := range []struct {
		args  []string
		usage bool
		says  string
	}{
		{[]string{"ls"}, true, "PGDATABASE"},
		{[]string{"run"}, true, "PGDATABASE"},
		{[]string{"ls", dsn, "--config", file}, true, "not both"},
		{[]string{"ls", dsn, "--dsn", dsn}, true, "not both"},
		{[]string{"show", "1", "--config", file}, false, "--target"},
		{[]string{"stop", "1", "--config", file, "--target", "no/such/one"}, false, database + "/public/other"},
		{[]string{"ls", "--config", file + "x"}, false, "no such file"},
		{[]string{"show", "one", dsn}, true, "one"},
		{[]string{"status", "--config", file}, false, ask.ErrFailed.Error()},
	} {
		var usage *usageError
		_, _, err := command(t, c.args...)
		if err == nil || errors.As(err, &usage) != c.usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.args, err)
		}
	}
	environment(t, dsn)
	if out, errs, err := command(t, "ls"); err != nil || !strings.Contains(out, "STOP") {
		t.Error(out, errs, err)
	}
	if out, errs, err := command(t, "drain"); err != nil || !strings.Contains(out, "0 FAIL") {
		t.Error(out, errs, err)
	}
	start(t).leads(1)
	out, errs, err := command(t, "status")
	if err != nil || !strings.Contains(out, database+"/public/task") {
		t.Error(out, errs, err)
	}
}

// TestLinesFitTheTerminal: COLUMNS says how wide it is, else lines that no terminal shows are whole.
func TestLinesFitTheTerminal(t *testing.T) {
	dsn := tasktest.Database(t)
	table := tasktest.Public(t, servertest.Connect(t, dsn))
	table.Add(`input, "group", key`, "SELECT "+strings.Repeat("1 + ", 100), strings.Repeat("group", 10), strings.Repeat("key", 20))
	for columns, widest := range map[string][2]int{"": {100, 1000}, "none": {100, 1000}, "80": {60, 80}, "50": {40, 50}} {
		t.Setenv("COLUMNS", columns)
		for _, name := range []string{"ls", "status", "top --once"} {
			out, _, _ := command(t, append(strings.Fields(name), dsn)...)
			got := 0
			for line := range strings.Lines(out) {
				got = max(got, human.Width(strings.TrimSuffix(line, "\n")))
			}
			if want := widest; name != "top --once" && (got < want[0] || got > want[1]) || got > max(80, want[1]) {
				t.Errorf("%s with COLUMNS=%s is %d wide:\n%s", name, columns, got, out)
			}
		}
	}
}

// TestTailEndsAtAnInterrupt: without an error.
func TestTailEndsAtAnInterrupt(t *testing.T) {
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	out, ended := &screen{}, make(chan error, 1)
	go func() { ended <- run(context.WithoutCancel(t.Context()), []string{"tail", dsn}, out, out) }()
	servertest.Wait(t, patient, "a look", func() bool {
		return value(t, conn, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgtaskd-tail' AND state = 'idle' AND query ILIKE 'commit'") == "1"
	})
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err, out)
		}
	case <-time.After(patient):
		t.Fatal("it does not end")
	}
}

// TestHelpAndCompletion: help knows each command, and the shell can complete commands, flags and
// values.
func TestHelpAndCompletion(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"help", "ls"}, {"ls", "--help"}, {"completion", "-c", "bash"}, {"completion", "zsh"}, {"completion", "fish"}} {
		if out, errs, err := command(t, args...); err != nil || len(out) < 20 {
			t.Error(args, out, errs, err)
		}
	}
	for line, want := range map[string]string{
		"pgtaskd sta": "status\n", "pgtaskd ls --gr": "--group\n", "pgtaskd ls --state fa": "fail\n", "pgtaskd completion z": "zsh\n", "pgtaskd again --js": "--json\n",
	} {
		t.Setenv("COMP_LINE", line)
		if out, errs, err := command(t); err != nil || out != want {
			t.Errorf("%s: %q %q %v", line, out, errs, err)
		}
	}
}

// TestTrustNamesTheOwner: a role that may read another role's table must say that it trusts that
// role.
func TestTrustNamesTheOwner(t *testing.T) {
	t.Parallel()
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	tasktest.Public(t, conn).Add("input, data", "SELECT 1", "seen")
	database := value(t, conn, "SELECT current_database()")
	owner, monitor := "owner_"+database, "monitor_"+database
	servertest.Exec(t, conn, "CREATE ROLE "+owner+"; CREATE ROLE "+monitor+" LOGIN; ALTER TABLE task OWNER TO "+owner+"; GRANT SELECT ON task TO "+monitor)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if conn, err := pgx.Connect(ctx, dsn); err == nil {
			_, _ = conn.Exec(ctx, "DROP OWNED BY "+owner+", "+monitor+"; DROP ROLE "+owner+", "+monitor, pgx.QueryExecModeSimpleProtocol)
			_ = conn.Close(ctx)
		}
	})
	for _, c := range []struct{ trust, want string }{
		{monitor, `role "` + owner + `" owns table public.task`},
		{"postgres," + owner, "SELECT 1"},
	} {
		out, errs, _ := command(t, "ls", dsn+" user="+monitor, "--trust", c.trust)
		if !strings.Contains(out+errs, c.want) {
			t.Errorf("--trust %s: %s%s", c.trust, out, errs)
		}
	}
}
