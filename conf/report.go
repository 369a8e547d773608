package conf

import (
	"errors"
	"time"

	"github.com/rs/zerolog"
)

// reportAgain is how long a failure with the same text is not logged again.
const reportAgain = time.Minute

// report logs the failures of one target: each text when it first comes, and
// then once a minute while it lasts.
type report struct {
	logged map[string]time.Time // by text; nil while all is well
	silent int                  // failures since the last line
}

func (r *report) failed(log zerolog.Logger, err error, next time.Duration) {
	now := time.Now()
	for text, at := range r.logged {
		if now.Sub(at) >= reportAgain {
			delete(r.logged, text)
		}
	}
	if _, recent := r.logged[err.Error()]; recent {
		r.silent++
		return
	}
	if r.logged == nil {
		r.logged = map[string]time.Time{}
	}
	r.logged[err.Error()] = now
	line := log.Error().Err(err).Dur("retry_in_ms", next)
	var p *panicked
	if errors.As(err, &p) {
		line = line.Bytes("stack", p.stack)
	}
	if r.silent > 0 {
		line = line.Int("failures_not_logged", r.silent)
	}
	r.silent = 0
	line.Msg("target failed")
}

// well logs that the failures are over, if there were any.
func (r *report) well(log zerolog.Logger) {
	if r.logged != nil {
		log.Info().Msg("target is well again")
	}
	*r = report{}
}
