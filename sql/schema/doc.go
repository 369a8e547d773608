// Package schema makes a task table, completes an existing one, and describes it.
//
// Its .sql files are plain DDL, read as steps: each paragraph is one step and can run again.
// Missing compares a table with the steps, Install makes what is missing, DDL prints the steps as a
// script. Describe returns the facts about a table that the rest of the program needs. inspect/ has
// the statements that read the catalogs.
//
// A connection belongs to one goroutine. A Description does not change after it is made, so any
// goroutine may use it without a lock.
package schema
