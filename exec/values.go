package exec

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Values in the binary format. Each is checked, since a remote may be anybody's server.

var binaryFormat = []int16{pgproto3.BinaryFormat}

// errAnswer is the error of an answer that does not fit the question.
var errAnswer = errors.New("the server's catalog can't be read")

// int8Of reads an int8.
func int8Of(value []byte) (int64, error) {
	if len(value) != 8 {
		return 0, errAnswer
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// epoch is the zero of the server's timestamps, 2000-01-01.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// moment reads a timestamp. It does not depend on DateStyle and TimeZone.
func moment(value []byte) (time.Time, error) {
	if len(value) != 8 {
		return time.Time{}, errMoment
	}
	t := int64(binary.BigEndian.Uint64(value))
	if t < -epoch || t >= momentMost {
		return time.Time{}, errMoment
	}
	return time.UnixMicro(t + epoch), nil
}

// momentMost limits the timestamps that we understand: from 1970 to the year 9999.
var momentMost = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - epoch

// appendMoment writes what moment reads.
func appendMoment(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro()-epoch))
}

var errMoment = errors.New("the server's clock can't be read")
