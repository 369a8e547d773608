// Package inflight is the leader's record of the tasks that it has read, until their ends are
// written: those that wait, those that run, and those whose ends are known. Standings tells what
// the rows of some of them show now.
//
// It belongs to the goroutine of the loop, and outlasts terms.
package inflight
