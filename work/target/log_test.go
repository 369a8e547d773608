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
