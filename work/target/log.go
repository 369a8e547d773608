package target

import (
	"time"

	"github.com/rs/zerolog"
)

// SayAgain is how long what lasts is not logged again.
const SayAgain = time.Hour

// Log is the log of a target: it remembers what it has said, so that what lasts is said once in a
// while, and what happens to many tasks is bounded. It outlasts the loops that serve the target one
// after the other, and belongs to the goroutine of Serve.
type Log struct {
	zerolog.Logger
	tasks    *TaskLog
	throttle throttle
	told     Memory
}

// NewLog returns the log of a target, which logs the tasks that tasks says.
func NewLog(log zerolog.Logger, tasks *TaskLog) *Log { return &Log{Logger: log, tasks: tasks} }

// Once tells whether something that comes again and again is to be logged now: once in that time, by
// its key.
func (l *Log) Once(key string, every time.Duration) bool { return l.told.Once(key, every) }

// Hourly is the line, or none where one with the key was logged in this hour.
func (l *Log) Hourly(line *zerolog.Event, key string) *zerolog.Event {
	if !l.Once(key, SayAgain) {
		return nil // which logs nothing
	}
	return line
}

// Memory is what was logged, and when.
type Memory map[string]time.Time

// memoryMost is how many keys are remembered, some of which come from the table: beyond that one may
// be logged again sooner.
const memoryMost = 1000

// Once tells whether the key is to be logged now: once in that time.
func (m *Memory) Once(key string, every time.Duration) bool {
	if at, known := (*m)[key]; known && time.Since(at) < every {
		return false
	}
	if len(*m) >= memoryMost || *m == nil {
		*m = Memory{}
	}
	(*m)[key] = time.Now()
	return true
}
