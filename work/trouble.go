package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/human"
	"pgtaskd/sql"
	"pgtaskd/work/door"
)

// sayAgain is how long a failure that lasts is not logged again.
const sayAgain = time.Hour

// calm is how long a target must have been led without a failure until it counts
// as well, where its failures come up only while it is led: a full disk is no
// obstacle to leadership, but to the first statement that writes.
const calm = 3 * time.Second

// trouble logs what keeps a target from being served: each failure when it first
// comes, and that all is well when it is. It belongs to the goroutine of Serve.
type trouble struct {
	log    zerolog.Logger
	target Target

	since    time.Time            // of the first failure since all was well; zero: all is well
	said     map[string]time.Time // failures since then, by text, and when they were logged
	failures int                  // in a row
	deep     bool                 // there was one of them while we led that may come again
	served   bool                 // the target has been served since Serve began: by us, or by another controller while its table was there
	strange  map[stranger]time.Time

	findings     map[string]bool      // of the door, as they were logged
	without      map[string]bool      // what the table is served without, as it was logged
	unmade       map[string]bool      // what could not be made beside it, likewise
	told         map[string]time.Time // when what comes again and again was logged last
	bare         bool                 // that the table has no column for transactions
	openPath     bool                 // that everybody may create in the role's search_path
	unregistered string               // why sessions go without a register, as it was logged

	stats *Stats

	began time.Time // when we came to lead, or to stand by; zero while we do neither
	say   func()    // logs that; nil once it has
}

// tells tells whether something that comes again and again is to be logged now: so often, by what it
// is called.
func (t *trouble) tells(what string, every time.Duration) bool {
	if time.Since(t.told[what]) < every {
		return false
	}
	if t.told == nil || len(t.told) >= toldMost {
		t.told = map[string]time.Time{}
	}
	t.told[what] = time.Now()
	return true
}

// toldMost bounds what is known of that: some names come from the table.
const toldMost = 100

// failed logs a failure unless it is known, and says how long to wait before the next try.
func (t *trouble) failed(err error) (wait time.Duration) {
	now := time.Now()
	if t.since.IsZero() {
		t.since, t.said = now, map[string]time.Time{}
	}
	if !t.began.IsZero() {
		lasted := now.Sub(t.began)
		if lasted >= calm {
			t.failures = 0
		}
		t.deep = t.deep || lasted < calm || isAnswer(err)
	}
	t.began, t.say = time.Time{}, nil
	if t.stats != nil {
		t.stats.fails(err)
	}
	t.failures++
	wait = pause(t.failures, err)
	if errors.As(err, new(*door.Refused)) { // found has said all
		return wait
	}
	at, known := t.said[err.Error()]
	if known && now.Sub(at) < sayAgain {
		return wait
	}
	t.said[err.Error()] = now
	line := t.target.advised(t.log.Error(), err, t.served)
	if known {
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

// become takes note that we lead now, or stand by, and logs it by say: at once, or when it has
// lasted.
func (t *trouble) become(say func()) {
	t.began, t.say = time.Now(), say
	t.look()
}

// look logs what we have become, and that all is well again, when it is time.
func (t *trouble) look() {
	if t.say == nil || t.deep && time.Since(t.began) < calm {
		return
	}
	t.say()
	t.say = nil
	if !t.since.IsZero() {
		t.log.Info().Str("after", human.Duration(time.Since(t.since))).Msg("target recovered")
	}
	t.since, t.said, t.deep = time.Time{}, nil, false
}

// Pauses between tries of a target that fails: the first, and the longest where
// the server can't be reached or has no room, or where something else is wrong.
// A server comes back by itself; a missing right or a wrong password waits for a
// person, who does not want to wait for us then. Memory and locks that a task has
// taken are there again in a moment.
const (
	firstPause  = 100 * time.Millisecond
	takenPause  = 200 * time.Millisecond
	awayPause   = 2 * time.Second
	faultyPause = 5 * time.Second
)

// pause is how long to wait after the given number of failures in a row, at
// least 1. Up to a quarter is taken off at random, so that the targets of a
// server that comes back do not all return at once.
func pause(failures int, err error) time.Duration {
	longest := faultyPause
	switch {
	case errors.As(err, new(*door.Refused)):
		return doorPause
	case hasState(err, "53200"):
		longest = takenPause
	case isAway(err):
		longest = awayPause
	}
	length := longest
	if shift := failures - 1; shift < 16 {
		length = min(firstPause<<shift, longest)
	}
	return length - rand.N(length/4+1)
}

// isAway reports whether err means that the server is not there now, or does not
// take what we want to write, or has no room for us.
func isAway(err error) bool {
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		switch {
		case strings.HasPrefix(answer.Code, "08"), // connection exception
			strings.HasPrefix(answer.Code, "53"),  // insufficient resources
			strings.HasPrefix(answer.Code, "57P"), // shut down, crashed, starting up
			answer.Code == "25006",                // it takes no writes
			answer.Code == "55P03":                // somebody has locked the table
			return true
		}
		return false
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.Is(err, errRecovery) || errors.Is(err, errReadOnly) || errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE)
}

// lockedOut is the error of a table that somebody has locked for longer than we wait.
type lockedOut struct {
	table   sql.Table
	holders string
	cause   error
}

func (l *lockedOut) Error() string {
	return fmt.Sprintf("table %s is locked by %s", l.table, l.holders)
}
func (l *lockedOut) Unwrap() error { return l.cause }

// diagnose finds better words for an error that has ended leadership, or not let it begin: what the
// table lacks, who has locked it.
func (l *loop) diagnose(ctx context.Context, err error) error {
	switch {
	case hasState(err, "55P03"):
		holders, unknown := sql.Holders(ctx, l.control.conn, table(l.target), false)
		if unknown == nil && len(holders) > 0 {
			return &lockedOut{table(l.target), strings.Join(holders, ", "), err}
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
