package main

import (
	"time"
)

// cost is the cost of one task: processor time of the program and the server, and bytes of WAL.
type cost struct {
	program, server time.Duration
	wal             float64
}

// sum is the processor time of both.
func (c cost) sum() time.Duration { return c.program + c.server }

// reading are the resources that a program and the server have used since they started.
type reading struct {
	program, server time.Duration
	wal             int64
}

// per returns the cost of each of the tasks that ran between two readings.
func (r reading) per(before reading, tasks int) cost {
	n := time.Duration(max(tasks, 1))
	return cost{(r.program - before.program) / n, (r.server - before.server) / n, float64(r.wal-before.wal) / float64(n)}
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
