package work

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// What package target has of a target, by the names that those who have one served know.
type (
	Target  = target.Target
	Live    = target.Live
	Keep    = target.Keep
	Changes = target.Changes
	TaskLog = target.TaskLog
	Stats   = target.Stats
	Figures = target.Figures
	Survey  = target.Survey
	Times   = target.Times
)

// Which tasks are logged.
const (
	LogFailed = target.LogFailed
	LogAll    = target.LogAll
	LogNone   = target.LogNone
)

// The names of what is counted, and the bounds of times.
var (
	Kept    = target.Kept
	Ends    = target.Ends
	Skips   = target.Skips
	Buckets = target.Buckets
)

// NewStats returns the stats of a target that has not been served yet.
func NewStats() *Stats { return target.NewStats() }

// NewChanges returns changes that say nothing yet.
func NewChanges() *Changes { return target.NewChanges() }

// NewTaskLog returns a log of tasks.
func NewTaskLog(which string) *TaskLog { return target.NewTaskLog(which) }

// Dial opens a session of the target's role, with settings of our own, in which a person asks for its
// tasks and jobs, or changes them. name is its application_name. The error says what to do.
func Dial(ctx context.Context, t Target, name string) (*pgx.Conn, error) {
	return control.Dial(ctx, t, name)
}
