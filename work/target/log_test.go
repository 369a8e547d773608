package target

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestLinesAboutTasksAreBounded: the log shows how many lines were left out.
func TestLinesAboutTasksAreBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := NewLog(zerolog.New(&out), NewTaskLog(LogAll))
	for range 2 {
		out.Reset()
		l.lines, l.told = 0, time.Now()
		for range 1000 {
			l.Task(Line{ID: 1, State: "FAIL"})
		}
		if l.TellLeftOut(); strings.Count(out.String(), "\n") != linesMost {
			t.Errorf("logged %s", &out)
		}
		l.told = time.Now().Add(-linesTick)
		if l.TellLeftOut(); strings.Count(out.String(), `"tasks":900,`) != 1 {
			t.Errorf("logged %s", &out)
		}
	}
}

// TestPasswordsInErrorsAreMasked in each form in which SQL may write them.
func TestPasswordsInErrorsAreMasked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"ERROR:  host=a password=hush dbname=b":           "ERROR:  host=a password=*** dbname=b",
		"ERROR:  host=a PASSWORD = 'hush hush' x":         "ERROR:  host=a PASSWORD = *** x",
		"ERROR:  postgres://u:hush@h/d":                   "ERROR:  postgres://u:***@h/d",
		"ERROR:  ALTER ROLE a PASSWORD 'hush'":            "ERROR:  ALTER ROLE a PASSWORD ***",
		"ERROR:  ALTER ROLE a PASSWORD 'hus":              "ERROR:  ALTER ROLE a PASSWORD ***",
		"ERROR:  password authentication failed for user": "ERROR:  password authentication failed for user",
	} {
		if got := masked(text); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
