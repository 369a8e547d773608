// Package hold knows what must wait, and until when: tasks that are not tried before a time, each
// with its reason (Holds), single ends and marks (Backoff), how often a task had to run again
// (Tries), and how many rows the next statement changes (Sizer). One table has the wait of each
// reason.
//
// It is pure. Everything belongs to the goroutine of the loop. Its times are of our own clock: they
// decide when something is tried again, and nothing about tasks.
package hold
