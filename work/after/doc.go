// Package after frees successors: tasks that run after other tasks. A successor waits for one task
// at a time; its row names that task. When an awaited task ends, the package resolves some of the
// task's successors: only as many as may start soon. From time to time a survey reads all awaited
// tasks, and finds the ends that nobody has reported.
//
// Everything belongs to the goroutine of the loop. The loop reports the tasks that have ended; the
// package reports the tasks that may start.
package after
