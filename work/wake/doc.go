// Package wake tells the leader of one target that a task may have become due.
//
// There are three ways of waking. NOTIFY: triggers send notifications, which come on the control
// connection; the package keeps the state of the leader's sleep. WAL: a stream of the write-ahead
// log tells which transactions have inserted tasks; the package remembers those that no statement
// can see yet. Poll: the leader looks from time to time. Package install prepares the table;
// package work then calls Adopt with the way that is possible.
//
// The package calls only Config.Poke, when the stream has news. The leader asks for everything
// else: News and Noticed say whether to look now, Rest and Every say when to look next, and Wait
// waits for a notification. The leader reports the results of its looks with Found and LookLater.
//
// A Waker belongs to the goroutine of work.Serve. Notices belong to the goroutine that uses the
// control connection, because pgx calls Take there: Serve's goroutine, or the goroutine that Wait
// starts. Serve awaits the end of the latter before it uses the connection. The stream has a
// goroutine of its own, which Start starts and Stop awaits; it calls Poke. stream.mu guards the
// fields that this goroutine shares with the Waker; it is never held during I/O or Poke.
package wake
