// Package faults tests faults around pgtaskd: servers that stop, are full, locked or read-only,
// rights that are revoked, tables that are changed or dropped.
//
// pgtaskd must log each fault once, and go on by itself when its cause is gone. It must not lose or
// double anything, and no other target may be affected. docs/operations.md quotes the log, and a
// test compares the two. The package has only tests.
package faults
