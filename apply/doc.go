// Package apply makes the jobs of a task table those of files: Read reads the files, Run compares
// them with the table, changes it in one transaction, and returns what it has changed. RunNow
// inserts a copy of a job that runs at once.
//
// A job is a key. A file names its columns; the rows of the key that wait or run are given these
// values. Values are compared as the server writes them, so that '1 day' and '24 hours', which
// differ by the calendar, are not the same.
package apply
