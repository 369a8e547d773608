// Package query has the operations of a controller on a task table, one a file. Of puts a table's
// names into them, and the parts that follow from its description.
package query
