// Package work serves one target: one task table, for one role.
//
// It owns the target's control connection and the record of what is due and under way. It becomes
// the leader, notices new tasks, reads them, has package run start them, writes their ends, and
// cleans up after what was cut off. Package conf calls Serve once for each target, on a goroutine
// of its own; Serve tries again by itself when something fails. main calls Check.
//
// The rooms below own the rest, and none of them knows this package; docs/architecture.md lists them.
//
// Goroutines of a target: the loop (the caller of Serve) owns the control connection and every
// field of loop that is not marked as shared. Runners are those of package run. The ledger
// writes on a connection of its own while the loop goes on. The stream reads the write-ahead log. All
// belong to the crew of one loop; Serve awaits them before it makes the next loop.
//
// Data goes down by calls; the only way back up to the loop is the inbox, which runners see as a
// run.Leader.
//
// Locks: the rooms below name theirs. None is held across a statement or another wait.
package work
