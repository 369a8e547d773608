package target

import (
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/human"
)

// SayAgain is how long what lasts is not logged again.
const SayAgain = time.Hour

// Log is the log of a target: it remembers what it has said, so that what lasts is said once in a
// while, and what happens to many tasks is bounded. It outlasts the loops that serve the target one
// after the other, and belongs to the goroutine of Serve.
type Log struct {
	zerolog.Logger
	Memory
	*TaskLog
	lines int       // about tasks, since
	told  time.Time // how many were left out
}

// NewLog returns the log of a target, which logs the tasks that tasks says.
func NewLog(log zerolog.Logger, tasks *TaskLog) *Log { return &Log{Logger: log, TaskLog: tasks} }

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

// Once tells whether to log now what comes again and again, by its key: once in that time.
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

// Which tasks are logged.
const (
	LogFailed = "fail" // those that FAIL or are GONE
	LogAll    = "all"  // those, and all others that end or wait again
	LogNone   = "none"
)

const (
	linesMost    = 100 // about tasks that a target writes in each linesTick; the rest is counted
	linesTick    = 10 * time.Second
	sentenceMost = 500 // bytes of an error
)

// TaskLog says which tasks are logged. All targets share one. Any goroutine may use it; the nil one
// says none.
type TaskLog struct{ which atomic.Value }

// NewTaskLog returns one.
func NewTaskLog(which string) *TaskLog {
	t := &TaskLog{}
	t.Set(which)
	return t
}

// Set changes it: LogFailed, LogAll or LogNone.
func (t *TaskLog) Set(which string) { t.which.Store(which) }

// Wants tells whether a task that has come to the state is logged.
func (t *TaskLog) Wants(state string) bool {
	if t == nil {
		return false
	}
	switch t.which.Load() {
	case LogAll:
		return true
	case LogFailed:
		return state == "FAIL" || state == "GONE"
	}
	return false
}

// Line is what the log says of a task that has ended, or waits again.
type Line struct {
	ID            int64
	State, Group  string
	Key, SQLState string // "": none
	Error         string // its first line is shown
	Attempt       int32
	Start, Stop   time.Time // zero: it has not run
}

// Task logs a task that has ended, or waits again.
func (l *Log) Task(t Line) {
	if l.lines++; l.lines > linesMost {
		return
	}
	line := l.Info()
	if t.State == "FAIL" || t.State == "GONE" {
		line = l.Warn()
	}
	line = line.Int64("id", t.ID).Str("group", human.Legible(t.Group))
	if t.Key != "" {
		line = line.Str("key", human.Legible(t.Key))
	}
	line = line.Str("state", t.State)
	if t.SQLState != "" {
		line = line.Str("sqlstate", human.Legible(t.SQLState))
	}
	if t.Error != "" {
		first, _, _ := strings.Cut(t.Error, "\n")
		if first = masked(first); len(first) > sentenceMost {
			first = strings.ToValidUTF8(first[:sentenceMost], "") + "…"
		}
		line = line.Str(zerolog.ErrorFieldName, first)
	}
	if t.Attempt > 1 {
		line = line.Int32("attempt", t.Attempt)
	}
	if !t.Start.IsZero() {
		line = line.Str("ran", human.Duration(max(t.Stop.Sub(t.Start), 0)))
	}
	switch t.State {
	case "FAIL", "GONE":
		line.Msg("task failed")
	case "PLAN":
		line.Msg("task waits again")
	default:
		line.Msg("task ended")
	}
}

// TellLeftOut says, every ten seconds, how many lines about tasks were left out, and lets others be
// written.
func (l *Log) TellLeftOut() {
	if time.Since(l.told) < linesTick {
		return
	}
	if n := l.lines - linesMost; n > 0 {
		l.Warn().Int("tasks", n).Msg("more tasks ended than the log shows")
	}
	l.lines, l.told = 0, time.Now()
}

// What may stand for a password in an error: SQL can raise any.
var (
	quotedSecret = regexp.MustCompile(`(?i)(passw(?:or)?d\s*(?:=\s*)?)'[^']*'?`)
	plainSecret  = regexp.MustCompile(`(?i)(passw(?:or)?d\s*=\s*|://[^\s/:@]*:)[^\s'@]+`)
)

// masked is a text without them.
func masked(text string) string {
	return plainSecret.ReplaceAllString(quotedSecret.ReplaceAllString(text, "${1}***"), "${1}***")
}
