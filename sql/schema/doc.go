// Package schema makes a task table, completes one that is there, and describes it.
//
// Its files are plain DDL as a person would write it, read as steps: each is one paragraph that can
// be run again. Missing compares a table with them, Install makes what is missing, DDL writes them
// as a script. Describe tells the rest of the program what a table is like; inspect/ has the
// statements that look.
//
// A connection belongs to one goroutine. Descriptions do not change after they are made and may be
// used by any goroutine, so there are no locks.
package schema
