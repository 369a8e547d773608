package work

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
	"pgtaskd/work/door"
	"pgtaskd/work/install"
	"pgtaskd/work/target"
)

// calm is how long a controller must lead the target, or stand by, before an earlier failure counts
// as over: some failures show only then. A full disk, for example, does not keep a controller from
// leading; the first statement that writes fails.
const calm = 3 * time.Second

// trouble logs what keeps a target from being served: each failure when it first comes, and that all
// is well when it is. It belongs to the goroutine of Serve.
type trouble struct {
	log *target.Log

	since    time.Time     // of the first failure since all was well; zero: all is well
	failures target.Memory // since then, by their text
	tries    int           // that have failed in a row
	served   bool          // the target has been served since Serve began: by us, or by another controller while its table was there

	stats *target.Stats

	began time.Time // when we came to lead, or to stand by; zero while we do neither
	say   func()    // logs that; nil once it has
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
	t.stats.Fails(err)
	t.tries++
	wait = pause(t.tries, err)
	if errors.As(err, new(*door.Refused)) || !t.failures.Once(err.Error(), target.SayAgain) { // the door has said all of the former
		return wait
	}
	line := fault.Advised(t.log.Error(), err)
	if now.Sub(t.since) >= target.SayAgain {
		line = line.Time("since", t.since)
	}
	line.Str("retry_in", human.Duration(wait)).Msg("target failed")
	return wait
}

// hasServed tells whether the target has been served.
func (t *trouble) hasServed() bool { return t.served }

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
		return install.RefusedPause
	}
	length := min(firstPause<<min(failures-1, 16), longPause)
	return length - rand.N(length/4+1)
}

// diagnose explains an error that has ended leadership or kept it from beginning: it says what the
// table lacks, or who has locked the table.
func (l *loop) diagnose(ctx context.Context, err error) error {
	switch {
	case fault.Has(err, "55P03"):
		holders, unknown := lock.Holders(ctx, l.control.Conn(), l.target.Relation(), false)
		if unknown == nil && len(holders) > 0 {
			return fmt.Errorf("table %s is locked by %s: %w", l.target.Relation(), strings.Join(holders, ", "), err)
		}
	case fault.Has(err, "25006"): // while a server in recovery is not led
		return control.ErrReadOnly
	case l.trouble.served && fault.Has(err, "42501", "42P01", "42703", "3F000"):
		if better := l.leader.shape.install(ctx); better != nil {
			return better
		}
	}
	return err
}
