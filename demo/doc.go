// Package demo shows tasks at work: it serves a table and the page, inserts examples into the table,
// and prints a line for each change of a task.
//
// main calls Run, which owns everything: a throw-away server or a connection to somebody else's,
// and two controllers in this process, each on its own goroutine. example/ has one INSERT in each
// file.
package demo
