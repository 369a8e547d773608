// Package exec runs one task on one session. With those below it, it is the only package of the
// program that speaks the wire protocol.
//
// It owns what is on the wire: what is sent before, with and after the input; what the answers
// mean; what must be reset between tasks; how a run is cancelled. Package traits tells beforehand
// what an input may do, package bound stands between a connection and its messages, package text
// turns the answers into the texts of a row. Package fault tells the errors of our own statements
// apart. Package exec knows neither lanes nor the table: packages lane and run decide who starts
// when, packages ledger and ends write the row.
//
// A Session holds its parts: wire is the connection and what is on it; setup makes the session
// ready for each task, and its state decides, without a server, what SQL has left and what it takes
// to be rid of it; question asks what has become of a transaction; pipeline is what is with the
// server; canceller cancels.
//
// A Session belongs to one goroutine at a time, a runner of package run. Only Cancel and Abandon
// may be called from others.
//
// Locks: canceller.mu guards what Cancel shares with the run under way. It is never held while
// something is read or sent; the cancel request goes out on a goroutine of its own, which exit
// awaits.
package exec
