// Package rows reads and changes the rows of task tables for the page and for commands. It admits
// a table in a session, and finds tasks. Sessions keeps the page's own sessions, which never run a
// user's SQL and are not the leader's: at most two on each server, opened when somebody looks and
// closed after a minute without use. Most commands have a session for themselves.
//
// Any goroutine may use Sessions. A Table belongs to the goroutine that got it, until its function
// returns.
package rows
