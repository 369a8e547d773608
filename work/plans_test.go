package work

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
)

// several is the number of tasks that a statement gets.
const several = 20

// each is an array parameter with one value for each task.
func each(value string) string {
	return "'{" + strings.TrimSuffix(strings.Repeat(value+",", several), ",") + "}'"
}

// ids is an array parameter with the ids of the tasks, which lie among others.
func ids() string {
	var b strings.Builder
	for i := range several {
		fmt.Fprintf(&b, ",%d", 1000+i*1000)
	}
	return "'{" + b.String()[1:] + "}'"
}

// planned is a statement of sql/query: its parameters, and the state of its tasks.
type planned struct {
	args  []string
	state string
	makes float64 // more rows and pages that it may visit
}

const (
	now   = "'2020-01-02'"
	aWeek = "'{7 days,7 days,7 days,7 days}'"
)

// plans are all statements of sql/query. A statement without a state does not read the table.
var plans = map[string]planned{
	"above":         {args: []string{"'public'", "'task'"}},
	"away":          {args: []string{ids()}, state: "WORK"},
	"adopt":         {args: []string{"'{}'"}},
	"carried":       {args: []string{"20"}, state: "PLAN"},
	"carry":         {args: []string{"'gone'", "'-infinity'", "0", "20", "'why'"}, state: "PLAN"},
	"here":          {args: []string{"'public'", "'task'"}, makes: 1000}, // all settings
	"led":           {},
	"placed":        {args: []string{"'c'", "'{}'"}},
	"timeline":      {},
	"alive":         {args: []string{each("1"), each("2020-01-01")}},
	"awaited":       {args: []string{"0", "20"}, state: "PLAN"},
	"asleep":        {args: []string{"1"}},
	"awake":         {args: []string{"1"}},
	"blocked":       {args: []string{"5000", "7", "7", "'2000-01-01'"}, state: "PLAN", makes: lockTable},
	"check":         {args: []string{ids(), each("7"), each("7"), each("0")}, state: "WORK"},
	"prefetch":      {args: []string{ids(), "8192", "false", now, now, "7", now}, state: "PLAN"},
	"columns":       {args: []string{"'public'", "'task'"}, makes: catalogs + 160},
	"cut":           {args: []string{ids(), each("7"), each("2020-01-01"), each("7"), "'{}'", "false", "'{}'", "'here'", each("7"), each("aborted"), each("NULL")}, state: "WORK"},
	"delete":        {args: []string{ids()}, state: "DONE"},
	"doomed":        {args: []string{"'{1}'", "0", "20"}, state: "PLAN"},
	"dismiss":       {args: []string{each("1"), each("2020-01-01")}},
	"disk":          {makes: 2001}, // of no table
	"expire":        {args: []string{ids(), "false"}, state: "PLAN"},
	"resolve":       {args: []string{ids()}, state: "PLAN"},
	"successors":    {args: []string{ids(), "20"}, state: "PLAN"},
	"forsaken":      {args: []string{ids(), each("e"), each("1"), each("NULL"), "false"}, state: "PLAN"},
	"finish":        {args: []string{ids(), each("7"), each("7"), each("false"), each("2020-01-01"), each("2020-01-01"), each("1"), each("e"), each("XX000"), each("NULL"), each("true"), each("false"), each("false"), each("NULL"), each("NULL"), each("false")}, state: "WORK"},
	"evict":         {args: []string{"'{}'", "'pg_task'", ids(), now}, state: "WORK"},
	"extent":        {},
	"forget":        {args: []string{aWeek, ids(), "0"}, state: "DONE"},
	"gone":          {args: []string{ids(), "'{}'"}, state: "WORK"},
	"grouped":       {},
	"groups":        {args: []string{"1000"}},
	"holders":       {args: []string{"7"}, makes: lockTable},
	"lead":          {args: []string{"'c'", "true", "'h'", "1", "'v'", "32", "'UTC'"}},
	"ledger":        {args: []string{ids(), each("d"), each("7"), each("7"), each("2020-01-01"), each("2020-01-01"), each("1"), each("NULL"), each("true"), each("NULL"), each("NULL"), each("NULL")}, state: "WORK"},
	"ledger_limits": {args: []string{"'1 s'", "'lazy'"}},
	"ledger_row":    {args: []string{"5000", "'d'", "7", "7", "'2020-01-01'", "'2020-01-01'", "'1'", "NULL", "true", "NULL", "NULL"}, state: "WORK"},
	"mark":          {args: []string{ids(), each("7"), each("7"), now, each("true"), "true"}, state: "WORK"},
	"names":         {args: []string{"5000", "0", "7"}, state: "WORK"},
	"named":         {args: []string{ids(), "0", "20"}, state: "PLAN"},
	"next":          {state: "PLAN"},
	"old":           {args: []string{aWeek, "10", "2"}, state: "DONE", makes: 1500},
	"place":         {},
	"planned":       {args: []string{ids(), each("7"), each("2030-01-01"), each("1"), each("NULL"), "false"}, state: "PLAN"},
	"planner":       {args: []string{"'{}'", "'{}'"}},
	"register":      {args: []string{each("1"), each("2020-01-01")}},
	"release":       {args: []string{ids(), each("7"), each("7"), each("1 s"), each("e"), each("XX000"), each("NULL"), each("NULL"), each("NULL"), each("c")}, state: "WORK"},
	"repeat":        {args: []string{"'{5000}'"}, state: "DONE"},
	"rights":        {args: []string{"'public'", "'task'"}, makes: catalogs},
	"scan":          {args: []string{"'-infinity'", "0", "20"}, state: "PLAN"},
	"stopping":      {state: "STOP"},
	"successes":     {args: []string{"20", "20"}, state: "PLAN"},
	"survey":        {args: []string{"20", "20"}, state: "PLAN"},
	"text":          {args: []string{"5000", "0", "7", "false", "8192"}, state: "WORK"},
	"unlocked":      {args: []string{"5000"}, state: "WORK", makes: another},
	"unplanned":     {args: []string{"0", "20"}, state: "PLAN"},
	"unrepeated":    {args: []string{"5000", "'why'", "'55000'"}, state: "FAIL", makes: another},
	"unseen":        {args: []string{each("1")}},
	"unstreamable":  {},
	"used":          {state: "PLAN"},
}

// cost is the number of rows and pages that a statement visits.
type cost struct{ rows, reads float64 }

type node struct {
	Kind     string  `json:"Node Type"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Joined   float64 `json:"Rows Removed by Join Filter"`
	Checked  float64 `json:"Rows Removed by Index Recheck"`
	Hit      float64 `json:"Shared Hit Blocks"`
	Read     float64 `json:"Shared Read Blocks"`
	Plans    []node
}

func (n node) visited() float64 {
	rows := (n.Rows + n.Filtered + n.Joined + n.Checked) * n.Loops
	for _, below := range n.Plans {
		rows += below.visited()
	}
	return rows
}

// given gives the tasks their state.
var given = "UPDATE task SET state = $1, pid = 7, start = '2020-01-01', attempt = 1, retry = 1 - id % 2, " +
	"stop = CASE WHEN $1 = ANY ('{DONE,FAIL}') THEN timestamptz '2020-01-01' END, stopping = CASE WHEN $1 = 'STOP' THEN true END, " +
	"repeat = CASE WHEN $1 = 'DONE' THEN interval '1 day' ELSE '0' END WHERE id = ANY (" + ids() + "::int8[])"

// world is a table of 30,000 rows, with statistics of some kind.
type world struct {
	name  string
	table string   // the user's own table; empty: ours
	setup []string // before the statements are prepared
	later []string // after they have been planned
	roles bool     // tasks run under the roles that insert them
}

const (
	aDue  = `INSERT INTO task (input, "group", plan) SELECT 'SELECT 1', 'g' || i % 3, '2020-01-01' FROM generate_series(1, 30000) AS i`
	aDone = `INSERT INTO task (input, "group", plan, state, start, stop) SELECT 'SELECT 1', 'g', '2020-01-01', 'DONE', '2020-01-01', '2020-01-01' FROM generate_series(1, 30000) AS i`
	parts = "CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan); " +
		"CREATE TABLE p1 PARTITION OF task FOR VALUES FROM ('2020-01-01') TO ('2021-01-01'); CREATE TABLE p2 PARTITION OF task FOR VALUES FROM ('2021-01-01') TO ('2022-01-01'); " +
		"CREATE TABLE p3 PARTITION OF task FOR VALUES FROM ('2022-01-01') TO ('2023-01-01'); CREATE TABLE p4 PARTITION OF task DEFAULT"
	nothing = "INSERT INTO task (id, input) SELECT -i, '' FROM generate_series(1, 30000) AS i; DELETE FROM task"
)

var worlds = []world{
	{name: "partitioned", table: parts, setup: []string{"ANALYZE task", aDue}},
	{name: "never analyzed", setup: []string{aDue}},
	{name: "analyzed when empty", setup: []string{"ANALYZE task", aDue}},
	{name: "analyzed when all had been deleted", setup: []string{nothing, "ANALYZE task", aDue}},
	{name: "analyzed when nearly all had ended", setup: []string{aDone, `INSERT INTO task (input, plan) VALUES ('SELECT 1', '2020-01-01')`, "ANALYZE task"}},
	{name: "analyzed when due, and ended since", setup: []string{aDue, "ANALYZE task", "UPDATE task SET state = 'DONE', start = plan, stop = plan"}},
	{name: "planned when empty", setup: []string{"ANALYZE task"}, later: []string{aDue}},
	{name: "planned when it had one row", setup: []string{"INSERT INTO task (input) VALUES ('')", "ANALYZE task"}, later: []string{aDue}},
	{name: "with indexes of the user's", setup: []string{
		nothing, "CREATE INDEX ON task (state); CREATE INDEX ON task (state, id); CREATE INDEX ON task (pid); CREATE INDEX ON task (plan, id)", "VACUUM (TRUNCATE off) task", "ANALYZE task", aDue,
	}},
	{name: "under the roles that insert", roles: true, setup: []string{"ANALYZE task", aDue}},
}

// TestPlansDoNotDependOnStatistics: each statement visits only the rows that it is given.
func TestPlansDoNotDependOnStatistics(t *testing.T) {
	t.Parallel()
	entries, err := filepath.Glob("../sql/query/*.sql")
	if err != nil || len(entries) != len(plans) {
		t.Fatalf("%d statements are planned here, of %d (%v)", len(plans), len(entries), err)
	}
	own := servertest.New(t, server.Options{}) // transactions of other tests would keep rows from being dead
	for i, w := range worlds {
		if !servertest.Thorough && i > 0 {
			continue
		}
		database := fmt.Sprint("world_", i)
		servertest.Exec(t, servertest.Connect(t, own.DSN("postgres")), "CREATE DATABASE "+database)
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			w.try(t, own.DSN(database))
		})
	}
}

func (w world) try(t *testing.T, dsn string) {
	s := stageOn(t, dsn, func(target *Target) { target.Inserter = w.roles })
	quiet := []string{"task"}
	if w.table != "" {
		must(t, s.conn, w.table)
		quiet = []string{"p1", "p2", "p3", "p4"}
	}
	l := s.installed()
	for _, table := range quiet {
		s.exec("ALTER TABLE " + table + " SET (autovacuum_enabled = false)")
	}
	for _, sql := range w.setup {
		s.exec(sql)
	}
	conn := l.control.Conn()
	// The other statements may take long.
	must(t, conn, "SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'")
	for name, p := range plans {
		must(t, conn, "PREPARE plan_"+name+" AS "+l.control.Queries().Text(name)+"\n")
		if len(w.later) > 0 {
			must(t, conn, "EXPLAIN EXECUTE "+p.call(name))
		}
	}
	for _, sql := range w.later {
		s.exec(sql)
	}
	// Not in the control session: it would plan again.
	s.exec("SET session_replication_role = replica; SET application_name = 'pgtaskd test'")
	s.exec("SET enable_seqscan = off")
	for name, p := range plans {
		if p.state != "" {
			s.exec(strings.ReplaceAll(given, "$1", "'"+p.state+"'"))
		}
		explain(t, conn, name, p) // finds the dead rows, and marks them in the index
		var got cost
		var plan string
		rows, reads := p.bounds()
		if !servertest.Comes(patient, func() bool { // autovacuum may be at work: then the rows are not dead for everybody yet
			got, plan = explain(t, conn, name, p)
			return got.rows <= rows && got.reads <= reads
		}) {
			t.Errorf("%s visits %v rows, %v pages; most: %v, %v", name, got.rows, got.reads, rows, reads)
			if os.Getenv("PLANS") != "" {
				t.Log(plan)
			}
		}
	}
}

func (p planned) call(name string) string {
	if len(p.args) == 0 {
		return "plan_" + name
	}
	return "plan_" + name + "(" + strings.Join(p.args, ", ") + ")"
}

// another is how many rows of a user's index a rare statement may visit if the server uses that
// index instead of the primary key.
const another = 100

// catalogs is how many rows of the server's catalogs a statement may visit that reads them.
const catalogs = 300

// lockTable is how many locks of other tests a statement may read that looks for locks.
const lockTable = 20_000

// bounds are the most rows and pages that a statement may visit: fewer pages than an index has.
func (p planned) bounds() (rows, reads float64) {
	n := 1.
	if slices.Contains(p.args, ids()) {
		n = several
	}
	return 30*n + 300 + p.makes, 50*n + 50 + p.makes
}

func must(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// explain runs the statement on its tasks, and rolls back.
func explain(t *testing.T, conn *pgx.Conn, name string, p planned) (cost, string) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	var text string
	if err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE "+p.call(name), pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	top := plans[0].Plan
	return cost{top.visited(), top.Hit + top.Read}, text
}
