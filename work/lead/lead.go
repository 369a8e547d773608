package lead

import (
	"time"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Config is what a Lead needs for as long as it lives.
type Config struct {
	Control *control.Control
	Target  target.Target
	Log     *target.Log

	// What the table of controllers shows of us.
	Controller string        // "": this process
	Version    string        // the program's
	Slots      func() int    // how many tasks run at once, at most
	Zone       func() string // in which repetitions are counted; "": the control session's

	Sessions func() []pool.Backend // that are open
}

// Lead knows who leads a target.
type Lead struct {
	Config
	rival    *lock.Holder       // of the lock; nil: nobody, or it is not known
	looked   time.Time          // for it
	above    map[sql.Table]bool // tables that this one is a partition of, or inherits from: held by us
	handed   bool               // the lead was given away
	presence presence
	register register
}

// presence is what the table of controllers shows of us.
type presence struct {
	at    time.Time // when it was last written, or that was tried
	leads bool
}

// register is what is known of the table's register of sessions.
type register struct {
	all   enrolment // where all sessions of ours are registered
	tried enrolment // where that was tried
}

// enrolment is a register, and the control session that has written to it.
type enrolment struct {
	register int64 // 0: none
	control  int32
}

// New returns a Lead that holds nothing.
func New(c Config) *Lead { return &Lead{Config: c, above: map[sql.Table]bool{}} }

// Begin takes note that the control session is a new one, which holds nothing.
func (l *Lead) Begin() {
	l.rival, l.looked, l.handed = nil, time.Time{}, false
	clear(l.above)
}
