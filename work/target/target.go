package target

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/work/schedule"
)

// Target is a table of tasks with everything that is needed to serve it. Package conf fills in
// every field. It compares two targets by reflect.DeepEqual to find out whether a running one has
// changed.
type Target struct {
	// Connect has the connection settings by which the target is served and its tasks run. dbname
	// and user are always set.
	Connect remote.Settings
	// Admin is the dsn as it was given. It is only used to create missing objects.
	Admin remote.Settings

	Schema, Table string

	// Cluster names the place where the table is, for telling copies apart; "": it has no name.
	Cluster string

	Live
	Reset time.Duration // between two searches for interrupted tasks

	// Defaults are the defaults of columns, as text.
	Defaults map[string]string

	DataLimit int64 // limit for input and for data, in bytes; 0: none
	Create    bool  // missing objects may be created; otherwise they are only reported

	TimeZone string // for repetitions and cron; "": the role's time zone in the database

	Wake sql.Wake // how to notice new tasks, as far as possible

	// Changes passes on settings that change while the target is served; nil: none change. conf
	// does not compare it.
	Changes *Changes

	// Stats counts what happens while the target is served; nil: nobody reads it. conf does not
	// compare it.
	Stats *Stats

	// Controller is the name of the controller in the table of controllers, in a process with
	// several; "": there is one.
	Controller string

	// TaskLog says which tasks are logged; nil: none. conf does not compare it.
	TaskLog *TaskLog

	// If Inserter is set, each task runs under the role that inserted it, in a session that logs in
	// as that role. Roles are those that pgtaskd may log in as, besides roles that the serving role
	// is a member of. nil: not configured; a superuser may then log in as any role.
	Inserter bool
	Roles    map[string]remote.Credential

	// Trust names roles that may own and make objects that the table uses, besides the roles that
	// the door trusts anyway (see package door). "PUBLIC" is everybody.
	Trust []string

	// Remotes are connection strings that a task may use by name.
	Remotes map[string]string
}

// Name is the target's name in logs: database/schema/table.
func (t Target) Name() string {
	return t.Connect["dbname"] + "/" + t.Schema + "/" + t.Table
}

// Relation returns the target's table.
func (t Target) Relation() sql.Table { return sql.Table{Schema: t.Schema, Name: t.Table} }

// LongestText is the maximum length of a text that is run, in bytes.
func (t Target) LongestText() int64 {
	if t.DataLimit == 0 {
		return math.MaxInt64
	}
	return t.DataLimit
}

// Live are the settings of a target that take effect without a drain: no running task is cancelled
// for them.
type Live struct {
	Sleep       time.Duration // between polls if nothing wakes the controller
	Grace       time.Duration // how long running tasks may go on in a drain; 0: they are cancelled at once
	Idle        time.Duration // how long an idle session is kept; 0: it is closed at once
	Quiet       time.Duration // how long without work until everything is closed; 0: never
	Run         int           // maximum number of tasks that run at once, at least 1
	OutputLimit int64         // bytes
	OutputFail  bool          // a task with more output fails; otherwise the output is cut
	Keep        Keep          // how long ended tasks are kept; nil: forever
}

// Adopt returns t with the Live settings of other.
func (t Target) Adopt(other Target) Target {
	t.Live = other.Live
	return t
}

// Kept are the states of ended tasks, in the order of the statements' parameters.
var Kept = [...]string{"DONE", "FAIL", "GONE", "STOP"}

// Keep says how long ended tasks are kept, by state. Tasks of a state that is missing are kept
// forever.
type Keep map[string]schedule.Interval

// Ages returns the times as parameters of statements.
func (k Keep) Ages() []pgtype.Interval {
	ages := make([]pgtype.Interval, len(Kept))
	for i, state := range Kept {
		age, ok := k[state]
		ages[i] = pgtype.Interval{Months: int32(age.Months), Days: int32(age.Days), Microseconds: age.Micros, Valid: ok}
	}
	return ages
}

// Changes passes Live settings to the loop that serves a target. Any goroutine may use it.
type Changes struct {
	latest atomic.Pointer[Live]
	poke   chan struct{} // capacity 1, so pokes coalesce
}

// NewChanges returns Changes without settings.
func NewChanges() *Changes { return &Changes{poke: make(chan struct{}, 1)} }

// Set passes on the settings of t.
func (c *Changes) Set(t Target) {
	c.latest.Store(&t.Live)
	c.Poke()
}

// Poke wakes the loop that serves the target, even if nothing has changed.
func (c *Changes) Poke() {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// Poked receives a value when the loop should call Latest.
func (c *Changes) Poked() <-chan struct{} { return c.poke }

// Latest returns the settings that were set last; nil: none.
func (c *Changes) Latest() *Live { return c.latest.Load() }

// ControlName is the application_name of sessions by which controllers lead the target or stand by.
func (t Target) ControlName() string { return ApplicationName("pgtaskd " + t.Schema + " " + t.Table) }

// nameLimit is the maximum length of an application_name. A longer name ends in a hash of
// hashLength.
const nameLimit, hashLength = 63, 9

// ApplicationName returns a name in ASCII, no longer than the server keeps: if the name is too
// long, its beginning and a hash of the whole.
func ApplicationName(name string) string {
	plain := Printable(name)
	if len(name) <= nameLimit && plain == name {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return plain[:min(len(plain), nameLimit-hashLength)] + fmt.Sprintf("~%x", sum[:4])
}

// ApplicationPrefix returns the beginning of the ApplicationName of each name that begins so. Other
// names may share it.
func ApplicationPrefix(begin string) string {
	plain := Printable(begin)
	return plain[:min(len(plain), nameLimit-hashLength)]
}

// Printable replaces non-ASCII characters as the server does: names are the same here and there.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
