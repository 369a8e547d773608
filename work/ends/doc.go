// Package ends writes the ends of tasks into their rows: of tasks that ran, and of tasks that are
// given back. Its work starts with an outcome (Seen). It finishes when the row shows the end, or is
// not ours any more; then the task is forgotten.
//
// Most ends are alike, and the ledger writes them (Entries). Step writes the others itself, with
// what follows on them: ends that the ledger has passed over, and ends that need more. If a row
// refuses its end, Step writes less of it; if somebody has locked the row, the end waits. The stage
// of an end says how much is still to be written; end.go decides, without a server, what follows
// from a refusal.
//
// Everything belongs to the goroutine of the loop, and outlasts terms. Config has the functions by
// which Ends report.
package ends
