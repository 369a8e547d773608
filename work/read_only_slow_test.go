//go:build slow

package work

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
	"pgtaskd/server/proxy"
	"pgtaskd/server/servertest"
)

// TestATaskReadBeforeWritesWereSwitchedOffWaits: default_transaction_read_only is switched on after
// the task was read. The task does not fail; it runs when the setting is off again.
func TestATaskReadBeforeWritesWereSwitchedOffWaits(t *testing.T) {
	t.Parallel()
	p := throughProxy(t)
	var armed atomic.Bool
	var off func()
	p.Watch(func(_ int, fromClient bool, kind byte, body []byte) proxy.Verdict {
		// The answer with the task comes next.
		if !fromClient && kind == 'C' && bytes.HasPrefix(body, []byte("LOCK")) && armed.CompareAndSwap(true, false) {
			off()
		}
		return proxy.Pass
	})
	s := prepared(t, func(target *Target) {
		var err error
		if target.Connect, err = remote.Parse(p.DSN(servertest.Server(t).DSN(target.Connect["dbname"]))); err != nil {
			t.Fatal(err)
		}
	})
	s.serve()
	s.settled()
	s.exec("CREATE TABLE effect (id int8)")
	other, database := s.connect(), pgx.Identifier{s.target.Connect["dbname"]}.Sanitize()
	off = func() {
		if _, err := other.Exec(t.Context(), "ALTER DATABASE "+database+" SET default_transaction_read_only = on"); err != nil {
			t.Error(err)
		}
	}
	armed.Store(true)
	id := s.add("input", "INSERT INTO public.effect VALUES (1)")
	s.until("told of it", func() bool { return strings.Contains(s.logged(), "default_transaction_read_only is on") })
	s.exec("ALTER DATABASE " + database + " RESET default_transaction_read_only")
	s.becomes(id, "DONE")
	if row := s.row(id, "attempt, error, (SELECT count(*) FROM effect) AS effects"); row != `{"attempt":1,"error":null,"effects":1}` {
		t.Error(row)
	}
}
