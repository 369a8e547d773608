package run

import (
	"strings"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// Row is what is read of a task before it starts. It does not change, but for what comes at its
// start.
type Row struct {
	ID        int64
	Version   uint32 // xmin of the row
	MarkFirst bool   // it must be marked before it starts, whatever its SQL is
	Group     string
	Remote    string // "": the target's own database
	Max       int32
	Priority  int32
	Parent    *int64
	Plan      time.Time
	Late      time.Duration // after its plan it was inserted
	Key       *string
	Skipped   int32 // periods before it
	Attempt   int32
	Timeout   time.Duration
	Live      time.Duration
	Count     int32
	Save      bool
	Drift     bool
	Format    exec.Format
	Rerun     bool
	Single    bool        // nothing follows its end: no repetition, no other task, no notification
	Suspect   bool        // the server has crashed more than once while it ran
	Input     *string     // nil: too long to be read with the others, as are maybe its names
	Data      *string     // likewise; empty when there is none
	Epoch     int64       // of the settings of databases and roles
	Settings  [][2]string // names and values that its session has for it alone

	Role   pool.Role     // under which it runs
	Barred *exec.Failure // why it may not run under its role; nil: it may
}

// Ticket is what the lanes know of the task, but for when it was read and when it expires.
func (r *Row) Ticket(key lane.Key) lane.Ticket {
	return lane.Ticket{
		Lane: key, Rank: lane.Rank{ID: r.ID, Max: r.Max, Priority: r.Priority},
		Drift: r.Drift, Suspect: r.Suspect, Plan: r.Plan,
	}
}

// marksFirst tells whether the row alone says so.
func (r *Row) marksFirst() bool { return r.MarkFirst || !r.Rerun || r.Suspect }

// Sizes are those of the texts of a task, in bytes, and its names.
type Sizes struct {
	Group, Remote, Null, Input, Data int64
	Names                            [3]*string // nil: too long
}

// IsBehind tells a name that did not come with the others, but what stands for it.
func IsBehind(name string) bool { return strings.HasPrefix(name, "\x01") }
