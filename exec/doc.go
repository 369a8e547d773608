// Package exec runs one task at a time on a PostgreSQL session. It and the packages below it are
// the only ones that speak the wire protocol.
//
// Package exec decides what it sends before, with and after the input, what the answers mean, what
// it must reset between two tasks, and how it cancels a run. It knows neither lanes nor the task
// table: packages lane and run decide which task starts when, packages ledger and ends write the
// row.
//
// Below it, package traits reads an input and finds out what it may do. Package bound reads the
// connection and limits what a server can make us hold. Package text makes the texts of the row
// from the server's messages. Package fault sorts the errors of our own statements into classes.
//
// A Session has five parts. wire is the connection with its unread answers. setup makes the session
// ready for each task; its state knows, without asking the server, what earlier SQL may have left.
// question asks what became of a task's transaction. pipeline lists the tasks whose SQL the server
// has. canceller cancels the run under way.
//
// A Session belongs to one goroutine at a time, a runner of package run. Only Cancel and Abandon
// may be called from other goroutines.
//
// canceller.mu guards the fields that Cancel shares with the run under way. Nothing reads or sends
// while it holds this lock: a goroutine of its own sends the cancel request, and exit awaits it.
package exec
