// Package wake tells the leader of one target that a task may have become due. It knows neither
// lanes nor tasks nor sessions.
//
// It owns the three ways of waking and the choice between them: NOTIFY with the state of the
// leader's sleep, the stream of the write-ahead log with the transactions that no statement can see
// yet, and the poll. Notifications come on the control connection. It completes no table: package
// install does, and package work then calls Adopt with what that has found.
//
// Upwards it says one thing: Config.Poke, when the stream has news. All else the leader asks for:
// News and Noticed say whether to look now, Rest and Every when to look next, Wait waits for a
// notification. Found and LookLater take in what a look has found.
//
// A Waker belongs to the goroutine of work.Serve. Notices belong to whoever uses the control
// connection, because pgx calls Take from there: that goroutine, or the one that Wait has started,
// whose end is awaited before the connection is used again. The stream has a goroutine of its own,
// which Start starts and Stop awaits. Poke is called there.
//
// Locks: stream.mu guards what its goroutine shares with the Waker. It is never held while
// something is read, sent or poked.
package wake
