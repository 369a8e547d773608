package work

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/human"
	"pgtaskd/remote"
	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/work/run"
)

// Target is a table of tasks with all that is needed to serve it. Package conf
// fills in every field and compares two targets with reflect.DeepEqual to know
// whether a running one has changed.
type Target struct {
	// Connect is the connection under which the target is served and its
	// tasks run: dbname and user are always set.
	Connect remote.Settings
	// Admin is the dsn as it was given. It only creates what is missing.
	Admin remote.Settings

	Schema, Table string

	Live
	Reset time.Duration // between searches for interrupted tasks

	// Defaults are the defaults of columns, as the text of their values.
	Defaults map[string]string

	DataLimit int64 // of input and of data, in bytes; 0: none
	Create    bool  // what is missing may be created; else it is only checked

	TimeZone string // in which repetitions and cron are counted; "": that of the role in the database

	Wake sql.Wake // how new tasks are noticed, as far as that is possible

	// Changes hands over settings that change while the target is served; nil: none do. It is not
	// compared.
	Changes *Changes

	// Stats count what happens while the target is served; nil: nobody reads them. They are not
	// compared.
	Stats *Stats

	// TaskLog says which tasks are logged; nil: none. It is not compared.
	TaskLog *TaskLog

	// Inserter has each task run under the role that inserted it, in a session that logs in as
	// that role. Roles are those that pgtaskd may log in as, besides those that the serving role is
	// a member of. nil: the configuration says nothing of them, and a superuser may log in as all.
	Inserter bool
	Roles    map[string]remote.Credential

	// Trust names roles that may own and make what the table uses, beside those that the door trusts
	// anyway (see package door). "PUBLIC" is everybody.
	Trust []string

	// Remotes are the connection strings that a task may name instead of giving one.
	Remotes map[string]string
}

// Name is how logs call the target: database/schema/table.
func (t Target) Name() string {
	return t.Connect["dbname"] + "/" + t.Schema + "/" + t.Table
}

// Live are the settings of a target that take effect without a drain: nothing that runs is
// cancelled for them.
type Live struct {
	Sleep       time.Duration // between polls where nothing wakes the controller
	Grace       time.Duration // how long a drain lets running tasks go on; 0 cancels them at once
	Idle        time.Duration // how long a session without work is kept; 0 closes it at once
	Run         int           // most tasks running at once, at least 1
	OutputLimit int64         // bytes
	OutputFail  bool          // a task whose output is over the limit fails; else the output is cut
	Keep        Keep          // how long ended tasks are kept; nil: for ever
}

// limits are those of them that runners have to know.
func (l Live) limits() run.Limits {
	return run.Limits{Run: l.Run, OutputLimit: l.OutputLimit, OutputFail: l.OutputFail}
}

// Adopt returns t with those settings of another that take effect without a drain.
func (t Target) Adopt(other Target) Target {
	t.Live = other.Live
	return t
}

// Changes hands such settings to the loop that serves a target. Any goroutine may use it.
type Changes struct {
	latest atomic.Pointer[Live]
	poke   chan struct{} // capacity 1, so pokes coalesce
}

// NewChanges returns one that says nothing yet.
func NewChanges() *Changes { return &Changes{poke: make(chan struct{}, 1)} }

// Set makes the settings of t those that count.
func (c *Changes) Set(t Target) {
	c.latest.Store(&t.Live)
	c.Poke()
}

// Poke wakes whoever serves the target, if only to look again.
func (c *Changes) Poke() {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// Poked tells that there is something to take up.
func (c *Changes) Poked() <-chan struct{} { return c.poke }

// change takes up settings that have changed.
func (l *loop) change(context.Context) error {
	latest := l.target.Changes.latest.Load()
	if latest == nil || latest == l.live.Load() {
		return nil
	}
	l.Lanes.Resize(latest.Run)
	l.live.Store(latest)
	limits := latest.limits()
	l.Limits.Store(&limits)
	l.keeping.restart()
	l.log.Info().Int("run", latest.Run).Str("sleep", human.Duration(latest.Sleep)).
		Str("grace", human.Duration(latest.Grace)).Str("idle", human.Duration(latest.Idle)).
		Int64("output_limit", latest.OutputLimit).Msg("settings changed")
	return nil
}

// hints say what to do about errors whose own text does not.
var hints = map[string]string{
	"25006": "tasks wait until the server takes writes",
	"28000": "the role must have LOGIN, and pg_hba.conf must let it in from here",
	"3D000": "create or restore the database; pgtaskd creates it at its start, if the dsn names a user and another database",
	"3F000": "create or restore the schema; pgtaskd creates it at its start",
	"28P01": "the password in the dsn, or in the password file, must be that of the role",
	"42P01": "create or restore the table; pgtaskd creates it at its start",
	"42501": "GRANT the missing right to the role; for what only an owner may do, ALTER … OWNER TO the role, or run the output of pgtaskd schema --config FILE as the owner",
	"42703": "a column that pgtaskd needs is missing",
	"53100": "tasks wait until there is room on the server's disk",
	"53200": "tasks wait until the server has memory",
	"53300": "raise max_connections, or the CONNECTION LIMIT of the role or the database, or lower run: a target needs run + 2",
	"55P03": "tasks wait until it is unlocked; pg_locks shows who has what",
	"57014": "a statement of pgtaskd took too long, or was cancelled; if there are many, see the statement_timeout of the role and the database",
	"57P03": "tasks wait until the server is up",
	"58P01": "if that is a library, the settings of the role or the database name it: ALTER ROLE … RESET, or ALTER DATABASE … RESET",
}

// hint says what to do about an error of the server's; "" where its own text does.
func hint(err error) string {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return ""
	}
	switch {
	case answer.Where != "" && hasState(err, "42P01", "42883", "42704", "3F000"): // a name that search_path does not lead to
		context, _, _ := strings.Cut(answer.Where, "\n")
		return legible(context) + ": an event trigger or trigger that names something without its schema: ALTER FUNCTION … SET search_path"
	case answer.Code == "08P01" && strings.Contains(answer.Message, "startup parameter"):
		return "connect to the server itself, not to a pooler"
	case answer.Code == "53200" && strings.Contains(answer.Hint, "max_locks_per_transaction"): // in whatever language
		return "the server's table of locks is full: see in pg_locks who holds so many and end those sessions, or raise max_locks_per_transaction"
	}
	return hints[answer.Code]
}

// advised adds an error to a line of the log, with what to do about it.
func advised(line *zerolog.Event, err error) *zerolog.Event {
	line = line.Err(err)
	if hint := hint(err); hint != "" {
		line = line.Str("hint", hint)
	}
	var p *routine.Panic
	if errors.As(err, &p) {
		line = line.Bytes("stack", p.Stack)
	}
	return line
}
