package conf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtask/work"
)

// These tests run on synctest's clock: minutes of failures take no time.

func TestPause(t *testing.T) {
	t.Parallel()
	away := &pgconn.PgError{Code: "57P03"}
	refused := &pgconn.PgError{Code: "42501"}
	for _, c := range []struct {
		failures int
		err      error
		longest  time.Duration
	}{
		{1, away, 100 * time.Millisecond},
		{2, refused, 200 * time.Millisecond},
		{5, fmt.Errorf("control connection: %w", away), 1600 * time.Millisecond},
		{6, away, 2 * time.Second},
		{1000, away, 2 * time.Second},
		{1000, io.ErrUnexpectedEOF, 2 * time.Second},
		{1000, context.DeadlineExceeded, 2 * time.Second},
		{1000, &pgconn.PgError{Code: "53300"}, 2 * time.Second},
		{6, refused, 3200 * time.Millisecond},
		{1000, refused, 30 * time.Second},
		{1000, errEnded, 30 * time.Second},
		{1000, &panicked{}, 30 * time.Second},
	} {
		for range 100 {
			if got := pause(c.failures, c.err); got > c.longest || got < c.longest*3/4 {
				t.Errorf("after %d times %v: %v, not up to a quarter below %v", c.failures, c.err, got, c.longest)
			}
		}
	}
}

func TestPauseForAnsweredConnect(t *testing.T) {
	t.Parallel()
	config, err := pgconn.ParseConfig("host=/nonexistent user=u dbname=d")
	if err != nil {
		t.Fatal(err)
	}
	_, err = pgconn.ConnectConfig(t.Context(), config)
	if err == nil || !isAway(err) {
		t.Errorf("a server that is not there is not taken for away: %v", err)
	}
}

// script is a Serve that fails with one error after another, and then serves
// until it is stopped. It remembers when it was called.
type script struct {
	failures []error // nil: it returns without one
	calls    []time.Duration
	begun    time.Time
}

func (s *script) serve(ctx context.Context, stop <-chan struct{}, _ work.Target, _ zerolog.Logger) error {
	s.calls = append(s.calls, time.Since(s.begun))
	if n := len(s.calls); n <= len(s.failures) {
		return s.failures[n-1]
	}
	select {
	case <-stop:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runFor lets a loop run for a while, stops it, and returns what it logged.
func runFor(length time.Duration, serve Serve) []string {
	var log bytes.Buffer
	stop := make(chan struct{})
	ended := make(chan struct{})
	l := &loop{serve: serve, log: zerolog.New(&log), stop: stop}
	go func() {
		l.run(context.Background())
		close(ended)
	}()
	time.Sleep(length)
	close(stop)
	<-ended
	return lines(log.String())
}

// lines are the messages of a log, with their errors.
func lines(log string) []string {
	var found []string
	for line := range strings.Lines(log) {
		var said struct{ Message, Error string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			panic(err)
		}
		found = append(found, strings.TrimSuffix(said.Message+": "+said.Error, ": "))
	}
	return found
}

func TestLoopTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		s := &script{failures: []error{down, down, nil, down}, begun: time.Now()}
		log := runFor(time.Minute, s.serve)
		if len(s.calls) != 5 {
			t.Fatalf("served %d times", len(s.calls))
		}
		for i, longest := range []time.Duration{100, 200, 400, 800} {
			longest *= time.Millisecond
			if waited := s.calls[i+1] - s.calls[i]; waited > longest || waited < longest*3/4 {
				t.Errorf("before try %d it waited %v", i+2, waited)
			}
		}
		want := []string{"target failed: down", "target failed: " + errEnded.Error(), "target is well again"}
		if !slices.Equal(log, want) {
			t.Errorf("logged %q, not %q", log, want)
		}
	})
}

// TestLoopLogsOnceAMinute: a failure that lasts is not logged at each try.
func TestLoopLogsOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		refused, starting := &pgconn.PgError{Code: "53300"}, &pgconn.PgError{Code: "57P03"}
		calls := 0
		log := runFor(5*time.Minute-time.Second, func(context.Context, <-chan struct{}, work.Target, zerolog.Logger) error {
			calls++
			if calls%2 == 0 {
				return starting
			}
			return refused
		})
		if len(log) > 10 || len(log) < 8 || calls < 100 {
			t.Errorf("%d failures of two kinds in five minutes were logged as %q", calls, log)
		}
	})
}

// TestLoopForgetsOldFailures: what fails after a good while is tried again soon.
func TestLoopForgetsOldFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var failed time.Time
		calls := 0
		runFor(time.Hour, func(_ context.Context, stop <-chan struct{}, _ work.Target, _ zerolog.Logger) error {
			calls++
			switch {
			case calls < 10:
			case calls == 10:
				time.Sleep(2 * wellAfter)
				failed = time.Now()
			default:
				if waited := time.Since(failed); waited > firstPause {
					t.Errorf("waited %v", waited)
				}
				<-stop
				return nil
			}
			return errors.New("down")
		})
		if calls != 11 {
			t.Errorf("served %d times", calls)
		}
	})
}

func TestLoopCatchesPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		log := runFor(time.Second, func(_ context.Context, stop <-chan struct{}, _ work.Target, _ zerolog.Logger) error {
			if calls++; calls == 1 {
				panic("nobody thought of this")
			}
			<-stop
			return nil
		})
		if want := []string{"target failed: panic: nobody thought of this"}; calls != 2 || !slices.Equal(log, want) {
			t.Errorf("served %d times, logged %q", calls, log)
		}
	})
}

func TestLoopStopsWhileItWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		runFor(time.Minute, func(context.Context, <-chan struct{}, work.Target, zerolog.Logger) error {
			return errors.New("down")
		})
		if took := time.Since(begun); took != time.Minute {
			t.Errorf("ended %v after it was stopped", took-time.Minute)
		}
	})
}

func TestLoopReportsFailedDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := runFor(time.Second, func(_ context.Context, stop <-chan struct{}, _ work.Target, _ zerolog.Logger) error {
			<-stop
			return errors.New("lost")
		})
		if want := []string{"target failed while it drained: lost"}; !slices.Equal(log, want) {
			t.Errorf("logged %q", log)
		}
	})
}
