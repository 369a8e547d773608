// Package moving turns the jobs of other schedulers into files for package apply. Each package
// below it reads one scheduler, and lists what it cannot carry over, and why. They share Job with
// its text, Calendar for cron expressions, and pipelines for jobs of several steps.
package moving
