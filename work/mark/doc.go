// Package mark makes rows show that their tasks run: WORK, the start and the session. A runner asks
// for a mark before it starts a task that is not exactly once. A task that has run for a while is
// marked without a request.
//
// The ledger writes most marks (Lasting, Awaited). It passes over a row that is locked, has changed
// or refuses the mark. If a runner waits for that mark, Step then tries a statement of its own,
// which can also write a repetition. A channel brings the answer to the runner.
//
// Everything belongs to the loop's goroutine. Marks that runners wait for outlast terms.
package mark
