// Package query holds the operations of a controller on a task table, one a file. Of puts a table's
// names into them, and what follows from its description.
package query
