// Package moving makes files of jobs for package apply out of what other schedulers have. The
// packages below it read one scheduler each, and say what cannot be carried over, and why. Here is
// what they share: Job and its text, a Calendar as a cron expression, and several steps as a
// Pipeline of tasks.
package moving
