// Package pool keeps the sessions of a target: it opens them where a task needs one, hands out
// those that lie ready to tasks that they suit, and closes what nobody needs.
//
// It owns the sessions without work, the count of all, the process ids of ours, and two limits to
// trying: how long to wait with a remote that takes no connection, and the shortage of sessions in
// the target's own database, during which one is tried from time to time. Package run takes
// sessions and gives them back. Package work decides when to close idle ones (Stale). Enrol in
// Config has those in the target's own database registered before they are used.
//
// Any goroutine may call a Pool. A Session belongs to the one that has taken it.
//
// Locks: Pool and shortage have one mutex each. None is held while a session is opened, and no two
// at once.
package pool
