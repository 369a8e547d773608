// Package target knows a target: a task table with all that is needed to serve it, the settings
// that change while it is served, what is counted of it, and its log.
//
// Package conf fills in targets; everything below package work may read them. Settings are values;
// Changes, Stats and TaskLog may be used by any goroutine, Log belongs to the goroutine of Serve.
package target
