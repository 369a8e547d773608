// Package judge sees to what was cut off, or belongs to nobody: runs whose session is lost (Lost),
// tasks that an old leader has started (Orphans), tasks at which a runner has panicked (Panics),
// and runs whose rows somebody has stopped or deleted (Watch).
//
// One statement (cut.sql) judges a row: it asks the server whether the run's backend is gone, and
// what became of its transaction. The functions of Config tell the loop what came out.
//
// Any goroutine may call Panics; the rest belongs to the goroutine of the loop. Orphans belong to a
// term; Lost and Panics outlast it.
package judge
