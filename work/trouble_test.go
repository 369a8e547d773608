package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"
)

// TestThePauseGrowsWithTheFailures: up to two seconds.
func TestThePauseGrowsWithTheFailures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failures int
		longest  time.Duration
	}{
		{1, 100 * time.Millisecond}, {2, 200 * time.Millisecond}, {5, 1600 * time.Millisecond}, {6, 2 * time.Second}, {1000, 2 * time.Second},
	} {
		for range 100 {
			if got := pause(c.failures, io.ErrUnexpectedEOF); got > c.longest || got < c.longest*3/4 {
				t.Errorf("after %d: %v, not up to a quarter below %v", c.failures, got, c.longest)
			}
		}
	}
}

// told are the messages of a log, with their errors.
func told(log *bytes.Buffer) []string {
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

// attempts is the log of a target on synctest's clock. Each try fails after the target has been led
// for a while (0: it has not been led).
func attempts(t *testing.T, tries ...attempt) (log []string) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		var out bytes.Buffer
		tr := newService(Target{}, zerolog.New(&out)).trouble
		for _, try := range tries {
			if try.led > 0 {
				tr.become(func() { tr.log.Info().Msg("leading") })
				for end := time.Now().Add(try.led); time.Now().Before(end); tr.look() {
					time.Sleep(min(time.Until(end), time.Second))
				}
			}
			if try.err != nil {
				time.Sleep(tr.failed(try.err))
			}
		}
		log = told(&out)
	})
	return log
}

type attempt struct {
	led time.Duration
	err error
}

func repeated(n int, tries ...attempt) []attempt { return slices.Repeat(tries, n) }

// TestFailuresOfATargetAreLoggedOnce: and again when they change, or come back after a recovery.
func TestFailuresOfATargetAreLoggedOnce(t *testing.T) {
	t.Parallel()
	down, starting := errors.New("down"), errors.New("starting up")
	full := &pgconn.PgError{Severity: "ERROR", Code: "53100", Message: "no space"}
	for _, c := range []struct {
		name  string
		tries []attempt
		want  []string
	}{
		{"nothing", []attempt{{time.Second, nil}}, []string{"leading"}},
		{
			"said once", append(repeated(100, attempt{0, down}), attempt{time.Minute, nil}),
			[]string{"target failed: down", "leading", "target recovered"},
		},
		{
			"again when it changes", append(repeated(50, attempt{0, down}, attempt{0, starting}), attempt{time.Minute, nil}),
			[]string{"target failed: down", "target failed: starting up", "leading", "target recovered"},
		},
		{
			"again after it was over",
			[]attempt{{time.Hour, down}, {time.Hour, down}, {time.Hour, nil}},
			[]string{"leading", "target failed: down", "leading", "target recovered", "target failed: down", "leading", "target recovered"},
		},
		{
			"only while led", append(repeated(100, attempt{time.Second, full}), attempt{time.Minute, nil}),
			[]string{"leading", "target failed: " + full.Error(), "leading", "target recovered"},
		},
		{
			"led for moments", append(repeated(100, attempt{time.Second, down}), attempt{time.Minute, nil}),
			[]string{"leading", "target failed: down", "leading", "target recovered"},
		},
		{
			"for hours", append(repeated(6500, attempt{0, down}), attempt{time.Minute, nil}),
			[]string{"target failed: down", "target failed: down", "target failed: down", "target failed: down", "leading", "target recovered"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if log := attempts(t, c.tries...); !slices.Equal(log, c.want) {
				t.Errorf("logged %q", log)
			}
		})
	}
}

// TestTheFirstFailureAfterAGoodWhileIsTriedAgainSoon: the count of failures starts again.
func TestTheFirstFailureAfterAGoodWhileIsTriedAgainSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr := newService(Target{}, zerologNone).trouble
		for range 20 {
			time.Sleep(tr.failed(io.EOF))
		}
		tr.become(func() {})
		if wait := tr.failed(io.EOF); wait < longPause/2 {
			t.Errorf("waits %v after a short while", wait)
		}
		tr.become(func() {})
		time.Sleep(time.Minute)
		if wait := tr.failed(io.EOF); wait > firstPause {
			t.Errorf("waits %v after a good while", wait)
		}
	})
}

// TestAServerThatIsAwayIsTriedEverMoreSeldom: up to once a minute, but not yet while a failover may
// be under way. Once it answers, whatever it says, it is tried soon again.
func TestAServerThatIsAwayIsTriedEverMoreSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr := newService(Target{}, zerolog.Nop()).trouble
		away := errors.Join(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, context.DeadlineExceeded)
		began, tries := time.Now(), 0
		var wait time.Duration
		for passed := time.Duration(0); passed < 20*time.Minute; passed = time.Since(began) {
			if wait = tr.failed(away); passed < 15*time.Second && wait > longPause || wait > awayPause {
				t.Fatalf("after %v it waits for %v", passed, wait)
			}
			if passed < 40*time.Second {
				tries++
			}
			time.Sleep(wait)
		}
		if tries > 30 || wait < awayPause*3/4 {
			t.Errorf("%d tries in 40 s, and at last one each %v", tries, wait)
		}
		if wait := tr.failed(errors.Join(away, &pgconn.PgError{Code: "57P03"})); wait > longPause {
			t.Errorf("after an answer it waits for %v", wait)
		}
		if wait := tr.failed(away); wait > longPause {
			t.Errorf("away again, it waits for %v", wait)
		}
	})
}
