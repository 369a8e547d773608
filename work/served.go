package work

import "pgtaskd/work/target"

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
