package exec

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// SQL can set limits that stay in its session, by a function too: each statement of ours behind it
// has its time then, and the session may not rest in a transaction. What such a limit meets is
// rolled back for certain. So nothing is done about limits before one is met: then the task runs
// once more, and what follows its SQL begins by setting them aside. What makes the session ready
// for the next task is simply tried again.

// limit tells the errors by which a limit is met. A cancel by somebody cannot be told from it, nor
// can what SQL has made FATAL (exit_on_error) of an error that we ask for.
func limit(e *pgproto3.ErrorResponse) bool {
	switch {
	case e == nil:
		return false
	case e.Code == "57014": // statement_timeout
		return true
	}
	return fatal(e) && !slices.ContainsFunc(lasting, func(class string) bool { return strings.HasPrefix(e.Code, class) })
}

// lasting are the classes of the FATAL errors that no limit brings about: somebody has ended the
// session or the server, or it cannot go on.
var lasting = []string{"57P", "08", "28", "3D", "53", "58", "XX"}

// ended takes down the loss of a session whose transaction is not to be committed: what has come of
// that is known, and the session only cannot be used any more.
func (s *Session) ended(err error) error {
	lost := new(Lost)
	if !errors.As(err, &lost) || lost.Broken {
		return err
	}
	lost.Unbegun, lost.Limited = true, true // whatever is next, and what must run once more
	s.gone, s.status = lost, 'I'
	return nil
}

// Each statement gets its full time again, and the first of these is short.
const (
	patient = "SET LOCAL statement_timeout TO '30s'"
	settled = `SELECT WHERE pg_catalog.num_nulls(pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true), ` +
		`CASE WHEN pg_catalog.current_setting('transaction_timeout', true) IS NOT NULL THEN pg_catalog.set_config('transaction_timeout', '0', true) END) OPERATOR(pg_catalog.<) 0`
)

// mostLimited is how often a limit may be met in a row by what makes a session ready.
const mostLimited = 100

// sendPatient queues what sets the limits aside that a task's SQL may have set, for the rest of its
// transaction.
func (s *Session) sendPatient() {
	s.plain(patient)
	s.call(&Statement{SQL: settled}, []byte(s.silence))
}
