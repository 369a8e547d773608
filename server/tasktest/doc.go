// Package tasktest is what tests do with a table of tasks: make it, insert tasks, read them, and
// wait until they have a state.
//
// A Table belongs to the goroutine of its test, as its connection does.
package tasktest
