// Package work serves one target: one task table, for one role.
//
// It owns the target's control connection, its sessions, and the record of what is due and
// running. It becomes the leader, notices new tasks, reads them, runs them, writes their ends, and
// cleans up after what was cut off. Package conf calls Serve once for each target, on a
// goroutine of its own; Serve tries again by itself when something fails. main calls Check and
// Crowded.
//
// Goroutines of a target: the loop (the caller of Serve) owns the control connection and every
// field of loop that is not marked as shared. A runner owns one busy session. The scribe writes
// ends on a connection of its own while the loop goes on. The stream reads the write-ahead log.
// All belong to the crew of one loop; Serve awaits them before it makes the next loop.
//
// Data goes down by calls; the only way back up to the loop is the inbox.
//
// Locks: lanes, flights, inbox, seats, habits, others, patience, shortage, panics, allowance,
// stream and task have one mutex each. None is held across a statement or another wait. Two are
// held at once only in this order: flights before lanes; a task's before its session's.
package work
