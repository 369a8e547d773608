// Package tasktest helps tests with a table of tasks: it makes one, inserts tasks, reads them, and
// waits until they have a state.
//
// A Table and its connection belong to the test's goroutine.
package tasktest
