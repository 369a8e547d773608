// Package control has the connections of ours that run none of the users' SQL: their settings,
// their limits, and the statements on the task table that run on them.
//
// The loop has one Control, the ledger opens another for itself. One goroutine at a time may use a
// Control; any may read Facts. A room that needs the connection itself (the door, the lock of who
// leads) gets it from Conn for a call. Only package wake uses it between two calls, to wait for
// notifications: until Adopt gives it another.
package control
