// Package hold knows what must wait, and until when: tasks that are not to be tried before, each
// with its reason (Holds), single ends and marks (Backoff), how often a task had to run again
// (Tries), and how many rows the next statement changes (Sizer). How long each reason waits stands
// in one table.
//
// It is pure. Everything belongs to the goroutine of the loop. Its times are of our own clock: they
// decide when something is tried again, and nothing about tasks.
package hold
