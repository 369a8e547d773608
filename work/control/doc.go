// Package control opens our own connections: the connections that run no SQL of users. It has their
// settings, their time limits, and the calls that run statements on the task table.
//
// The loop has one Control, and the ledger opens another. Only one goroutine at a time may use a
// Control; any goroutine may call Facts and Queries. Other packages get the connection from Conn
// for the time of a call: for example the door, and the lock of the leader. Only package wake uses
// it between two calls, to wait for notifications, until its Adopt gets the next connection.
package control
