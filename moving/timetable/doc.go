// Package timetable moves chains of pg_timetable (version 4 and later) to a task table. Read reads
// its tables, Convert makes a list for package apply of them, and names all that cannot be carried
// over, and why.
package timetable
