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
	t := int64(binary.BigEndian.Uint64(value))
	if t < -epoch || t >= momentMost {
		return time.Time{}, errMoment
	}
	return time.UnixMicro(t + epoch), nil
}

// momentMost bounds the moments of which we know what to do with them: from 1970 to the year 9999.
var momentMost = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - epoch

// appendMoment writes what moment reads.
func appendMoment(b []byte, t time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(t.UnixMicro()-epoch))
}

var errMoment = errors.New("the server's clock can't be read")
