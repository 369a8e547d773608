//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/sql"
)

// odder lists encodings of databases, each with bytes for a payload. Only texts from UTF8 and
// LATIN1 can always be converted to UTF-8.
var odder = map[string]string{"SQL_ASCII": `\xff`, "EUC_JP": `\xf5\xa1`, "WIN1252": `\x81`, "LATIN1": `\x81`, "UTF8": `\x01`}

// TestNotificationsThatUTF8LacksStopNothing: a stranger sends them on the channels of the table's
// triggers. The leader still finds tasks, and stops.
func TestNotificationsThatUTF8LacksStopNothing(t *testing.T) {
	t.Parallel()
	for encoding, odd := range someOf(odder) {
		for _, way := range []sql.Wake{sql.Notify, sql.WAL} {
			t.Run(encoding+" "+string(way), func(t *testing.T) {
				t.Parallel()
				s := stageOn(t, encodedDatabase(t, encoding))
				s.target.Wake = way
				s.serve()
				s.settled()
				stranger := s.connectAs(s.role())
				s.on(stranger, "SET client_encoding = 'SQL_ASCII'")
				for _, many := range []int{1, 1, 1, flooding, 1} {
					for _, channel := range []string{sql.Channel(s.target.Relation()), s.get("SELECT 'pgtaskd_' || 'task'::regclass::oid")} {
						s.on(stranger, fmt.Sprintf("SELECT pg_notify('%s', n || E'%s') FROM generate_series(1, %d) AS n", channel, odd, many))
					}
					s.others()
					stopped := s.add(`input, "group"`, "SELECT pg_sleep(600)", "stopped")
					s.becomes(stopped, "WORK")
					s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", stopped)
					s.becomes(stopped, "STOP")
				}
				if log := s.logged(); strings.Contains(log, "target failed") {
					t.Error(log)
				}
			})
		}
	}
}

// flooding is a number of notifications that the leader does not wait for one by one.
const flooding = 1000

// TestRowsThatUTF8LacksEndNoStream: the leader that reads the write-ahead log does not read the
// contents of rows.
func TestRowsThatUTF8LacksEndNoStream(t *testing.T) {
	t.Parallel()
	for encoding, odd := range odder {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			s := stageOn(t, encodedDatabase(t, encoding), deaf, byWAL)
			s.serve()
			s.streaming()
			for range 3 {
				s.exec("INSERT INTO task (input, data) VALUES ('SELECT 1', E'" + odd + "')")
				s.eventually("0", "SELECT count(*) FROM task WHERE state NOT IN ('DONE', 'FAIL')")
				s.others()
			}
			if log := s.logged(); strings.Contains(log, "write-ahead log; polling") {
				t.Error(log)
			}
		})
	}
}
