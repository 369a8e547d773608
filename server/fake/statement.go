package fake

import (
	"encoding/binary"
	"strings"
	"time"
)

// known are statements by a part of their text: their exchange, the values of their row if they
// return one, and the status after them.
var known = []struct {
	part     string
	exchange Exchange
	values   func() [][]byte
	status   byte
}{
	{"pg_foreign_server", Question, func() [][]byte {
		return [][]byte{[]byte(User), no, []byte("off"), []byte("none"), []byte("0"), []byte("0"), now()}
	}, 0},
	{"pg_stat_get_activity($1)", Question, func() [][]byte { return [][]byte{binary.BigEndian.AppendUint64(nil, 1)} }, 0},
	{"pg_postmaster_start_time", Question, func() [][]byte { return [][]byte{moment(time.Now().Add(-time.Hour))} }, 0},
	{"SELECT pg_catalog.statement_timestamp()", Preparation, func() [][]byte { return [][]byte{now(), no} }, 0},
	{"txid_current_if_assigned()", Probe, func() [][]byte { return [][]byte{nil, now(), yes} }, 0},
	{"CLOSE ALL", Probe, nil, 0},
	{"COMMIT AND CHAIN", End, nil, 'T'},
	{"COMMIT", End, nil, 'I'},
	{"ROLLBACK", End, nil, 'I'},
	{"BEGIN", Preparation, nil, 'T'},
	{"SET", Preparation, nil, 0},
	{"RESET", Preparation, nil, 0},
	{"DISCARD", Preparation, nil, 0},
	{"SELECT pg_catalog.", Preparation, func() [][]byte { return [][]byte{{}, yes} }, 0},
}

var no, yes = []byte{0}, []byte{1}

func now() []byte { return moment(time.Now()) }

// moment encodes a time in the binary format.
func moment(t time.Time) []byte {
	epoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return binary.BigEndian.AppendUint64(nil, uint64(t.Sub(epoch).Microseconds()))
}

// run returns the answer to a statement.
func (s *session) run(sql string) (Exchange, []Message) {
	for _, k := range known {
		if !strings.Contains(sql, k.part) {
			continue
		}
		if k.status != 0 {
			s.status = k.status
		}
		if k.values != nil {
			return k.exchange, []Message{Row(k.values()...), Complete("SELECT 1")}
		}
		tag, _, _ := strings.Cut(k.part, " AND ")
		return k.exchange, []Message{Complete(tag)}
	}
	if sql == "SELECT" {
		return Preparation, []Message{Row(), Complete("SELECT 1")}
	}
	return Input, []Message{Columns(23, "a"), Row([]byte("1")), Complete("SELECT 1")}
}
