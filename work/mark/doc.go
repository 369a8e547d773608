// Package mark has rows show that their tasks run: WORK, the start and the session. Runners ask for
// that before tasks start that are not exactly once, and tasks that have run for a while are marked
// without being asked for.
//
// The ledger writes most marks (Lasting, Awaited). It passes over a row that is locked, has changed
// or refuses the mark; for those, and for tasks whose repetition is written with the mark, Step has
// a statement of its own. A runner gets its answer through a channel.
//
// It belongs to the goroutine of the loop. Marks that runners wait for outlast terms.
package mark
