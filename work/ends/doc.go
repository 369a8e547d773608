// Package ends writes what has become of tasks into their rows: the ends of those that ran, and those
// that are given back. It begins with an outcome (Seen) and is done with it when the row shows the
// end, or shows that it is not ours any more; then the task is forgotten.
//
// Most ends are alike, and the ledger writes them (Entries). What the ledger passes over, and what
// needs more, a statement of its own writes here, with what follows on it. Where a row refuses its
// end, less is written; where somebody has locked it, the end waits. How far an end has come is its
// stage; what a refusal makes of it is decided in decide.go, without a server.
//
// It belongs to the goroutine of the loop.
package ends
