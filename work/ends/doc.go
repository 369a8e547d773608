// Package ends writes what has become of tasks into their rows: the ends of those that ran, and
// those that are given back. It begins with an outcome (Seen) and is done with it when the row
// shows the end, or shows that it is not ours any more; then the task is forgotten.
//
// Most ends are alike, and the ledger writes them (Entries). A statement of its own (Step) writes
// the ends that the ledger passes over and those that need more, with what follows on them. If a
// row refuses its end, less is written; if somebody has locked it, the end waits. How far an end has
// come is its stage; end.go decides, without a server, what follows from a refusal.
//
// It belongs to the goroutine of the loop, and outlasts terms. The functions of Config tell others what
// they have to know.
package ends
