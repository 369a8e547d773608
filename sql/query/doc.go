// Package query has the operations of a controller on a task table, one in each file. Of fills in
// the names of the table and the parts that follow from its description.
package query
