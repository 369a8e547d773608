// Package control has the connections of ours that run none of the users' SQL: their settings, their
// limits, and the statements on the task table that run on them.
//
// Nobody else keeps such a connection. Who needs it for a call (the door, the ledger, the lock of who
// leads) gets it from Conn, and gives it back when the call returns.
package control
