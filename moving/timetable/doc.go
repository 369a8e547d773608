// Package timetable moves chains of pg_timetable (version 4 and later) to a task table. Read reads
// its tables; Convert makes a list for package apply, and notes everything that it cannot carry
// over, and why.
package timetable
