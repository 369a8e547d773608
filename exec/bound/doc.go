// Package bound bounds what a server can make us hold and compute. It knows how long messages are
// taken in pieces, at what pace they are read, and how much a proof of a password may cost.
//
// pgproto3 holds each message whole, however long it is. A Reader stands between a connection and
// pgproto3: it passes short messages on without copying them, and takes long ones in pieces. Of an
// error or notice it keeps what a row shows; rows and the data of COPY go straight to the output of
// the task.
package bound
