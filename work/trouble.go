package work

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/human"
	"pgtaskd/sql"
	"pgtaskd/work/door"
)

// sayAgain is how long what lasts is not logged again.
const sayAgain = time.Hour

// calm is how long a target must have been led, or stood by for, until a failure before that counts
// as over: some come up only while it is led. A full disk is no obstacle to leadership, but to the
// first statement that writes.
const calm = 3 * time.Second

// trouble logs what keeps a target from being served: each failure when it first comes, and that all
// is well when it is. It belongs to the goroutine of Serve.
type trouble struct {
	log zerolog.Logger

	since    time.Time // of the first failure since all was well; zero: all is well
	failures memory    // since then, by their text
	told     memory    // what else comes again and again
	tries    int       // that have failed in a row
	served   bool      // the target has been served since Serve began: by us, or by another controller while its table was there

	stats *Stats

	began time.Time // when we came to lead, or to stand by; zero while we do neither
	say   func()    // logs that; nil once it has
}

// memory is what was logged, and when.
type memory map[string]time.Time

// memoryMost is how many texts are remembered, some of which come from the table: beyond that one may
// be logged again sooner.
const memoryMost = 1000

// tells tells whether the text is to be logged now: so often.
func (m *memory) tells(what string, every time.Duration) bool {
	if at, known := (*m)[what]; known && time.Since(at) < every {
		return false
	}
	if len(*m) >= memoryMost || *m == nil {
		*m = memory{}
	}
	(*m)[what] = time.Now()
	return true
}

// tells tells whether something that comes again and again is to be logged now: so often, by what it
// is called.
func (t *trouble) tells(what string, every time.Duration) bool { return t.told.tells(what, every) }

// hourly is the line, or none where one about the same was logged in this hour.
func (t *trouble) hourly(line *zerolog.Event, what string) *zerolog.Event {
	if !t.tells(what, sayAgain) {
		return nil // which logs nothing
	}
	return line
}

// failed logs a failure unless it is known, and says how long to wait before the next try.
func (t *trouble) failed(err error) (wait time.Duration) {
	now := time.Now()
	if t.since.IsZero() {
		t.since = now
	}
	if !t.began.IsZero() && now.Sub(t.began) >= calm {
		t.tries = 0
	}
	t.began, t.say = time.Time{}, nil
	if t.stats != nil {
		t.stats.fails(err)
	}
	t.tries++
	wait = pause(t.tries, err)
	if errors.As(err, new(*door.Refused)) || !t.failures.tells(err.Error(), sayAgain) { // of the former found has said all
		return wait
	}
	line := advised(t.log.Error(), err)
	if now.Sub(t.since) >= sayAgain {
		line = line.Time("since", t.since)
	}
	line.Str("retry_in", human.Duration(wait)).Msg("target failed")
	return wait
}

// isAnswer tells that the server has refused a statement and goes on.
func isAnswer(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Severity == "ERROR"
}

// become takes note that we lead now, or stand by, and logs it by say: at once, or, after a failure,
// when it has lasted.
func (t *trouble) become(say func()) {
	t.began, t.say = time.Now(), say
	t.look()
}

// look logs what we have become, and that all is well again, when it is time.
func (t *trouble) look() {
	if t.say == nil || !t.since.IsZero() && time.Since(t.began) < calm {
		return
	}
	t.say()
	t.say = nil
	if !t.since.IsZero() {
		t.log.Info().Str("after", human.Duration(time.Since(t.since))).Msg("target recovered")
	}
	t.since, t.failures = time.Time{}, nil
}

// Pauses between tries of a target that fails: the first, and the longest.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 2 * time.Second
)

// pause is how long to wait after the given number of failures in a row, at
// least 1. Up to a quarter is taken off at random, so that the targets of a
// server that comes back do not all return at once.
func pause(failures int, err error) time.Duration {
	if errors.As(err, new(*door.Refused)) {
		return doorPause
	}
	length := min(firstPause<<min(failures-1, 16), longPause)
	return length - rand.N(length/4+1)
}

// diagnose finds better words for an error that has ended leadership, or not let it begin: what the
// table lacks, who has locked it.
func (l *loop) diagnose(ctx context.Context, err error) error {
	switch {
	case hasState(err, "55P03"):
		holders, unknown := sql.Holders(ctx, l.control.conn, table(l.target), false)
		if unknown == nil && len(holders) > 0 {
			return fmt.Errorf("table %s is locked by %s: %w", table(l.target), strings.Join(holders, ", "), err)
		}
	case hasState(err, "25006"): // while a server in recovery is not led
		return errReadOnly
	case l.trouble.served && hasState(err, "42501", "42P01", "42703", "3F000"):
		if better := l.install(ctx); better != nil {
			return better
		}
	}
	return err
}

// hasState tells whether err is an answer of the server with one of the SQLSTATEs.
func hasState(err error, states ...string) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && slices.Contains(states, answer.Code)
}
