// Package lead is about who leads a target: the lock, who holds it instead, the table of
// controllers, which shows that to people and by which nothing is decided, and the register of the
// sessions that a leader has opened, by which the next one recognises them.
//
// A Lead belongs to the goroutine of Serve. It outlasts control sessions; the lock falls with its
// session.
package lead
