// Package schedule computes when a task with a cron expression runs. It is pure: it knows no task,
// no database and no clock; every time is given to it.
//
// Parse reads an expression and says what is wrong with one, and where. Next is the first beat
// after a time; Missed tells which beat runs next when some have been missed.
// github.com/robfig/cron reads single values, ranges and steps; its faults lie in what surrounds
// them, and that is written here.
//
// A Schedule does not change after Parse: any goroutine may use it. ParseInterval reads an interval
// as PostgreSQL does; conf reads durations with it too.
package schedule
