// Package judge decides what becomes of runs that were cut off or belong to nobody: their session
// is lost (Lost), an old leader has started them (Orphans), or their runner has panicked (Panics).
// It also cancels runs whose rows somebody has stopped or deleted (Watch).
//
// One statement (cut.sql) judges a row: it asks the server whether the run's backend is gone, and
// what became of its transaction. The functions of Config tell the loop the result.
//
// Any goroutine may call Panics; the rest belongs to the goroutine of the loop. Orphans belong to a
// term; Lost and Panics outlast it.
package judge
