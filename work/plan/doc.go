// Package plan computes the next runs (beats) of tasks with a cron expression, and writes them into
// the rows as plans. It does so for new tasks, for tasks with a changed expression, and for
// repetitions. A scan asks for these rows in its first exchange with the server (Queue), and plans
// them after that (Step).
//
// The package also reads the time zone in which repetitions are counted. Everything belongs to the
// goroutine of the loop.
package plan
