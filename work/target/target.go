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

// Relation is the target's table.
func (t Target) Relation() sql.Table { return sql.Table{Schema: t.Schema, Name: t.Table} }

// LongestText is the longest text that is run, in bytes.
func (t Target) LongestText() int64 {
	if t.DataLimit == 0 {
		return math.MaxInt64
	}
	return t.DataLimit
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

// Adopt returns t with those settings of another that take effect without a drain.
func (t Target) Adopt(other Target) Target {
	t.Live = other.Live
	return t
}

// Kept are the states in which a task has ended, in the order in which statements take them.
var Kept = [...]string{"DONE", "FAIL", "GONE", "STOP"}

// Keep says how long ended tasks are kept, by state. Those of a state that it lacks are kept for
// ever.
type Keep map[string]schedule.Interval

// Ages are the times as statements take them.
func (k Keep) Ages() []pgtype.Interval {
	ages := make([]pgtype.Interval, len(Kept))
	for i, state := range Kept {
		age, ok := k[state]
		ages[i] = pgtype.Interval{Months: int32(age.Months), Days: int32(age.Days), Microseconds: age.Micros, Valid: ok}
	}
	return ages
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

// Latest are the settings that were handed over last; nil: none were.
func (c *Changes) Latest() *Live { return c.latest.Load() }

// ControlName is the application_name of the sessions by which controllers lead the target, or
// stand by.
func (t Target) ControlName() string { return ApplicationName("pgtaskd " + t.Schema + " " + t.Table) }

// nameLimit is the longest application_name that the server keeps, and hashLength that of what stands for
// the rest of a longer one.
const nameLimit, hashLength = 63, 9

// ApplicationName is a name in ASCII, and no longer than the server keeps: of one that is too long the
// beginning, and a hash of the whole.
func ApplicationName(name string) string {
	plain := Printable(name)
	if len(name) <= nameLimit && plain == name {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return plain[:min(len(plain), nameLimit-hashLength)] + fmt.Sprintf("~%x", sum[:4])
}

// ApplicationPrefix begins the ApplicationName of every name that begins so, and maybe of one that begins
// alike.
func ApplicationPrefix(begin string) string {
	plain := Printable(begin)
	return plain[:min(len(plain), nameLimit-hashLength)]
}

// Printable leaves only ASCII, as the server would, so that names are the same there and here.
func Printable(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, name)
}
