// Package run runs tasks on sessions. The Dispatcher starts a runner for each session that gets
// work. The runner takes one task after the other from the lanes, as long as tasks fit its session.
//
// The package owns a Task from the moment at which the lanes hand it out until the runner tells its
// Outcome. A runner owns one attempt (how the current task runs), a pipeline (the tasks that the
// server has after it), and the outcomes that it has not told yet. All runners share the Dispatcher
// and its Profiles: what inputs of one shape have done so far.
//
// Package read reads the tasks, and package work calls Dispatch. The Leader (package inbox) is the
// only way back up: runners tell it outcomes, ask it for marks, preparations and long texts, and
// ask whether it still leads.
//
// Goroutines: each runner is a goroutine in the Group of the target. It waits for the leader only
// in Leader.Mark, Text and Leads (with no transaction open), in Leader.Prepare (inside the task's
// transaction), and after a task with a large outcome. Only the leader's goroutine calls Dispatch;
// any goroutine may call the other methods.
//
// Locks: pipeline, Profiles and Task have one mutex each. None is held during a statement or
// another wait. Locks nest only in this order: pipeline, lanes, Profiles; and Task, session.
package run
