// Package pool keeps the sessions of a target. It opens a session when a task needs one, hands out
// free sessions to tasks that they suit, and closes those that nobody needs.
//
// The pool owns the free sessions, the number of all sessions, and the process ids of our backends.
// It also limits how often it tries to connect: it waits after a failure at a remote or a role, and
// during a shortage in the target's own database it tries one session from time to time. Package
// run takes sessions and gives them back. Package work decides when to close idle ones (Stale). A
// session in the target's own database is registered (Config.Enrol) before its first task.
//
// Any goroutine may call a Pool. A Session belongs to the goroutine that has taken it.
//
// Locks: Pool and shortage have one mutex each. Neither is held while a session is opened, and both
// are never held at once.
package pool
