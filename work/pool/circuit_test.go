package pool

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// TestShortage: during a shortage one session is tried from time to time; begin and end are logged
// once.
func TestShortage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &shortage{log: zerolog.New(&log)}
		tried := 0
		for range 30 * 60 { // half a minute in which many want a session
			if !s.Short() || s.Admit() {
				tried++
				s.fail(errors.New("too many"), 2)
			}
			s.Look()
			time.Sleep(time.Second / 60)
		}
		if tried < 15 || tried > 40 {
			t.Errorf("tried %d times", tried)
		}
		time.Sleep(shortPause)
		if first := s.Admit(); !first || s.Admit() {
			t.Error("not just one is tried")
		}
		time.Sleep(shortOver)
		s.Look()
		if s.Short() {
			t.Error("it lasts")
		}
		want := []string{"cannot open more sessions; tasks wait for the open ones: too many", "sessions available again"}
		if lines := messages(&log); !slices.Equal(lines, want) {
			t.Errorf("logged %q", lines)
		}
	})
}

// messages returns the lines of a log, each with its error.
func messages(log *bytes.Buffer) []string {
	var found []string
	for line := range strings.Lines(log.String()) {
		var said struct{ Message, Error string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			panic(err)
		}
		found = append(found, strings.TrimSuffix(said.Message+": "+said.Error, ": "))
	}
	return found
}
