// Package target describes a target: a task table with everything that is needed to serve it, the
// settings that may change meanwhile, its counts, and its log.
//
// Package conf fills in targets; package work and everything below it may read them. Settings are
// values. Any goroutine may use Changes, Stats and TaskLog; Log belongs to the goroutine of Serve.
package target
