// Package pgcron moves jobs of the extension pg_cron to a task table. Read reads cron.job; Convert
// makes a list for package apply, and notes everything that it cannot carry over, and why.
package pgcron
