// Package pgcron moves jobs of the extension pg_cron to a task table. Read reads cron.job, Convert
// makes a list for package apply of it, and names all that cannot be carried over, and why.
package pgcron
