package run

import (
	"strings"
	"time"

	"pgtaskd/exec/text"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// Row is what is read of a task before it starts. It does not change, but for what comes at its
// start.
type Row struct {
	ID          int64
	Version     uint32 // xmin of the row
	MarkFirst   bool   // it must be marked before it starts, whatever its SQL is
	Group       string
	Remote      string // "": the target's own database
	Max         int32
	Priority    int32
	Parent      *int64
	Key         *string
	Attempt     int32
	Rerun       bool
	Single      bool          // nothing follows its end: no repetition, no other task, no notification
	Suspect     bool          // the server has crashed more than once while it ran
	Input       *string       // nil: too long to be read with the others, as are maybe its names
	Data        *string       // likewise; empty when there is none
	RoleFailure *text.Failure // why it may not run under its role; nil: it may
	Schedule    Schedule
	Session     pool.Wishes
	How         How
}

// Schedule says when a task is to start.
type Schedule struct {
	Plan    time.Time
	Late    time.Duration // after its plan it was inserted
	Skipped int32         // periods before it
	Drift   bool
}

// How says how the SQL of a task runs, and what its output looks like.
type How struct {
	Timeout  time.Duration
	Save     bool
	Settings [][2]string // names and values that its session has for it alone
	Format   text.Format
}

// Ticket is what the lanes know of the task, but for when it was read and when it expires.
func (r *Row) Ticket(key lane.Key) lane.Ticket {
	return lane.Ticket{
		Lane: key, Rank: lane.Rank{ID: r.ID, Max: r.Max, Priority: r.Priority},
		Drift: r.Schedule.Drift, Suspect: r.Suspect, Plan: r.Schedule.Plan,
	}
}

// marksFirst tells whether the row alone says so.
func (r *Row) marksFirst() bool { return r.MarkFirst || !r.Rerun || r.Suspect }

// Sizes are those of the texts of a task, in bytes, and its names.
type Sizes struct {
	Group, Remote, Null, Input, Data int64
	Names                            [3]*string // nil: too long
}

// IsStandIn tells what stands for a name that is too long to come with the others.
func IsStandIn(name string) bool { return strings.HasPrefix(name, "\x01") }
