package fake

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// failureWays send errors where none belongs, and malformed errors.
func failureWays() (all []Way) {
	failures := map[string]Message{
		"an error":                  Failure("S", "ERROR", "V", "ERROR", "C", "XX000", "M", "no"),
		"an error without fields":   Failure(),
		"an error that was raised":  Failure("S", "ERROR", "C", "22012", "M", "no", "R", "int4div"),
		"a statement that is gone":  Failure("S", "ERROR", "C", "26000", "M", "no", "R", "FetchPreparedStatement"),
		"a plan that is gone":       Failure("S", "ERROR", "C", "0A000", "M", "no", "R", "RevalidateCachedQuery"),
		"no transaction":            Failure("S", "ERROR", "C", "25001", "M", "no", "R", "PreventInTransactionBlock"),
		"a server that only reads":  Failure("S", "ERROR", "C", "25006", "M", "no"),
		"a cancel":                  Failure("S", "ERROR", "C", "57014", "M", "no"),
		"odd positions":             Failure("S", "ERROR", "C", "XX000", "M", "no", "P", "99999999999999999999", "p", "-1", "L", "x"),
		"no characters in an error": Failure("S", "\xff\n", "V", "\xff", "C", "\xff\xfe\xfd", "M", "\xff", "D", "\xff", "H", "\xff", "W", "\xff", "q", "\xff", "R", "\xff"),
		"a long error":              Failure("S", strings.Repeat("S", 1<<20), "C", strings.Repeat("C", 1<<20), "M", strings.Repeat("M", 1<<20), "W", strings.Repeat("W", 1<<20)),
	}
	for name, failure := range failures {
		all = append(all, Way{name, func([]Message) Answer { return Answer{Bytes: failure.Bytes(), Failed: true} }},
			first(name+", and on", failure),
			Way{name + " at the end", func(right []Message) Answer { return Right(append(slices.Clip(right), failure)) }})
	}
	fatal := Failure("S", "FATAL", "V", "FATAL", "C", "57P01", "M", "terminating connection due to administrator command")
	return append(all,
		Way{"a last word", func([]Message) Answer { return Answer{Bytes: fatal.Bytes(), Over: true} }},
		first("a last word, and on", fatal),
		Way{"a last word, and silence", func([]Message) Answer { return Answer{Bytes: fatal.Bytes(), Silent: true} }})
}

// byteWays send bytes that are no messages of the protocol.
func byteWays() (all []Way) {
	for _, length := range []uint32{0, 1, 3, 4, 5, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
		all = append(all, Way{fmt.Sprint("a length of ", length), func(right []Message) Answer {
			if len(right) == 0 {
				right = []Message{Ready('I')}
			}
			return Answer{Bytes: append(right[0].Claiming(length), Bytes(right[1:])...)}
		}})
	}
	for _, keep := range []int{0, 1, 2, 3, 5} {
		all = append(all, Way{fmt.Sprintf("bodies of %d bytes", keep), func(right []Message) Answer {
			return each(right, func(m Message) []Message { return []Message{{m.Kind, m.Body[:min(keep, len(m.Body))]}} })
		}})
	}
	for _, part := range []int{0, 1, 2, 3} {
		all = append(all, Way{fmt.Sprintf("%d quarters and the end", part), func(right []Message) Answer {
			whole := Bytes(right)
			return Answer{Bytes: whole[:len(whole)*part/4], Over: true}
		}})
	}
	counts := Way{"counts too high", func(right []Message) Answer {
		return each(right, func(m Message) []Message {
			body := bytes.Clone(m.Body)
			if len(body) >= 2 && (m.Kind == 'D' || m.Kind == 'T') {
				binary.BigEndian.PutUint16(body, 0xffff)
			}
			return []Message{{m.Kind, body}}
		})
	}}
	return append(all, counts,
		Way{"garbage", func([]Message) Answer {
			return Answer{Bytes: []byte(strings.Repeat("HTTP/1.1 400 Bad Request\r\n\xff\x00", 100))}
		}},
		Way{"zeros", func([]Message) Answer { return Answer{Bytes: make([]byte, 10_000)} }},
		Way{"silence", func([]Message) Answer { return Answer{Silent: true} }},
		Way{"silence at the end", func(right []Message) Answer { return Answer{Bytes: Bytes(right), Silent: true} }},
		Way{"half and silence", func(right []Message) Answer {
			whole := Bytes(right)
			return Answer{Bytes: whole[:len(whole)/2], Silent: true}
		}})
}
