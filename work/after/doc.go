// Package after sees to successors: tasks that are to run after others. Each waits for one of them
// at a time, which its row names. The package knows which tasks are waited for, and when one of
// those ends it looks at some of its successors: no more of them than may start soon. A survey of
// all that is waited for finds the ends that nobody has told it of.
//
// It belongs to the goroutine of the loop, which tells it what has ended, and is told what may
// start.
package after
