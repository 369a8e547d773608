package target

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/human"
)

// SayAgain is the time after which a lasting problem is logged again.
const SayAgain = time.Hour

// Log is the log of a target. It remembers its lines: a lasting problem is logged once in a while,
// and the number of lines about tasks is limited. It outlasts the loops that serve the target one
// after another, and belongs to the goroutine of Serve.
type Log struct {
	zerolog.Logger
	Memory
	*TaskLog
	lines int       // lines about tasks, since told
	told  time.Time // when TellLeftOut last ran
}

// NewLog returns the log of a target. tasks says which tasks it logs.
func NewLog(log zerolog.Logger, tasks *TaskLog) *Log { return &Log{Logger: log, TaskLog: tasks} }

// Hourly returns the line, or nil if a line with the key was logged in the last hour.
func (l *Log) Hourly(line *zerolog.Event, key string) *zerolog.Event {
	if !l.Once(key, SayAgain) {
		return nil // a nil line logs nothing
	}
	return line
}

// Memory holds when a line was last logged, by key.
type Memory map[string]time.Time

// memoryMost is the maximum number of keys, some of which come from the table. When it is reached,
// Memory forgets all, and lines may come again sooner.
const memoryMost = 1000

// Once reports whether to log the line with this key now; it says yes once in each period.
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

// Values of TaskLog.
const (
	LogFailed = "fail" // tasks that FAIL or are GONE
	LogAll    = "all"  // all tasks that end or wait again
	LogNone   = "none"
)

const (
	linesMost    = 100 // lines about tasks in each linesTick; further tasks are only counted
	linesTick    = 10 * time.Second
	sentenceMost = 500 // of an error, in bytes
)

// TaskLog says which tasks are logged. All targets share one. Any goroutine may use it; nil logs
// none.
type TaskLog struct{ which atomic.Value }

// NewTaskLog returns a TaskLog.
func NewTaskLog(which string) *TaskLog {
	t := &TaskLog{}
	t.Set(which)
	return t
}

// Set sets which tasks are logged: LogFailed, LogAll or LogNone.
func (t *TaskLog) Set(which string) { t.which.Store(which) }

// Wants reports whether a task that now has this state is logged.
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

// Line is a log line about a task that has ended, or waits again.
type Line struct {
	ID            int64
	State, Group  string
	Key, SQLState string // "": none
	Error         string // the log shows its first line, and the DETAIL of one that was given up
	Attempt       int32
	Start, Stop   time.Time // zero: no run
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
		first, rest, _ := strings.Cut(t.Error, "\n")
		line = line.Str(zerolog.ErrorFieldName, sentence(first))
		if detail, found := strings.CutPrefix(rest, "DETAIL:  "); found && t.State == "GONE" {
			detail, _, _ = strings.Cut(detail, "\n")
			line = line.Str("detail", sentence(detail))
		}
	}
	if t.Attempt > 1 {
		line = line.Int32("attempt", t.Attempt)
	}
	if !t.Start.IsZero() {
		line = line.Str("ran", human.Duration(max(t.Stop.Sub(t.Start), 0)))
	}
	switch t.State {
	case "FAIL":
		line.Msg("task failed")
	case "GONE":
		line.Msg("task given up: it is not run")
	case "PLAN":
		line.Msg("task waits again")
	default:
		line.Msg("task ended")
	}
}

// Unopened logs why the session of a task could not be opened at a place ("": not told), once an
// hour for each place and reason.
func (l *Log) Unopened(id int64, kind, place string, err error) {
	if !l.Once("unopened "+place+" "+err.Error(), SayAgain) {
		return
	}
	if l.lines++; l.lines > linesMost {
		return
	}
	line := l.Warn().Err(err).Int64("id", id)
	if place != "" {
		line = line.Str(kind, human.Legible(place))
	}
	line.Msg("cannot open a session for a task")
}

// sentence is a text for a line, cut and without passwords.
func sentence(text string) string {
	if text = human.Masked(text); len(text) > sentenceMost {
		text = strings.ToValidUTF8(text[:sentenceMost], "") + "…"
	}
	return text
}

// TellLeftOut logs, every ten seconds, how many lines about tasks were left out, and starts a new
// count.
func (l *Log) TellLeftOut() {
	if time.Since(l.told) < linesTick {
		return
	}
	if n := l.lines - linesMost; n > 0 {
		l.Warn().Int("tasks", n).Msg("more tasks ended than the log shows")
	}
	l.lines, l.told = 0, time.Now()
}
