package exec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"
)

// epoch is that of the server's timestamps: 2000-01-01.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

// moment reads what timestamptz_send has written, as text: unlike a timestamp's own text it does not depend on DateStyle and TimeZone,
// and it costs less than any arithmetic. It does depend on bytea_output.
func moment(value []byte) (time.Time, error) {
	var raw [8]byte
	n := 0
	if digits, ok := bytes.CutPrefix(value, []byte(`\x`)); ok {
		if hex.DecodedLen(len(digits)) != len(raw) {
			return time.Time{}, errMoment
		}
		n, _ = hex.Decode(raw[:], digits)
	} else {
		for rest := value; len(rest) > 0; n++ {
			if n == len(raw) {
				return time.Time{}, errMoment
			}
			raw[n], rest = unescaped(rest)
		}
	}
	if n != len(raw) {
		return time.Time{}, errMoment
	}
	return time.UnixMicro(int64(binary.BigEndian.Uint64(raw[:])) + epoch), nil
}

var errMoment = errors.New("the server's clock can't be read")

// unescaped takes one byte off the escape format of a bytea: itself, two backslashes, or a backslash and three octal digits.
func unescaped(text []byte) (b byte, rest []byte) {
	if text[0] != '\\' || len(text) < 2 {
		return text[0], text[1:]
	}
	if text[1] == '\\' || len(text) < 4 {
		return '\\', text[2:]
	}
	return (text[1]-'0')<<6 | (text[2]-'0')<<3 | (text[3] - '0'), text[4:]
}
