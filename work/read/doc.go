// Package read finds what is due, and reads it.
//
// Scan looks at the table: at all that is due (in parts), or only at what is new, into the lanes;
// what it looks at next is a pure choice. Groups knows the limits of groups. Expire gives
// up what has not started in time. Prefetch reads the rows of tasks that may start soon; it changes
// nothing in the table. Tasks go into the leader's record and the lanes.
//
// All of it belongs to the goroutine of the loop, and to a term: Clear forgets it, Begin begins.
package read
