// Package judge sees to what was cut off, or belongs to nobody: runs whose session is lost (Lost), tasks
// that an old leader has started (Orphans), tasks at which a runner has panicked (Panics), and runs whose
// rows somebody has stopped or deleted (Watch).
//
// A row is judged by one statement (cut.sql), which asks the server whether the run's backend is gone,
// and what became of its transaction. What this package finds out about tasks of the leader's own goes
// back by the functions of Config.
//
// Everything but Panics belongs to the goroutine of the loop.
package judge
