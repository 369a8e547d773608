// Package faults tests what goes wrong around pgtaskd: servers that stop, are full, locked or
// read-only, rights that are taken away, tables that are changed or dropped.
//
// Each fault must be logged once, end by itself when its cause does, lose and double nothing, and
// not affect another target. docs/operations.md quotes the log; TestDocs compares. It has only
// tests.
package faults
