package faults

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/conf"
	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work"
)

// patience bounds each wait of a test; soon, the time from the end of a fault until all tasks have
// ended.
const (
	patience = 40 * time.Second
	soon     = 30 * time.Second
)

var numbers atomic.Int64

// stage is a database with its own role that serves it.
type stage struct {
	*testing.T
	*controller
	server *server.Server
	name   string    // of the database and the role
	conn   *pgx.Conn // a superuser's, to that database
	target work.Target
	from   int // earlier positions in the log do not count
}

type object = map[string]any

// prepare makes a database and a role on a server. The keys are added to the configuration.
func prepare(t *testing.T, on *server.Server, keys object) *stage {
	t.Helper()
	s := &stage{T: t, server: on, name: fmt.Sprintf("fault_%d", numbers.Add(1))}
	admin := s.connect("postgres")
	s.on(admin, "CREATE ROLE $n LOGIN PASSWORD 'first'")
	s.on(admin, "CREATE DATABASE $n OWNER $n TEMPLATE "+template(t, on)+servertest.Strategy(admin))
	s.conn = s.connect(s.name)
	s.exec("REASSIGN OWNED BY fault TO $n; REVOKE ALL ON SCHEMA public FROM fault; GRANT ALL ON SCHEMA public TO $n")
	file := object{"dsn": on.DSN("postgres"), "targets": []any{object{"data": s.name, "user": s.name, "grace": "1 s"}}}
	for key, value := range keys {
		file[key] = value
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := conf.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s.target = parsed.Targets[0]
	return s
}

var (
	templating sync.Mutex
	templates  = map[*server.Server]bool{}
)

// template is the name of a database with everything that a stage needs. Copying it is quicker than
// making that.
func template(t *testing.T, on *server.Server) string {
	t.Helper()
	const name = "template_of_faults"
	templating.Lock()
	defer templating.Unlock()
	if templates[on] {
		return name
	}
	s := &stage{T: t, server: on, name: name}
	s.on(s.connect("postgres"), "CREATE DATABASE $n")
	s.conn = s.connect(name)
	s.exec("CREATE ROLE fault; GRANT ALL ON SCHEMA public TO fault; GRANT CREATE ON DATABASE $n TO fault; SET ROLE fault; CREATE TABLE effect (id int8)")
	s.exec(tableDDL)
	if err := s.conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	templates[on] = true
	return name
}

// tableDDL is the output of pgtaskd schema for the table of tasks.
var tableDDL = schema.DDL(sql.Table{Schema: "public", Name: "task"}, schema.Options{})

// said returns the target's lines since the last call of settled.
func (s *stage) said() []string {
	if s.controller == nil { // it is not served yet
		return nil
	}
	lines, _ := s.lines(s.target.Name(), s.from)
	return lines
}

// count returns how many lines have the part.
func (s *stage) count(part string) (n int) {
	for _, l := range s.said() {
		if strings.Contains(l, part) {
			n++
		}
	}
	return n
}

func (s *stage) says(part string) {
	s.Helper()
	s.until(patience, "the log to say "+part, func() bool { return s.count(part) > 0 })
}

// settled waits until the table is served.
func (s *stage) settled() {
	s.Helper()
	s.says("leading")
	s.forget()
}

// forget makes the log so far not count any more.
func (s *stage) forget() { _, s.from = s.lines("", 0) }

const effect = `INSERT INTO public.effect VALUES (current_setting('pg_task.id')::int8)`

// load inserts tasks in some groups; each inserts its id into effect.
func (s *stage) load(n int) {
	s.Helper()
	s.exec(`INSERT INTO task ("group", input) SELECT i % 5, $1 FROM generate_series(1, $2::int) AS i`, effect, n)
}

func (s *stage) done(limit time.Duration) (states string) {
	s.Helper()
	s.until(limit, "all tasks to end", func() bool {
		states = s.get("SELECT string_agg(state || ' ' || n, ', ' ORDER BY state) FROM (SELECT state::text, count(*) AS n FROM task GROUP BY 1) AS s")
		return !strings.Contains(states, "PLAN") && !strings.Contains(states, "TAKE") && !strings.Contains(states, "WORK")
	})
	return states
}

// endWell waits until all tasks have ended, and checks that they have ended well and that each has
// done its work once.
func (s *stage) endWell() {
	s.Helper()
	if states := s.done(soon); strings.Contains(states, ",") || !strings.Contains(states, "DONE") {
		s.Errorf("not all have ended well: %s; %s", states, s.get("SELECT min(error) FROM task WHERE state <> 'DONE'"))
	}
	s.is("0 0", `SELECT (SELECT count(*) FROM task WHERE input LIKE '%effect%' AND id NOT IN (SELECT id FROM effect))
		|| ' ' || (SELECT count(*) - count(DISTINCT id) FROM effect)`)
}

// connect opens a superuser's connection until the test ends.
func (s *stage) connect(database string) *pgx.Conn {
	s.Helper()
	return servertest.Connect(s, s.server.DSN(database))
}

// on runs statements on a connection; $n is the name of the database and the role.
func (s *stage) on(conn *pgx.Conn, sql string, args ...any) {
	s.Helper()
	servertest.Exec(s, conn, strings.ReplaceAll(sql, "$n", s.name), args...)
}

func (s *stage) exec(sql string, args ...any) {
	s.Helper()
	s.on(s.conn, sql, args...)
}

func (s *stage) get(sql string, args ...any) (text string) {
	s.Helper()
	return servertest.Get(s, s.conn, sql, args...)
}

// is checks the one value of a query.
func (s *stage) is(want, sql string, args ...any) {
	s.Helper()
	if got := s.get(sql, args...); got != want {
		s.Errorf("%s is %q, not %q", sql, got, want)
	}
}

// becomes waits until a query has this value.
func (s *stage) becomes(want, sql string, args ...any) {
	s.Helper()
	s.until(patience, sql+" = "+want, func() bool { return s.get(sql, args...) == want })
}

// until waits until done is true.
func (s *stage) until(limit time.Duration, what string, done func() bool) {
	s.Helper()
	servertest.Wait(s, limit, what, done, func() string {
		const open = "SELECT string_agg(concat_ws(' ', id, \"group\", state, pid, attempt, error, left(input, 40)), E'\\n' ORDER BY id) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK')"
		return "tasks:\n" + s.get(open) + "\nthe log:\n" + strings.Join(s.said(), "\n")
	})
}
