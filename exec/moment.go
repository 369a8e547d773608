package exec

import (
	"encoding/binary"
	"errors"
	"time"
)

// epoch is that of the server's timestamps: 2000-01-01.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// moment reads a timestamp in the binary format, which does not depend on DateStyle and TimeZone.
func moment(value []byte) (time.Time, error) {
	if len(value) != 8 {
		return time.Time{}, errMoment
	}
	return time.UnixMicro(int64(binary.BigEndian.Uint64(value)) + epoch), nil
}

// appendMoment writes what moment reads.
func appendMoment(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro()-epoch))
}

var errMoment = errors.New("the server's clock can't be read")
