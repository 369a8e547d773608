// Package edit changes tasks and groups for people: one task, or some of all that a filter matches.
// It says how to do the same by SQL and by a command.
//
// The caller has a rows.Table inside a transaction; nothing here keeps state.
package edit
