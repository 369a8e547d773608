package work

import (
	"context"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"pgtaskd/human"
	"pgtaskd/work/lane"
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
	nameMost     = 100 // characters of a name that a user has chosen, in the log
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

// throttle bounds how many lines a target writes about its tasks. It belongs to the loop.
type throttle struct {
	began time.Time // the linesTick that is under way
	lines int       // that were asked for in it
}

// taskLine is what a line says of a task.
type taskLine struct {
	id            int64
	state, group  string
	key, sqlstate string
	error         string
	attempt       int32
	start, stop   time.Time
}

// report logs a task that has ended, or waits again.
func (l *loop) report(t taskLine) {
	if l.throttle.lines++; l.throttle.lines > linesMost {
		return
	}
	line := l.log.Info()
	if t.state == "FAIL" || t.state == "GONE" {
		line = l.log.Warn()
	}
	line = line.Int64("id", t.id).Str("group", groupName(t.group))
	if t.key != "" {
		line = line.Str("key", legible(t.key))
	}
	line = line.Str("state", t.state)
	if t.sqlstate != "" {
		line = line.Str("sqlstate", legible(t.sqlstate))
	}
	if t.error != "" {
		first, _, _ := strings.Cut(t.error, "\n")
		line = line.Str(zerolog.ErrorFieldName, cut(masked(first), sentenceMost))
	}
	if t.attempt > 1 {
		line = line.Int32("attempt", t.attempt)
	}
	if !t.start.IsZero() {
		line = line.Str("ran", human.Duration(max(t.stop.Sub(t.start), 0)))
	}
	switch t.state {
	case "FAIL", "GONE":
		line.Msg("task failed")
	case "PLAN":
		line.Msg("task waits again")
	default:
		line.Msg("task ended")
	}
}

// tellLeftOut says how many lines have been left out, and lets others be written.
func (l *loop) tellLeftOut(context.Context) error {
	t := &l.throttle
	if time.Since(t.began) < linesTick {
		return nil
	}
	if n := t.lines - linesMost; n > 0 {
		l.log.Warn().Int("tasks", n).Msg("more tasks ended than the log shows")
	}
	*t = throttle{began: time.Now()}
	return nil
}

// groupName is the name of a group, of a long one the beginning, for a line of the log.
func groupName(group string) string {
	head := lane.Head(group)
	if head == group {
		return legible(group)
	}
	return strings.TrimSuffix(legible(head), "…") + "…"
}

// legible is the beginning of a name that a user has chosen, for a line of the log: at most 100
// characters, and those that are not seen as escapes.
func legible(name string) string {
	if runes := []rune(name); len(runes) > nameMost {
		return human.Visible(string(runes[:nameMost])) + "…"
	}
	return human.Visible(name)
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
