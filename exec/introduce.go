package exec

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// What a session asks of its server, before the first task or instead of one. Nothing in the
// answers is taken for granted: a remote may be anybody's server.

// introduction asks what must be known of the server and the session: whether anything but plpgsql
// can make statements of texts, when the backend started, since together with its process id that
// names it for good, how transactions begin, who has logged in, whether there are foreign servers,
// whether transactions are to write, the search_path, whether a role is set, whether whole tables
// may be read, and how long the session may rest in a transaction.
var introduction = &Statement{SQL: `SELECT ` + givesShown + ` AND ` + capable + `, (SELECT a.backend_start FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) AS a), ` + usualModes + ` AND ` + endlessBase + `, session_user,
	EXISTS (SELECT FROM pg_catalog.pg_foreign_server), pg_catalog.current_setting('default_transaction_read_only') OPERATOR(pg_catalog.=) 'on',
	pg_catalog.current_setting('search_path'), pg_catalog.current_setting('role') OPERATOR(pg_catalog.<>) 'none',
	pg_catalog.current_setting('enable_seqscan') OPERATOR(pg_catalog.=) 'on', pg_catalog.current_setting('idle_in_transaction_session_timeout')`}

// endlessBase: where transaction_timeout is set, a chained transaction keeps the limit that the
// task before has left, whatever the reset says: its clock has started.
const endlessBase = `coalesce(pg_catalog.current_setting('transaction_timeout', true), '0') OPERATOR(pg_catalog.=) '0'`

// userLongest is longer than any name, in bytes, and pathLongest than a search_path of hundreds of
// them.
const (
	userLongest = 1 << 10
	pathLongest = 64 << 10
)

// introduce reads the answer to introduction.
func (s *Session) introduce(ctx context.Context, local bool) error {
	if s.PID == 0 {
		return errors.New("the server did not name its backend, so nothing could be cancelled")
	}
	row, err := s.ask(ctx, introduction, 10)
	if err != nil {
		return err
	}
	var languages, usual bool
	var bad [7]error
	languages, bad[0] = boolean(row[0])
	usual, bad[1] = boolean(row[2])
	s.Foreign, bad[2] = boolean(row[4])
	s.readOnly, bad[3] = boolean(row[5])
	s.masked, bad[4] = boolean(row[7])
	s.Scans, bad[5] = boolean(row[8])
	if local {
		s.Since, bad[6] = moment(row[1])
	}
	if err := errors.Join(bad[:]...); err != nil {
		return err
	}
	if len(row[3]) == 0 || len(row[3]) > userLongest || len(row[6]) > pathLongest || len(row[9]) == 0 || len(row[9]) > userLongest {
		return errAnswer
	}
	s.Reads = s.readOnly
	s.path = append([]byte{}, row[6]...)
	if s.silence = string(row[9]); s.silence == "0" && !local {
		s.silence = silenceMost
	}
	s.clean, s.apart, s.baseUsualModes, s.usualModes, s.user = !languages && !s.masked, s.masked, usual, usual, string(row[3])
	return nil
}

var sees = &Statement{SQL: "SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_get_activity($1) AS a WHERE a.pid OPERATOR(pg_catalog.=) $1)"}

// Sees tells whether the server has a backend of that process id.
func (s *Session) Sees(ctx context.Context, pid int32) (bool, error) {
	row, err := s.ask(ctx, sees, 1, strconv.AppendInt(nil, int64(pid), 10))
	if err != nil {
		return false, err
	}
	return boolean(row[0])
}

var serverStart = &Statement{SQL: "SELECT pg_catalog.pg_postmaster_start_time()"}

// ServerStart is when the server was started.
func (s *Session) ServerStart(ctx context.Context) (time.Time, error) {
	row, err := s.ask(ctx, serverStart, 1)
	if err != nil {
		return time.Time{}, err
	}
	return moment(row[0])
}

// errAnswer is that of an answer that is none to what was asked.
var errAnswer = errors.New("the server's catalog can't be read")

// ask asks for a row of so many columns. The error is a *pgconn.PgError where the server has one.
func (s *Session) ask(ctx context.Context, st *Statement, columns int, args ...[]byte) (row [][]byte, err error) {
	defer s.crew.When(ctx, s.Abandon)()
	s.limited(true)
	defer s.limited(false)
	s.call(st, args...)
	s.sync()
	n := s.queued()
	if err := s.flush(); err != nil {
		return nil, told(err)
	}
	rows := 0
	_, failure, err := s.answers(n, func(values [][]byte) {
		if rows++; rows == 1 && len(values) == columns {
			row = cloned(values)
		}
	}, nil)
	if err == nil && failure == nil {
		err = s.synced()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, told(err)
	case failure != nil:
		return nil, pgconn.ErrorResponseToPgError(failure)
	case rows != 1 || row == nil:
		return nil, errAnswer
	}
	return row, nil
}

// told is the server's last word on a session that is gone, if it has said one.
func told(err error) error {
	var lost *Lost
	if errors.As(err, &lost) && lost.Fatal != nil {
		return pgconn.ErrorResponseToPgError(lost.Fatal)
	}
	return err
}

// cloned are values that live longer than their message.
func cloned(values [][]byte) [][]byte {
	all := make([][]byte, len(values))
	for i, value := range values {
		if value != nil {
			all[i] = append([]byte{}, value...)
		}
	}
	return all
}

// boolean reads a bool in the binary format.
func boolean(value []byte) (bool, error) {
	if len(value) != 1 || value[0] > 1 {
		return false, errAnswer
	}
	return value[0] == 1, nil
}
