// Package sql has what all statements of pgtaskd share: the names of a task table and of the
// objects beside it, quoting, and .sql files whose :words are replaced by names.
//
// schema/ makes, completes and describes a table. query/ has the operations of a controller. lock/
// tells who leads, and who holds which lock. ask/ has the statements of the commands for people,
// door/ those of package door, part/ the parts that several statements share. schema imports lock;
// query imports both; all of them import this package.
//
// Our connections pin search_path = pg_catalog, pg_temp. Functions that other sessions call set it
// themselves. So no statement calls an object from a user's path. pgtaskd_accept sets the path only
// for unusual rows: for usual rows it uses no operator, and no name without a schema.
//
// Queries do not change after they are made; any goroutine may use them.
package sql
