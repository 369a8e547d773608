// Package sql holds what pgtaskd's statements share: the names of a task table and of what stands
// beside it, quoting, and the texts of files with names in place of words.
//
// schema/ makes, completes and describes a table; query/ has the operations of a controller; lock/
// knows who leads, and who holds what; ask/ is what people ask, door/ what package door looks at.
// part/ is what several statements share. schema imports lock, query imports both, and all of them
// this package.
//
// Connections of ours pin search_path = pg_catalog, pg_temp, and functions that others' sessions
// call set it, so that nothing in a user's path is called. pgtaskd_accept alone sets it only for
// unusual rows: the usual one meets no operator, and no name without its schema.
//
// Queries do not change after they are made; any goroutine may use them.
package sql
