package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const sees = "SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_get_activity($1) AS a"

// Sees tells whether the server has a backend of that process id.
func (s *Session) Sees(ctx context.Context, pid int32) (bool, error) {
	row, err := s.ask(ctx, sees, 1, strconv.AppendInt(nil, int64(pid), 10))
	if err != nil {
		return false, err
	}
	n, err := int8Of(row[0])
	return n > 0, err
}

const serverStart = "SELECT pg_catalog.pg_postmaster_start_time()"

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
func (s *Session) ask(ctx context.Context, sql string, columns int, args ...[]byte) (row [][]byte, err error) {
	defer s.crew.When(ctx, s.Abandon)()
	s.limited(true)
	defer s.limited(false)
	s.call(sql, args...)
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

// int8Of reads an int8 in the binary format.
func int8Of(value []byte) (int64, error) {
	if len(value) != 8 {
		return 0, errAnswer
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}
