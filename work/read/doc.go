// Package read finds the due tasks in the table, and reads their rows.
//
// Scan finds due tasks and adds them to the lanes. It reads either all due tasks, in parts, or only
// the news: tasks that have become due since the last look. A pure function, choose, picks which.
// Prefetch reads the rows of tasks that may start soon, and adds the tasks to the leader's record
// and to the lanes; it changes nothing in the table. Groups reads the limits of groups. Expire
// gives up tasks that have not started in time.
//
// Everything belongs to the goroutine of the loop, and to one term: Begin starts, Clear forgets.
package read
