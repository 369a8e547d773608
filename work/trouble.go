package work

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/sql/lock"
	"pgtaskd/work/control"
	"pgtaskd/work/install"
	"pgtaskd/work/target"
)

// calm is how long a controller must lead or stand by before an earlier failure counts as over:
// some failures show late. With a full disk, for example, a controller can lead, and its first
// statement that writes fails.
const calm = 3 * time.Second

// trouble logs why a target cannot be served: each failure once, and the recovery. It belongs to
// the goroutine of Serve.
type trouble struct {
	log *target.Log

	since    time.Time     // time of the first failure since the target was well; zero: it is well
	failures target.Memory // texts of the failures since then
	tries    int           // tries that have failed in a row
	reached  bool          // this try has reached the server
	away     time.Time     // when a try first found no server; zero: the last one did
	// The target has been served since Serve began: by us, or by another controller while its table
	// was there.
	served bool

	stats *target.Stats

	worked  time.Time // when the target last had work, or Serve began
	rested  bool      // there was none since the last rest
	yielded time.Time // when the target was last given up for another controller

	began time.Time // when we began to lead or to stand by; zero while we do neither
	say   func()    // logs that we lead or stand by; nil once it has
}

// failed logs a failure unless it is known, or a rest, and returns how long to wait before the next
// try.
func (t *trouble) failed(err error) (wait time.Duration) {
	defer func() { t.stats.Moves(wait) }()
	if r := (*resting)(nil); errors.As(err, &r) {
		t.rests(r)
		return r.rest
	}
	now := time.Now()
	if t.since.IsZero() {
		t.since = now
	}
	if !t.began.IsZero() && now.Sub(t.began) >= calm {
		t.tries = 0
	}
	t.began, t.say = time.Time{}, nil
	t.stats.Stands(target.Standing{Fault: err.Error(), Copy: install.IsCopy(err)})
	t.tries++
	switch away := !t.reached && fault.Away(err); {
	case !away:
		t.away = time.Time{}
	case t.away.IsZero():
		t.away = now
	}
	t.reached = false
	if wait = pause(t.tries, err); !t.away.IsZero() {
		wait = max(wait, shorten(min(now.Sub(t.away)/awayShare, awayPause)))
	}
	// A refusal is logged where the table is looked at.
	if install.IsRefused(err) || !t.failures.Once(err.Error(), target.SayAgain) {
		return wait
	}
	line := fault.Advised(t.log.Error(), err)
	if now.Sub(t.since) >= target.SayAgain {
		line = line.Time("since", t.since)
	}
	line.Str("retry_in", human.Duration(wait)).Msg("target failed")
	return wait
}

// rests records that everything is closed for a while, as there is no work.
func (t *trouble) rests(r *resting) {
	*t = trouble{log: t.log, served: t.served, stats: t.stats, worked: t.worked, rested: t.rested, yielded: t.yielded}
	if r.yields {
		t.yielded = time.Now()
		t.log.Info().Msg("gave the lead away: another controller leads fewer targets")
		t.stats.Stands(target.Standing{StandsBy: true})
		return
	}
	t.news().Str("rest", human.Duration(r.rest)).Msg("no work: closed all connections")
	t.stats.Stands(target.Standing{Quiet: true})
	t.rested = true
}

// news is a line that is no news from the second rest without work on.
func (t *trouble) news() *zerolog.Event {
	if t.rested {
		return t.log.Debug()
	}
	return t.log.Info()
}

// become records that we now lead, or stand by. say logs that: at once, or, after a failure, when
// the state has lasted for calm.
func (t *trouble) become(say func()) {
	t.began, t.say = time.Now(), say
	t.look()
}

// look logs that we lead or stand by, and that the target has recovered, when it is time.
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

// Pauses between tries for a target that fails: the first, and the longest. While nothing answers
// they grow further, as the database may sleep, or be gone for good: one part in awayShare of the
// time that it has been away, so that a failover takes little longer.
const (
	firstPause = 100 * time.Millisecond
	longPause  = 2 * time.Second
	awayPause  = time.Minute
	awayShare  = 8
)

// pause is how long to wait after a number of failures in a row (at least 1).
func pause(failures int, err error) time.Duration {
	if install.IsRefused(err) || errors.As(err, new(*control.Pooled)) {
		return install.RetryOf(err)
	}
	return shorten(min(firstPause<<min(failures-1, 16), longPause))
}

// shorten takes off up to a quarter at random, so that the targets of a server that comes back do
// not all return at once.
func shorten(length time.Duration) time.Duration { return length - rand.N(length/4+1) }

// diagnose explains an error that has ended the lead or kept it from beginning: it adds what the
// table lacks, or who has locked it.
func (l *loop) diagnose(ctx context.Context, err error) error {
	switch {
	case fault.Has(err, "55P03"):
		holders, unknown := lock.Holders(ctx, l.control.Conn(), l.target.Relation(), false)
		if unknown == nil && len(holders) > 0 {
			return fmt.Errorf("table %s is locked by %s: %w", l.target.Relation(), strings.Join(holders, ", "), err)
		}
	case fault.Has(err, "25006"): // the server is in recovery
		return control.ErrReadOnly
	case l.trouble.served && fault.Has(err, "42501", "42P01", "42703", "3F000"):
		if better := l.leader.shape.install(ctx); better != nil {
			return better
		}
	}
	return err
}
