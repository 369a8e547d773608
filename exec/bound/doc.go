// Package bound limits how much memory, reading and processor time a server can cost us. It takes
// long messages in pieces, reads useless messages at a limited pace, and has a budget for password
// proofs.
//
// pgproto3 holds each message whole, even a very long one. A Reader stands between a connection and
// pgproto3. It passes short messages on without copying them, and takes long ones in pieces. It
// keeps the part of an error or notice that a row shows. Rows and COPY data go straight to the
// task's output.
//
// A Reader belongs to the goroutine that reads. All readers share their pace, and all logins share
// the budget; any goroutine may use both.
package bound
