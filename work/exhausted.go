package work

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A sequence that has no more ids is the table's trouble, and no task's: nothing ends without what
// follows on it. Ends wait, and tasks whose effects are rolled back with their ends run again.

// exhaustedMost is the longest wait before the next try to write an end that takes an id.
const exhaustedMost = 30 * time.Second

// isExhausted tells that the sequence of the table has no more ids for what follows on an end.
func isExhausted(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "2200H" && answer.Where == ""
}

// exhausted says so from time to time, with the words of the server, which name the sequence.
func (l *loop) exhausted(words string) {
	if time.Since(l.trouble.exhausted) < sayAgain {
		return
	}
	l.trouble.exhausted = time.Now()
	l.log.Error().Str("error", words).
		Str("hint", "set the sequence back by setval or ALTER SEQUENCE … RESTART, to above the greatest id, or raise its MAXVALUE").
		Msg("no ids are left for repetitions: ends of tasks wait")
}

// waitLong puts an end off until what its write lacks may be there, for longer each time.
func (l *loop) waitLong(e end, most time.Duration) {
	l.relieve(&e)
	e.wait = min(max(2*e.wait, time.Second), most)
	e.after = time.Now().Add(e.wait)
	l.keep(e)
}
