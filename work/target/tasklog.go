package target

import (
	"regexp"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"pgtaskd/human"
)

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

// wants tells whether a task that has come to the state is logged.
func (t *TaskLog) wants(state string) bool {
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

// throttle bounds how many lines a target writes about its tasks.
type throttle struct {
	began time.Time // the linesTick that is under way
	lines int       // that were asked for in it
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

// Wants tells whether a task that has come to the state is logged.
func (l *Log) Wants(state string) bool { return l.tasks.wants(state) }

// Task logs a task that has ended, or waits again.
func (l *Log) Task(t Line) {
	if l.throttle.lines++; l.throttle.lines > linesMost {
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
		line = line.Str(zerolog.ErrorFieldName, cut(masked(first), sentenceMost))
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
	t := &l.throttle
	if time.Since(t.began) < linesTick {
		return
	}
	if n := t.lines - linesMost; n > 0 {
		l.Warn().Int("tasks", n).Msg("more tasks ended than the log shows")
	}
	*t = throttle{began: time.Now()}
}

// cut is a text of at most so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
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
