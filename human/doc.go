// Package human writes durations, cron expressions and texts for people. It has no state; any
// goroutine may call it.
package human
