// Package sql holds the SQL of pgtaskd: the schema of a task table, how a table is completed to
// have it, and the operations of a controller.
//
// schema/ has the steps that make a table; each is one paragraph that can be run again. Missing
// compares a table with them, Install makes what is missing, DDL writes them as a script. query/
// has one operation a file; Queries puts a table's names into them. Lock is an advisory lock of
// leadership, of sleep or of the schema; Untrusted is what belongs to an owner that the role has
// no reason to trust.
//
// work calls it on the loop's goroutine, with the control connection; conf, main and the tests
// call it as well. A connection and a Lock belong to one goroutine. Queries and descriptions do
// not change after they are made and may be used by any goroutine, so there are no locks.
//
// Every statement names functions, operators, types and relations with their schema, so that
// nothing in a user's search_path is called. Tests check that.
package sql
