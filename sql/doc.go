// Package sql holds the SQL of pgtaskd: the schema of a task table, how a table is completed to
// have it, and the operations of a controller.
//
// schema/ has the steps that make a table, plain DDL as a person would write it; each is one
// paragraph that can be run again. Missing compares a table with them, Install makes what is
// missing, DDL writes them as a script. query/ has one operation a file; Queries puts a table's
// names into them. Lock is an advisory lock of leadership, of sleep or of the schema.
//
// work calls it on the loop's goroutine, with the control connection; conf, main and the tests
// call it as well. A connection and a Lock belong to one goroutine. Queries and descriptions do
// not change after they are made and may be used by any goroutine, so there are no locks.
//
// Connections of ours pin search_path = pg_catalog, pg_temp, and functions that others' sessions
// call set it, so that nothing in a user's path is called. pgtaskd_accept alone sets it only for
// unusual rows: the usual one meets no operator, and no name without its schema.
package sql
