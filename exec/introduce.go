package exec

import (
	"context"
	"errors"
	"time"
)

// introduction asks what must be known of the server and the session: who has logged in, whether
// there are foreign servers, how transactions begin, whether a role is set, how long the session may
// rest in a transaction and how long that may last, and, without that role, which may not see it,
// when the backend started, since together with its process id that names it for good. The path may
// be anybody's: it is function calls, and no operator.
const introduction = `SELECT session_user, EXISTS (SELECT FROM pg_catalog.pg_foreign_server),
	pg_catalog.current_setting('default_transaction_read_only'), pg_catalog.current_setting('role'),
	pg_catalog.current_setting('idle_in_transaction_session_timeout'), pg_catalog.current_setting('transaction_timeout', true),
	(SELECT a.backend_start FROM (
		SELECT pg_catalog.pg_backend_pid() AS pid, pg_catalog.set_config('role', 'none', true) OFFSET 0
	) AS unmasked, pg_catalog.pg_stat_get_activity(unmasked.pid) AS a)`

// settingLongest is longer than any name, and than what a limit is shown as, in bytes.
const settingLongest = 1 << 10

// introduce reads the answer to introduction.
func (s *Session) introduce(ctx context.Context) error {
	if s.PID == 0 {
		return errors.New("the server did not name its backend, so nothing could be cancelled")
	}
	row, err := s.wire.row(ctx, introduction, 7)
	if err != nil {
		return err
	}
	for _, i := range []int{0, 2, 3, 4} {
		if len(row[i]) == 0 || len(row[i]) > settingLongest {
			return errAnswer
		}
	}
	var bad [2]error
	s.Foreign, bad[0] = boolean(row[1])
	if s.question.local {
		s.Since, bad[1] = moment(row[6])
	}
	if err := errors.Join(bad[:]...); err != nil {
		return err
	}
	s.User, s.setup.masked = string(row[0]), string(row[3]) != "none"
	s.wire.readOnly = string(row[2]) == "on"
	s.Reads = s.wire.readOnly
	if s.question.silence = string(row[4]); s.question.silence == "0" && !s.question.local {
		s.question.silence = silenceMost
	}
	s.question.timed, s.setup.endless = row[5] != nil, row[5] == nil || string(row[5]) == "0"
	return nil
}

// ServerStart is when the server was started. It is asked before the first task.
func (s *Session) ServerStart(ctx context.Context) (time.Time, error) {
	row, err := s.wire.row(ctx, "SELECT pg_catalog.pg_postmaster_start_time()", 1)
	if err != nil {
		return time.Time{}, err
	}
	return moment(row[0])
}
