// Package pgcron moves jobs of the extension pg_cron to a task table. Read looks at cron.job,
// Convert makes of it a list for package apply, and says what cannot be carried over, and why.
package pgcron
