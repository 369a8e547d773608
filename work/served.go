package work

import (
	"context"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
	"pgtaskd/work/install"
	"pgtaskd/work/pool"
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

// Version is the program's, as the table of controllers shows it. It is set before any target is
// served.
var Version = "devel"

// Report is what Check has found.
type Report = install.Report

// Check finds out whether Serve could serve the target, and what it would create. It changes nothing.
func Check(ctx context.Context, t Target) Report {
	return install.Check(ctx, t, func(ctx context.Context, role string, version int) error {
		return pool.Try(ctx, &t, role, version)
	})
}

// Admit is an error where somebody who is not trusted could have code run as the session's role by a
// command that reads the target's table, or changes it. Who may write tasks is not trusted for that:
// the session need not be the serving role's.
func Admit(ctx context.Context, conn *pgx.Conn, t Target) error { return install.Admit(ctx, conn, t) }

// IsRefused tells an error by which the door refuses a table.
func IsRefused(err error) bool { return install.IsRefused(err) }

// Dial opens a session of the target's role, with settings of our own, in which a person asks for its
// tasks and jobs, or changes them. name is its application_name. The error says what to do.
func Dial(ctx context.Context, t Target, name string) (*pgx.Conn, error) {
	return control.Dial(ctx, t, name)
}
