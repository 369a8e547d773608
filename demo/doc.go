// Package demo shows tasks at work: it serves a table, inserts examples into it, and prints a line
// for each change of a task.
//
// main calls Run, which owns everything: a throw-away server or a connection to somebody else's,
// and a controller on its own goroutine in this process. example/ has one INSERT in each file.
package demo
