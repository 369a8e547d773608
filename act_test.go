package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/conf"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
	"pgtaskd/web/edit"
	"pgtaskd/web/rows"
)

// hostile is a text that SQL or a shell could take for something else.
const hostile = "it's \\ \"$(x) `y` ; -- %s :table $$ \u202e\n\t\x1b é"

// TestActsDoWhatIsShown: the statement and the command that the page shows do what the page does.
func TestActsDoWhatIsShown(t *testing.T) {
	dsn := tasktest.Database(t)
	conn := servertest.Connect(t, dsn)
	target, err := conf.Single(dsn)
	if err != nil {
		t.Fatal(err)
	}
	sessions := rows.New()
	t.Cleanup(sessions.Close)
	within := func(do func(context.Context, *rows.Table) error) {
		t.Helper()
		if err := sessions.Change(t.Context(), target, 5*time.Second, do); err != nil {
			t.Fatal(err)
		}
	}
	data := hostile + "data"
	at := func(text string) pgtype.Timestamptz {
		at, _ := time.Parse(time.RFC3339, text)
		return pgtype.Timestamptz{Time: at, Valid: true}
	}
	filters := []*rows.Filter{
		nil, // one task
		{States: []string{"PLAN", "STOP", "WORK", "FAIL"}, Group: hostile, Key: hostile, Since: at("2099-12-31T00:00:00Z"), Until: at("2100-01-02T00:00:00+02:00")},
		{Group: hostile, Text: "IT'S \\ \"$(x)"},
		{SQLState: "22012", Error: "ERROR:  it's \\ broken"},
		{SQLState: "none", ID: pgtype.Int8{Int64: 2, Valid: true}},
		{},
	}
	for _, do := range edit.Verbs {
		for i, f := range filters {
			d := edit.Doing{Do: do, By: "ann"}
			if do == "run" {
				d.Data = &data
			}
			results := map[string]string{}
			for _, way := range []string{"page", "sql", "command"} {
				reset(t, conn)
				var shown edit.Shown
				within(func(ctx context.Context, b *rows.Table) (err error) {
					if f == nil {
						shown, err = edit.ShowOne(ctx, b, d, one[do], "")
					} else {
						shown, err = edit.ShowMany(ctx, b, d, f, "")
					}
					return err
				})
				switch way {
				case "page":
					within(func(ctx context.Context, b *rows.Table) error { return act(ctx, b, d, f, one[do]) })
				case "sql":
					servertest.Exec(t, conn, shown.SQL)
				case "command":
					if out, errs, err := command(t, shellWords(t, shown.Command)[1:]...); err != nil {
						t.Errorf("%s: %v %s %s", shown.Command, err, out, errs)
					}
				}
				results[way] = stands(t, conn)
			}
			if results["page"] != results["sql"] || results["page"] != results["command"] {
				t.Errorf("%s with filter %d does different things: %v", do, i, results)
			}
			if reset(t, conn); (f == nil || i == len(filters)-1) && results["page"] == stands(t, conn) {
				t.Errorf("%s with filter %d does nothing", do, i)
			}
		}
	}
}

// stands returns the tasks as text; copies have no id.
func stands(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return servertest.Get(t, conn, `SELECT coalesce(string_agg(s.row, E'\n' ORDER BY s.row), '') FROM (
		SELECT concat_ws('|', CASE WHEN id < 100 THEN id END, state, stop IS NOT NULL, "group", key, data, plan = '2100-01-01', attempt) AS row FROM task) AS s`)
}

// one is the task for each act.
var one = map[string]int64{"cancel": 1, "pause": 1, "resume": 2, "run": 1, "again": 4, "delete": 3}

func reset(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	servertest.Exec(t, conn, "TRUNCATE task; SET session_replication_role = replica")
	servertest.Exec(t, conn, `INSERT INTO task (id, input, state, start, stop, plan, "group", key, data, error, sqlstate) VALUES
		(1, 'SELECT 1', 'PLAN', NULL, NULL, '2100-01-01', $1, $1, $1, NULL, NULL), (2, 'SELECT 1', 'STOP', NULL, NULL, '2100-01-01', 'g', NULL, NULL, NULL, NULL),
		(3, 'SELECT 1', 'WORK', now(), NULL, '2100-01-01', $1, NULL, NULL, NULL, NULL), (4, 'SELECT 1', 'FAIL', now(), now(), '2100-01-01', $1, NULL, 'd', E'ERROR:  it''s \\ broken\nX', '22012')`, hostile)
	servertest.Exec(t, conn, "SET session_replication_role = DEFAULT; SELECT setval('task_id_seq', 100)")
}

// act does what the page does.
func act(ctx context.Context, b *rows.Table, d edit.Doing, f *rows.Filter, id int64) error {
	if f == nil {
		return edit.One(ctx, b, d, id)
	}
	w, err := edit.Begin(ctx, b, f)
	for err == nil && !w.Ended {
		w, err = w.Step(ctx, b, d, f, 2)
	}
	return err
}

// shellWords lets a shell split a command.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatal(fmt.Sprint(line, ": ", err))
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
