// Package apply changes the jobs of a task table to those of files. Read reads the files. Run
// compares them with the table, changes the table in one transaction, and returns the changes.
// RunNow inserts a copy of a job that runs at once.
//
// A job is identified by its key. A file sets some of its columns; apply gives these values to the
// rows of the key that wait or run. It compares values as the server writes them, so '1 day' and
// '24 hours', which differ by the calendar, are not equal.
package apply
