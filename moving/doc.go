// Package moving makes files of jobs for package apply out of the jobs of other schedulers. The
// packages below it read one scheduler each, and list all that cannot be carried over, and why.
// They share Job and its text, a Calendar as a cron expression, and several steps as a Pipeline of
// tasks.
package moving
