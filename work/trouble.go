package work

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/human"
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

	without      map[string]bool // what the table is served without, as it was logged
	unmade       map[string]bool // what could not be made beside it, likewise
	unregistered string          // why sessions go without a register, as it was logged

	stats *Stats

	began time.Time // when we came to lead, or to stand by; zero while we do neither
	say   func()    // logs that; nil once it has
}

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
