package exec

import (
	"context"
	"encoding/binary"
	"errors"
	"time"
)

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

// ask asks for a row of so many columns, before the first task. The error is a *pgconn.PgError where
// the server has one.
func (s *Session) ask(ctx context.Context, sql string, columns int) ([][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	answer := s.conn.ExecParams(ctx, sql, nil, nil, nil, binaryFormat).Read()
	switch {
	case answer.Err != nil:
		return nil, answer.Err
	case len(answer.Rows) != 1 || len(answer.Rows[0]) != columns:
		return nil, errAnswer
	}
	return answer.Rows[0], nil
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
