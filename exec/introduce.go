package exec

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// What a session asks of its server, before the first task or instead of one.

// introduce reads what must be known of the server and the session: when the backend started, since together with its process id that
// names it for good, whether there are other procedural languages than plpgsql, or foreign servers, how transactions begin, whether they are to write, and the search_path.
func (s *Session) introduce(ctx context.Context, local bool) error {
	result := s.conn.ExecParams(ctx, `SELECT EXISTS (
			SELECT FROM pg_catalog.pg_language AS l WHERE l.lanname OPERATOR(pg_catalog.<>) ALL ('{internal,c,sql,plpgsql}')
		), (SELECT a.backend_start FROM pg_catalog.pg_stat_get_activity(pg_catalog.pg_backend_pid()) AS a), `+usualModes+` AND `+endlessBase+`, session_user,
		EXISTS (SELECT FROM pg_catalog.pg_foreign_server), pg_catalog.current_setting('default_transaction_read_only') OPERATOR(pg_catalog.=) 'on',
		pg_catalog.current_setting('search_path')`,
		nil, nil, nil, binaryFormat).Read()
	switch {
	case result.Err != nil:
		return result.Err
	case len(result.Rows) != 1 || len(result.Rows[0][0]) != 1:
		return errors.New("the server's catalog can't be read")
	}
	s.clean = result.Rows[0][0][0] == 0
	s.baseUsualModes = len(result.Rows[0][2]) == 1 && result.Rows[0][2][0] != 0
	s.usualModes = s.baseUsualModes
	s.user = string(result.Rows[0][3])
	s.Foreign = len(result.Rows[0][4]) == 1 && result.Rows[0][4][0] != 0
	s.readOnly = len(result.Rows[0][5]) == 1 && result.Rows[0][5][0] != 0
	s.path = append([]byte{}, result.Rows[0][6]...)
	if !local {
		return nil
	}
	var err error
	s.Since, err = moment(result.Rows[0][1])
	return err
}

// endlessBase: where transaction_timeout is set, a chained transaction keeps the limit that the task before has left, whatever the reset says: its clock
// has started.
const endlessBase = `coalesce(pg_catalog.current_setting('transaction_timeout', true), '0') OPERATOR(pg_catalog.=) '0'`

// Sees tells whether the server has a backend of that process id.
func (s *Session) Sees(ctx context.Context, pid int32) (bool, error) {
	result := s.conn.ExecParams(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_get_activity($1) AS a WHERE a.pid OPERATOR(pg_catalog.=) $1)",
		[][]byte{strconv.AppendInt(nil, int64(pid), 10)}, nil, nil, binaryFormat).Read()
	if result.Err != nil || len(result.Rows) != 1 || len(result.Rows[0][0]) != 1 {
		return false, errors.Join(result.Err, errors.New("the server's backends can't be seen"))
	}
	return result.Rows[0][0][0] != 0, nil
}

// ServerStart is when the server was started.
func (s *Session) ServerStart(ctx context.Context) (time.Time, error) {
	result := s.conn.ExecParams(ctx, "SELECT pg_catalog.pg_postmaster_start_time()", nil, nil, nil, binaryFormat).Read()
	if result.Err != nil || len(result.Rows) != 1 {
		return time.Time{}, errors.Join(result.Err, errMoment)
	}
	return moment(result.Rows[0][0])
}
