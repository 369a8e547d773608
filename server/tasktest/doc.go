// Package tasktest helps tests with a table of tasks: it makes one, inserts tasks, reads them, and
// waits until they have a state.
//
// A Table belongs to the goroutine of its test, as its connection does.
package tasktest
