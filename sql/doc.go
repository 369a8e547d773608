// Package sql has the things that all statements of pgtaskd share: the names of a task table and of
// the objects beside it, quoting, and texts of files whose words are replaced by names.
//
// schema/ makes, completes and describes a table; query/ has the operations of a controller; lock/
// knows who leads, and who holds which lock; ask/ has the questions of people, door/ those of
// package door, part/ the parts that several statements share. schema imports lock, query imports
// both, and all of them import this package.
//
// Connections of ours pin search_path = pg_catalog, pg_temp, and functions that others' sessions
// call set it, so that nothing in a user's path is called. pgtaskd_accept alone sets it only for
// unusual rows: the usual one meets no operator, and no name without its schema.
//
// Queries do not change after they are made; any goroutine may use them.
package sql
