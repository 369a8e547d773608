// Package schedule computes when a task with a cron expression runs. These times are called beats.
// The package is pure: it knows no tasks, no database and no clock. The caller passes every time.
//
// Parse reads an expression; its error says what is wrong, and where. Next returns the first beat
// after a time. Missed returns the beat that runs next when some were missed. The package uses
// github.com/robfig/cron only to read values, ranges and steps; the rest of that library has
// faults, and is written here.
//
// A Schedule does not change after Parse, so any goroutine may use it. ParseInterval reads an
// interval as PostgreSQL does; conf reads durations with it too.
package schedule
