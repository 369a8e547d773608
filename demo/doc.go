// Package demo shows tasks at work: it serves a table, inserts examples into it, and shows how
// they fare.
//
// main calls Run, which owns everything: a throw-away server, or a connection to somebody else's;
// a controller in the same process, on a goroutine of its own; and the view, which changes in
// place on a terminal and prints a line for each change elsewhere. example/ has one INSERT a
// file.
//
// Locks: kept.mu guards the lines of the log that are held back while the screen is up, since the
// controller's goroutines write them.
package demo
