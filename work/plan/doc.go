// Package plan finds the next beats of tasks with a cron expression: of those that somebody has
// just inserted or given another expression, and of repetitions that an end has just written. A
// scan asks for them in its first exchange with the server, and has them planned after that (Queue,
// Step). The plans go into the rows.
//
// It also knows the time zone in which repetitions are counted. Everything belongs to the goroutine
// of the loop.
package plan
