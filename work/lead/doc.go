// Package lead decides who leads a target. It owns the leader's lock, and finds out who else holds
// it. It writes two tables: the table of controllers, which only shows people who leads, and the
// register of sessions that a leader has opened, by which the next leader knows them.
//
// A Lead belongs to the goroutine of Serve. It outlasts control sessions; the lock ends with its
// session.
package lead
