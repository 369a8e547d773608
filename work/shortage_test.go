package work

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// TestShortage: one is tried from time to time, until that goes well; it is logged once.
func TestShortage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &shortage{log: zerolog.New(&log)}
		s.failed = func(err error) *zerolog.Event { return s.log.Error().Err(err) }
		tried := 0
		for range 30 * 60 { // half a minute of many who want one
			if !s.lasts() || s.admit() {
				tried++
				s.fail(errors.New("too many"), 2)
			}
			s.look()
			time.Sleep(time.Second / 60)
		}
		if tried < 10 || tried > 20 {
			t.Errorf("tried %d times", tried)
		}
		time.Sleep(shortPause)
		if first := s.admit(); !first || s.admit() {
			t.Error("not just one is tried")
		}
		s.succeed()
		for range 2 {
			if !s.admit() {
				t.Error("others are not tried after one that went well")
			}
		}
		time.Sleep(shortOver)
		s.look()
		if s.lasts() {
			t.Error("it lasts")
		}
		want := []string{"cannot open more sessions; tasks wait for the open ones: too many", "sessions available again"}
		if lines := told(&log); !slices.Equal(lines, want) {
			t.Errorf("logged %q", lines)
		}
	})
}

// TestLongGroup: it does not have to fit into a startup packet.
func TestLongGroup(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add(`input, "group"`, "SELECT length(current_setting('pg_task.group'))", string(bytes.Repeat([]byte("g"), 20_000)))
	s.becomes(id, "DONE")
	if row := s.row(id, "output"); row != `{"output":"20000"}` {
		t.Error(row)
	}
}
