// Package run has tasks at work on sessions. A Dispatcher starts a runner for each session that is
// to be busy; the runner goes from task to task, as long as there are some that fit.
//
// It owns a Task from the moment at which the lanes give it to a runner until its Outcome is told.
// How one run of it goes is an attempt: a value of its runner's, as are the tasks that are with the
// server after it (pipeline) and the outcomes that are not told yet. Runners share the Dispatcher,
// with what statements of one shape have done so far (Profiles). Package read reads the tasks,
// package work calls Dispatch, and package inbox is the Leader, the only way back up: an outcome, a
// mark that must be made first, the transaction that is about to commit, a long text, and whether
// it leads.
//
// Goroutines: each runner is one, started in the Group of the target. It never waits for the leader
// but in Leader.Mark, Text and Leads, with nothing of its session open, in Leader.Prepare, in the
// transaction of a task, and at the end of a task whose outcome is large. Dispatch belongs to the
// leader's goroutine; all other methods may be called from any.
//
// Locks: pipeline, Profiles and Task have one mutex each. None is held across a statement or
// another wait. Two are held at once only in this order: a pipeline's before the lanes' before that
// of the profiles; a task's before its session's.
package run
