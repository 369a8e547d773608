// Package bound limits what a server can make us hold, read and compute. Long messages are taken in
// pieces, messages of no use are read at a pace, and proofs of passwords have a budget.
//
// pgproto3 holds each message whole, however long it is. A Reader stands between a connection and
// pgproto3: it passes short messages on without copying them, and takes long ones in pieces. Of an
// error or notice it keeps what a row shows; rows and the data of COPY go straight to the output of
// the task.
//
// A Reader belongs to the goroutine that reads. The pace of all readers and the budget of all
// logins may be used by any.
package bound
