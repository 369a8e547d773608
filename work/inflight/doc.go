// Package inflight is the leader's record of the tasks that it has read: those that wait, those
// that run, and those that have ended. A task stays in it until its end is written. Standings reads
// what the rows of some tasks show now.
//
// The record belongs to the goroutine of the loop, and outlasts terms.
package inflight
